"""`acta mcp`."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from acta.cli.main import main
from tests.acta.conftest import Acta
from tests.acta.fake_deployment import FakeDeployment, failure, success
from tests.acta.real_api import FOR_ADMINS, RealApi

DESK = "/v1/mcp-servers/desk"
PIN = "a" * 64


def listed(tool: str, state: str = "new", **more: Any) -> dict[str, Any]:
    return {
        "tool": tool, "name": f"desk__{tool}", "state": state, "reason": None, "title": "", "confirmed": None,
        "description": "Finds orders.\x1b[0m", "input_schema": {"type": "object"}, "pin": PIN,
        "annotations": {"readOnlyHint": True}, **more,
    }  # fmt: skip


def server(**more: Any) -> dict[str, Any]:
    tool = {"tool": "search", "name": "desk__search", "high_stakes": False}
    return {
        "name": "desk",
        "url": "https://a.example/mcp",
        "auth": None,
        "version": 2,
        "tools": [tool],
        **more,
    }


def test_a_server_is_written_from_a_file_and_what_get_shows_can_be_put_again(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", DESK, success(server(created_at="x", updated_at="y", applied=None)))
    deployment.on("PUT", DESK, success(server()))
    assert acta("mcp", "get", "desk", "--json") == 0
    file = tmp_path / "desk.json"
    file.write_text(capsys.readouterr().out)
    assert acta("mcp", "put", str(file)) == 0
    assert capsys.readouterr().out == "desk  version 2\n"
    assert deployment.requests[-1].json == {"url": "https://a.example/mcp", "auth": None, "version": 2}


def test_a_file_without_a_name_is_a_mistake(acta: Acta, tmp_path: Path) -> None:
    file = tmp_path / "desk.json"
    file.write_text("{}")
    assert acta("mcp", "put", str(file)) == 2


def test_servers_are_listed(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = [server(), server(name="till", auth={"client_credentials": {}})]
    deployment.on("GET", "/v1/mcp-servers", success({"items": shown, "next_cursor": None}))
    assert acta("mcp", "ls") == 0
    out = capsys.readouterr().out
    assert "https://a.example/mcp" in out
    assert "client credentials" in out


def test_what_a_server_says_is_shown_harmless(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    unusable = listed("odd", "unusable", reason="Its schema is none.", annotations={})
    deployment.on("POST", f"{DESK}/refresh", success({"items": [listed("search"), unusable]}))
    assert acta("mcp", "refresh", "desk") == 0
    out = capsys.readouterr().out
    assert "search" in out
    assert "Its schema is none." in out
    assert "\x1b" not in out
    assert acta("mcp", "refresh", "desk", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["pin"] == PIN


def test_what_is_missing_in_a_list_and_what_models_do_not_get_is_said_beside_it(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = {"items": [listed("search", cut_after=1_999)], "broken": "The server listed more than 2 tools."}
    deployment.on("POST", f"{DESK}/refresh", success(shown))
    deployment.on("POST", f"{DESK}/confirm", success(server()))
    for command in (("refresh", "desk"), ("confirm", "desk", "search", "--yes")):
        assert acta("mcp", *command) == 0
        assert "search: models get the first 1,999 characters of this description." in capsys.readouterr().err
    assert acta("mcp", "refresh", "desk") == 0
    assert "The server listed more than 2 tools." in capsys.readouterr().err


def test_what_is_confirmed_is_what_was_shown(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", f"{DESK}/refresh", success({"items": [listed("search")]}))
    deployment.on("POST", f"{DESK}/confirm", success(server()))
    assert acta("mcp", "confirm", "desk", "search", "--read", "--yes") == 0
    out, err = capsys.readouterr()
    assert out == "desk__search  nobody is asked\n"
    assert PIN in err
    assert "    Finds orders.\\x1b[0m" in err
    assert deployment.requests[-1].json == {"tools": {"search": {"pin": PIN, "confirmed_read": True}}}


def test_wishes_are_passed_on_and_a_pin_that_was_looked_at_needs_no_other_look(
    acta: Acta, deployment: FakeDeployment
) -> None:
    deployment.on("POST", f"{DESK}/confirm", success(server()))
    assert acta("mcp", "confirm", "desk", "pay", "--pin", PIN, "--approver-role", "boss") == 0
    (request,) = deployment.requests
    assert request.json["tools"]["pay"] == {"pin": PIN, "confirmed_read": False, "approver_role": "boss"}
    assert acta("mcp", "confirm", "desk", "pay", "--pin", PIN, "--no-approval") == 0
    assert deployment.requests[-1].json["tools"]["pay"]["high_stakes"] is False
    assert acta("mcp", "confirm", "desk", "pay", "search", "--pin", PIN) == 2


def test_nothing_is_confirmed_where_nobody_can_be_asked_or_the_tool_is_not_there(
    acta: Acta, deployment: FakeDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    deployment.on("POST", f"{DESK}/refresh", success({"items": [listed("search"), listed("old", "gone")]}))
    assert acta("mcp", "confirm", "desk", "search") == 2
    assert acta("mcp", "confirm", "desk", "old", "--yes") == 2
    assert [one.path for one in deployment.requests] == [f"{DESK}/refresh"] * 2


def test_a_server_whose_tools_agents_name_is_deleted_with_force_alone(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("DELETE", DESK, failure(409, "CONFLICT", "Agents name it.", details={"agents": ["clerk"]}))
    assert acta("mcp", "rm", "desk") == 2
    assert "clerk" in capsys.readouterr().err
    deployment.on("DELETE", DESK, success({}))
    assert acta("mcp", "rm", "desk", "--force") == 0
    assert deployment.requests[-1].path == f"{DESK}?force=true"


def test_a_server_goes_its_whole_way_at_the_real_api(
    real_api: RealApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said: dict[str, Any] = {"tool": "search", "title": "", "description": "Finds."}
    said |= {
        "input_schema": {"type": "object"},
        "annotations": {},
        "pin": PIN,
        "reads": False,
        "unusable": None,
    }
    real_api.tool_function.answers["list_mcp_tools"] = lambda given: {"tools": [said]}
    at = ("--api-url", real_api.url, "--token", FOR_ADMINS)
    file = tmp_path / "desk.json"
    file.write_text(json.dumps({"name": "desk", "url": "https://orders.example.com/mcp"}))
    for words in (("put", str(file)), ("refresh", "desk"), ("confirm", "desk", "search", "--yes"), ("ls",)):
        assert main(["mcp", *words, *at]) == 0
    assert "desk__search  a person approves each call" in capfd.readouterr().out
    assert main(["mcp", "get", "desk", *at]) == 0
    assert main(["mcp", "rm", "desk", *at]) == 0
