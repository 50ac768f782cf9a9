"""`acta tools call`."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acta.conftest import Acta
from tests.acta.fake_deployment import FakeDeployment, failure, success

PATH = "/v1/tools/lookup_order/call"
TRIAL = {
    "name": "lookup_order",
    "effect_id": "eff_1",
    "outcome": "succeeded",
    "result": "Order 7: sent\x1b[0m",
    "bytes": 13,
    "truncated": False,
    "status": 200,
    "error": None,
    "duration_ms": 12,
}
HINT = "The host is not allowed here: add it to http_tool_hosts."
NOT_RUN = {
    **TRIAL,
    "outcome": "not_run",
    "result": None,
    "bytes": 0,
    "status": None,
    "error": {"message": "lookup_order may not go there.", "remedy": HINT},
}


def test_the_result_goes_to_standard_output_and_what_is_said_about_it_beside_it(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", PATH, success(TRIAL))
    assert acta("tools", "call", "lookup_order", '{"order_id": "7"}') == 0
    out, err = capsys.readouterr()
    assert out == "Order 7: sent\\x1b[0m\n"
    assert err == "acta: it ran: 12 ms, status 200, effect id eff_1\n"
    assert deployment.requests[0].json == {"input": {"order_id": "7"}, "confirm": False}


def test_a_call_that_did_not_succeed_says_what_helps_and_ends_with_one(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", PATH, success(NOT_RUN))
    assert acta("tools", "call", "lookup_order", "{}") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "the tool has not run" in err
    assert HINT in err


def test_json_is_the_whole_answer(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", PATH, success(NOT_RUN))
    assert acta("tools", "call", "lookup_order", "--json") == 1
    assert json.loads(capsys.readouterr().out) == NOT_RUN
    assert deployment.requests[0].json == {"input": {}, "confirm": False}


@pytest.mark.parametrize("way", ["file", "file of standard input", "standard input"])
def test_the_input_comes_from_a_file_or_standard_input(
    acta: Acta, deployment: FakeDeployment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str
) -> None:
    deployment.on("POST", PATH, success(TRIAL))
    source = tmp_path / "input.json"
    source.write_text('{"order_id": "7"}')
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"order_id": "7"}'))
    given: dict[str, list[str]] = {
        "file": ["--file", str(source)],
        "file of standard input": ["--file", "-"],
        "standard input": ["-"],
    }
    assert acta("tools", "call", "lookup_order", *given[way]) == 0
    assert deployment.requests[0].json["input"] == {"order_id": "7"}


@pytest.mark.parametrize(
    "given",
    [
        ["{order: 7}"],
        ["[7]"],
        ["{}", "--file", "x.json"],
        ["[" * 100_000],
        ['{"a": 12345678901234567890.123456789}'],
        ['{"a": 1e400}'],
    ],
)
def test_an_input_that_is_no_object_is_refused_before_anything_is_sent(
    acta: Acta, deployment: FakeDeployment, given: list[str]
) -> None:
    assert acta("tools", "call", "lookup_order", *given) == 2
    assert deployment.requests == []


def test_a_tool_that_a_person_approves_runs_with_yes_alone(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    details: Any = {"confirm": ["…"]}
    deployment.on("POST", PATH, failure(409, "CONFLICT", "A person approves it.", details=details))
    assert acta("tools", "call", "lookup_order") == 2
    assert "--yes" in capsys.readouterr().err
    deployment.on("POST", PATH, success(TRIAL))
    assert acta("tools", "call", "lookup_order", "--yes") == 0
    assert deployment.requests[-1].json["confirm"] is True


def test_a_tool_that_agents_name_is_deleted_with_force_alone(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "/v1/tools/lookup_order"
    details: Any = {"agents": ["clerk", "bad\x1b"]}
    deployment.on("DELETE", path, failure(409, "CONFLICT", "Agents name this tool.", details=details))
    assert acta("tools", "rm", "lookup_order") == 2
    told = capsys.readouterr().err
    assert "clerk, bad\\x1b" in told
    assert "--force" in told
    deployment.on("DELETE", path, success({}))
    assert acta("tools", "rm", "lookup_order", "--force") == 0
    assert deployment.requests[-1].path == f"{path}?force=true"


def test_a_name_that_no_tool_has_is_answered_with_near_ones(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", PATH, failure(404, "NOT_FOUND", "There is no tool of this name."))
    deployment.on("GET", "/v1/tools", success({"items": [{"name": "look_up_order"}, {"name": "pay"}]}))
    assert acta("tools", "call", "lookup_order") == 2
    assert capsys.readouterr().err == "acta: there is no tool lookup_order. Did you mean 'look_up_order'?\n"
