"""MCP servers as files, with the tools of theirs that were confirmed."""

from typing import Any

import pytest

from acta.client.api import Client
from acta.client.errors import NotFoundError
from tests.acta.cli.apply.conftest import Files, Run
from tests.acta.real_api import RealApi

PIN = "ab" * 32
SERVER = f"""\
    url: https://orders.example.com/mcp
    auth:
      secret: orders_key
    tools:
      search:
        pin: {PIN}
        confirmed_read: true
    """


def listed(tool: str) -> dict[str, Any]:
    return {
        "tool": tool,
        "title": "",
        "description": "Finds orders.",
        "input_schema": {"type": "object"},
        "annotations": {},
        "pin": PIN,
        "reads": True,
        "unusable": None,
    }


@pytest.fixture
def files(files: Files, real_api: RealApi, api: Client) -> Files:
    """The server says that it has two tools."""
    real_api.tool_function.answers["list_mcp_tools"] = lambda given: {
        "tools": [listed("search"), listed("pay")]
    }
    api.tool_secrets.write("orders_key", "Bearer 0123456789", ["orders.example.com"])
    return files


def test_a_server_comes_with_its_confirmed_tools_before_the_agent_that_names_them(
    run: Run, files: Files, api: Client
) -> None:
    files.write("mcp-servers/orders.yaml", SERVER)
    files.write("agents/desk.yaml", "name: Desk\ntools: [orders__search]\n")
    shown = run("apply", str(files), "--yes")
    assert shown.code == 0, shown.err
    assert [one["name"] for one in api.mcp_servers.get("orders")["tools"]] == ["orders__search"]
    assert run("apply", str(files), "--yes").out == "set support: 2 as the files say"
    written = files.all()
    files.remove("mcp-servers/orders.yaml")
    assert run("export", str(files)).code == 0
    assert files.all() == written


def test_a_server_whose_tools_an_agent_names_stays(run: Run, files: Files, api: Client) -> None:
    files.write("mcp-servers/orders.yaml", SERVER)
    run("apply", str(files), "--yes")
    api.agents.create({"agent_id": "hand", "name": "By hand", "tools": ["orders__search"]})
    files.remove("mcp-servers/orders.yaml")
    assert "mcp-servers/orders stays" in run("apply", str(files), "--yes").out
    api.agents.delete("hand")
    assert run("apply", str(files), "--yes").code == 0
    with pytest.raises(NotFoundError):
        api.mcp_servers.get("orders")


def test_a_tool_that_was_confirmed_by_hand_is_seen_and_goes_with_overwrite(
    run: Run, files: Files, api: Client
) -> None:
    files.write("mcp-servers/orders.yaml", SERVER)
    run("apply", str(files), "--yes")
    api.post("/v1/mcp-servers/orders/confirm", {"tools": {"pay": {"pin": PIN}}})
    shown = run("apply", str(files), "--yes")
    assert shown.code == 2
    assert "changed by hand" in shown.out
    assert run("apply", str(files), "--yes", "--overwrite").code == 0
    assert [one["tool"] for one in api.mcp_servers.get("orders")["tools"]] == ["search"]
