"""The mark of `acta apply` on agents, tools and prompts: who owns a definition, kept by whoever writes it by hand."""

from typing import Any

import pytest

from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM, PLANNING
from acta.engine.settings import Settings
from tests.api.deployment import AdminApi

SETTINGS = Settings(env="test", table="t", bucket="b", tenant_tools={"*": ("acta-test-tool-ping",)})
MARK = {"set": "desk", "digest": "abc:def"}
AGENT = {"name": "Desk"}
TOOL = {
    "description": "Pings.",
    "kind": "lambda",
    "config": {"function": "acta-test-tool-ping"},
    "input_schema": {"type": "object"},
}
PROMPT = {"content": "Plan with update_plan."}
WRITTEN: dict[str, dict[str, Any]] = {
    f"/v1/admin/prompts/{AGENT_PLANNING_SYSTEM}": PROMPT,
    "/v1/agents/default": AGENT,
    "/v1/agents/desk": AGENT,
    "/v1/tools/ping": TOOL,
}
CHANGED = {"prompts": {"content": "Plan."}, "agents": {"goal": "x"}, "tools": {"effect": "read"}}


@pytest.fixture
def api() -> AdminApi:
    made = AdminApi(SETTINGS)
    made.admin.request("POST", "/v1/agents", json_body={"agent_id": "desk", **AGENT})
    made.admin.request("POST", "/v1/tools", json_body={"name": "ping", **TOOL})
    return made


def put(api: AdminApi, path: str, **more: Any) -> Any:
    answer = api.admin.request("PUT", path, json_body={**WRITTEN[path], **more})
    assert answer.status == 200, answer.json
    return answer.data


@pytest.mark.parametrize("path", WRITTEN)
def test_a_write_by_hand_leaves_the_mark_and_null_takes_it_away(api: AdminApi, path: str) -> None:
    assert put(api, path)["applied"] is None
    assert put(api, path, applied=MARK)["applied"] == MARK
    assert put(api, path, **CHANGED[path.split("/")[-2]])["applied"] == MARK
    assert api.admin.request("GET", path).data["applied"] == MARK
    assert put(api, path, applied=None)["applied"] is None
    assert api.admin.request("GET", path).data["applied"] is None


def test_a_definition_is_made_with_its_mark(api: AdminApi) -> None:
    made = api.admin.request("POST", "/v1/agents", json_body={"agent_id": "new", **AGENT, "applied": MARK})
    assert (made.status, made.data["applied"]) == (201, MARK)
    listed = api.admin.request("GET", "/v1/agents").data["items"]
    assert [one["applied"] for one in listed if one["agent_id"] == "new"] == [MARK]


def test_a_mark_alone_makes_no_new_version_of_a_prompt_and_a_release_s_text_takes_none(api: AdminApi) -> None:
    path = f"/v1/admin/prompts/{AGENT_PLANNING_SYSTEM}"
    assert put(api, path, content=PLANNING, applied=MARK)["applied"] is None
    put(api, path)
    marked = put(api, path, applied=MARK)
    assert (marked["version"], marked["applied"]) == (2, MARK)
    restored = api.admin.request("POST", f"{path}/versions/1/restore", json_body={})
    assert (restored.data["version"], restored.data["applied"]) == (3, MARK)


@pytest.mark.parametrize("path", ["/v1/agents/desk", "/v1/tools/ping"])
def test_only_the_version_that_is_named_is_deleted(api: AdminApi, path: str) -> None:
    put(api, path)
    assert api.admin.request("DELETE", path, query="version=1").status == 409
    assert api.admin.request("DELETE", path, query="version=2").status == 204


def test_what_a_tool_s_definition_says_is_shown_beside_what_an_operator_says() -> None:
    api = AdminApi(SETTINGS.but(tool_approvers={"*": {"ping": "cashiers"}}))
    api.admin.request("POST", "/v1/tools", json_body={"name": "ping", **TOOL, "effect": "read"})
    shown = api.admin.request("GET", "/v1/tools/ping").data
    assert (shown["approver_role"], shown["high_stakes"]) == ("cashiers", True)
    assert shown["as_defined"] == {"high_stakes": False, "approver_role": None, "approver_must_differ": False}
