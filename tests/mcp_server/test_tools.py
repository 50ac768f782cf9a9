"""The tools of `/mcp`: each is a route of `/v1`, with that route's checks, limits and records (ADR 94)."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from acta.engine.agents.agent import AgentDefinition
from acta.engine.limits.tenant_limits import REQUESTS
from acta.engine.mcp_server.tools import OFFERED
from tests.api.session_functions import functions_of
from tests.doubles.audit import MemoryTrail, memory_audit
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import plans
from tests.mcp_server.client import STATELESS, WITH_HANDSHAKE, WITH_TASKS, Client, of_tenant, told
from tests.people.policies import DELETE, ENDS, house_with


def define(house: House, agent_id: str, **fields: Any) -> None:
    house.definitions.create_agent(
        TENANT, AgentDefinition(agent_id=agent_id, name=agent_id.title(), version=1, **fields)
    )


def test_every_tool_of_the_table_is_offered_and_its_schema_explains_each_argument() -> None:
    views = {view["name"]: view for view in Client(house_with()).result("tools/list")["tools"]}
    for name, row in OFFERED.items():
        view = views[name]
        Draft202012Validator.check_schema(view["inputSchema"])
        assert view["annotations"]["readOnlyHint"] == (row.action is None)
        assert all(each["description"] for each in view["inputSchema"]["properties"].values())


def test_a_client_starts_watches_and_reads_the_end() -> None:
    house = house_with(plans("look"), *ENDS)
    client = Client(house)
    session_id = client.data("start_session", content="Look around", max_steps=5)["session_id"]
    house.run()
    seen = client.data("watch_session", session_id=session_id, after="0", wait=0)
    assert seen["session"]["state"] == "completed"
    assert seen["events"]
    assert client.data("session_receipt", session_id=session_id)["session_id"] == session_id


def test_what_is_said_reaches_the_session() -> None:
    house = house_with(plans("look"), *ENDS)
    client = Client(house)
    session_id = client.data("start_session")["session_id"]
    assert client.data("say", session_id=session_id, content="Look")["state"] == "planning"


def test_a_question_is_listed_read_and_decided() -> None:
    house = house_with(plans("delete"), DELETE, *ENDS)
    client = Client(house)
    session_id = client.data("start_session", content="Delete it")["session_id"]
    house.run()
    (one,) = client.data("list_waiting")["items"]
    about = {"session_id": session_id, "intervention_id": one["intervention_id"]}
    assert client.data("read_input", **about)["name"] == "delete_file"
    assert client.data("decide", **about, option="reject", comment="No")["resolution"] == "reject"
    again = client.call("decide", {**about, "option": "approve"})
    assert again["isError"]
    assert told(again)["code"] == "CONFLICT"


def test_a_session_is_cancelled() -> None:
    client = Client(house_with(plans("look")))
    session_id = client.data("start_session", content="Look")["session_id"]
    assert client.data("cancel_session", session_id=session_id)["state"] == "cancelled"


def test_each_agent_that_the_caller_may_start_is_a_tool() -> None:
    house = house_with()
    define(house, "books", goal="Keeps the books.", start_roles=("finance",))
    define(house, "library", goal="Finds books.")
    assert [name for name in Client(house).names() if name.startswith("agent_")] == [
        "agent_default",
        "agent_library",
    ]
    client = Client(house, "finance")
    (tool,) = [each for each in client.result("tools/list")["tools"] if each["name"] == "agent_books"]
    assert (tool["title"], tool["inputSchema"]["required"]) == ("Agent books", ["goal"])
    assert "Keeps the books." in tool["description"]
    assert client.data("agent_books", goal="Add it up")["agent_id"] == "books"
    refused = Client(house).call("agent_books", {"goal": "Add it up"})
    assert told(refused)["code"] == "FORBIDDEN"


def test_many_agents_come_page_by_page_and_each_once() -> None:
    house = house_with()
    for number in range(60):
        define(house, f"agent-{number:02}")
    client = Client(house)
    first = client.result("tools/list")
    rest = client.result("tools/list", cursor=first["nextCursor"])
    names = [tool["name"] for tool in (*first["tools"], *rest["tools"])]
    assert len(names) == len(set(names)) == len(OFFERED) + 61
    assert "nextCursor" not in rest
    assert client.error("tools/list", cursor="none")["code"] == -32602


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("start_session", {"content": ""}, "content"),
        ("start_session", {"content": "Go", "max_step": 3}, "max_step"),
        ("watch_session", {}, "session_id"),
        ("watch_session", {"session_id": 5}, "session_id"),
        ("watch_session", {"session_id": "ses_1", "until": 5}, "until"),
        ("watch_session", {"session_id": "ses_1", "wait": 500}, "wait"),
        ("cancel_session", {"session_id": "ses_1", "force": True}, "force"),
        ("agent_default", {}, "goal"),
        ("agent_default", {"goal": "Go", "agent_id": "other"}, "agent_id"),
        ("agent_default", {"goal": "Go", "max_steps": 0}, "max_steps"),
        ("agent_none", {"goal": "Go"}, "agent_id"),
    ],
)
def test_arguments_that_do_not_fit_are_told_to_the_model(
    name: str, arguments: dict[str, Any], field: str
) -> None:
    house = house_with()
    found = Client(house).call(name, arguments)
    assert found["isError"]
    error = told(found)
    assert error["code"] == "VALIDATION_ERROR"
    assert field in error["details"]
    assert field in found["content"][0]["text"]


def test_a_tool_that_there_is_none_of_is_an_error_of_the_protocol() -> None:
    assert Client(house_with()).error("tools/call", name="delete_everything")["code"] == -32602


@pytest.mark.parametrize("session_id", ["ses_none", "../agents", "a/b", "", "ses_%2e", "x" * 5_000])
def test_an_id_is_nothing_but_an_id(session_id: str) -> None:
    found = Client(house_with()).call("cancel_session", {"session_id": session_id})
    assert told(found)["code"] in ("SESSION_NOT_FOUND", "NOT_FOUND")


def test_a_call_under_a_key_starts_once() -> None:
    house = house_with()
    client = Client(house)
    key = {"_meta": {"acta.agent/idempotency-key": "mine"}}
    first, second = (client.call("agent_default", {"goal": "Go"}, **key) for _ in range(2))
    assert told(first) == told(second)
    assert len(house.workflow.executions) == 1
    other = client.call("agent_default", {"goal": "Go elsewhere"}, **key)
    assert told(other)["code"] == "IDEMPOTENCY_MISMATCH"
    assert told(client.call("agent_default", {"goal": "Go"})) != told(first)


def test_another_tenant_sees_nothing_of_it() -> None:
    house = house_with()
    client = Client(house)
    session_id = client.data("start_session", content="Go")["session_id"]
    other = Client(house, gateway=of_tenant(client.gateway, "rival"), capabilities=WITH_TASKS)
    for name in ("watch_session", "cancel_session", "session_receipt"):
        assert told(other.call(name, {"session_id": session_id}))["code"] == "SESSION_NOT_FOUND"
    assert other.error("tasks/get", taskId=session_id)["code"] == -32602


def test_a_private_session_is_told_from_none_by_nobody_but_its_owner() -> None:
    house = house_with()
    mine = Client(house).data("start_session", content="Go", visibility="private")["session_id"]
    other = Client(house, user="somebody-else", capabilities=WITH_TASKS)
    assert (
        other.post("tasks/get", {"taskId": mine}).body == other.post("tasks/get", {"taskId": "ses_none"}).body
    )
    assert other.call("watch_session", {"session_id": mine}) == other.call(
        "watch_session", {"session_id": "ses_none"}
    )


def test_the_trail_has_what_a_call_did_and_that_it_came_over_mcp() -> None:
    house, audit, trail = house_with(), memory_audit(), MemoryTrail()
    client = Client(house, gateway=functions_of(house, audit=audit._replace(trail=trail)).mcp)
    session_id = client.data("start_session", content="Go")["session_id"]
    client.data("watch_session", session_id=session_id)
    client.data("cancel_session", session_id=session_id)
    assert [(record.action, record.outcome, record.via) for record in trail.records[TENANT]] == [
        ("session.start", "begun", "mcp"),
        ("session.start", "done", "mcp"),
        ("session.cancel", "begun", "mcp"),
        ("session.cancel", "done", "mcp"),
    ]


@pytest.mark.parametrize("version", [STATELESS, WITH_HANDSHAKE])
def test_a_tenant_that_asks_too_often_is_told_so_and_still_stops_things(version: str) -> None:
    house = house_with()
    limited = House(house.model, tenant_limits={"*": {"requests_per_second": 1}})
    client = Client(limited, version=version)
    session_id = client.data("start_session", content="Go")["session_id"]
    answers = [client.post("tools/list") for _ in range(40)]
    refused = answers[-1]
    assert refused.status == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert refused.error["code"] == "RATE_LIMITED"
    assert REQUESTS in refused.headers["RateLimit-Policy"]
    error = told(client.call("watch_session", {"session_id": session_id}))
    assert (error["code"], error["retry_after_seconds"] > 0) == ("RATE_LIMITED", True)
    assert client.data("cancel_session", session_id=session_id)["state"] == "cancelled"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("decide", {"session_id": "s", "intervention_id": "i", "option": ["approve"]}),
        ("decide", {"session_id": "s", "intervention_id": "i", "option": {"approve": 1}}),
        ("watch_session", {"session_id": "s", "after": "\ud800"}),
        ("list_waiting", {"cursor": "\ud800"}),
    ],
)
def test_arguments_that_no_route_takes_are_told_so_and_take_from_the_rate(
    name: str, arguments: dict[str, Any]
) -> None:
    client = Client(House(house_with().model, tenant_limits={"*": {"requests_per_second": 1}}))
    answers = [client.post("tools/call", {"name": name, "arguments": arguments}) for _ in range(40)]
    assert all(answer.status < 500 for answer in answers)
    assert b"RATE_LIMITED" not in answers[0].body
    assert b"RATE_LIMITED" in answers[-1].body


@pytest.mark.parametrize("version", [STATELESS, WITH_HANDSHAKE])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_cancel_that_cancels_nothing_takes_from_the_rate(version: str, is_named: bool) -> None:
    limited = House(house_with().model, tenant_limits={"*": {"requests_per_second": 1}})
    client = Client(limited, version=version, capabilities=WITH_TASKS)
    session_id = client.data("start_session", content="Go")["session_id"]
    client.data("cancel_session", session_id=session_id)
    params = {"taskId": session_id} if is_named else {}
    statuses = [client.post("tasks/cancel", params).status for _ in range(40)]
    assert (statuses[0], statuses[-1]) == (200, 429)


def test_an_error_that_nobody_expected_takes_from_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise TypeError

    monkeypatch.setattr("acta.engine.mcp_server.routes.agent_request", fails)
    limited = House(house_with().model, tenant_limits={"*": {"requests_per_second": 1}})
    client = Client(limited)
    params = {"name": "agent_default", "arguments": {"goal": "x"}}
    statuses = [client.post("tools/call", params).status for _ in range(40)]
    assert (statuses[0], statuses[-1]) == (500, 429)
