"""Calls that are answered later, on the deployed loop: a build server, a Python tool, and what they are answered."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from llmock.scenarios import Reply as ModelReply
from llmock.scenarios import ToolCall

from acta.engine.tools.callback_routes import AnswerCall
from tests.doubles.http_sink import Reply, Sink
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.own_tools import TENANT
from tests.e2e.support.person import TLS, Json, Person, is_as_described

SCHEMA = {"type": "object", "required": ["ref"], "properties": {"ref": {"type": "string"}}}
BUILT, FAILED = AnswerCall.EXAMPLES["result"], AnswerCall.EXAMPLES["failure"]
"""The examples of the document."""


@pytest.fixture(scope="module")
def builds() -> Iterator[Sink]:
    with Sink({"/builds": Reply(202, b'{"job": 7}')}) as made:
        yield made


@pytest.fixture(scope="module")
def configured(behind: Behind, builds: Sink, llmock_server: Any) -> Iterator[None]:
    model = {
        "ACTA_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": llmock_server.base_url("anthropic"),
    }
    with (
        behind.configured("step", **model),
        behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=builds.at),
    ):
        yield


@pytest.fixture
def boss(configured: None, admit: Admit) -> Person:
    return admit(role="admin")


@pytest.fixture
def shop(configured: None, admit: Admit) -> Person:
    return admit(tenant=TENANT, role="admin")


def add(boss: Person, builds: Sink, **later: Any) -> None:
    tool = {
        "name": "start_build", "description": "Builds", "input_schema": SCHEMA, "kind": "http", "effect": "once",
        "high_stakes": False, "config": {"url": builds.url("/builds"), "method": "POST"}, "later": later,
    }  # fmt: skip
    answer = boss.post("/v1/tools", tool)
    assert answer.status_code == 201, answer.text


def begin(person: Person, llmock: Any, ref: str) -> str:
    """A session whose model starts a build and then says that it is done."""
    model = llmock.tool_mode("off")
    update = {"action": "create", "goal": "It", "steps": [{"description": "Do it"}]}
    done = {"action": "update_step", "step_number": 1, "step_status": "completed", "step_result": "Done"}
    model.add(ModelReply(text=None, tool_calls=(ToolCall("update_plan", update),)))
    model.add(ModelReply(text="I go.", tool_calls=(ToolCall("start_build", {"ref": ref}),)))
    end = (
        ToolCall("update_plan", done),
        ToolCall("update_plan", {"action": "complete", "reason": "Done."}),
    )
    model.add(ModelReply(text="GOAL_COMPLETE\nDone.", tool_calls=end))
    return person.start("Build it")


def deliver(url: str, body: Json) -> httpx.Response:
    """What a program without a token sends."""
    with httpx.Client(
        trust_env=False, verify=TLS, timeout=60, event_hooks={"response": [is_as_described]}
    ) as http:
        return http.post(url, json=body)


def waits(session: Json) -> bool:
    return bool(session["state_reason"] == "waiting_for_callback" and session["retry_at"])


def results(person: Person, session_id: str) -> list[str]:
    told = person.items(f"/v1/sessions/{session_id}/messages")
    made = {call["call_id"]: call["name"] for m in told for call in m.get("tool_calls") or ()}
    return [m["content"] for m in told if m["role"] == "tool" and made[m["call_id"]] == "start_build"]


def test_a_build_server_answers_202_and_sends_the_result_when_it_has_one(
    boss: Person, builds: Sink, llmock: Any
) -> None:
    add(boss, builds, seconds=3_600)
    session_id = begin(boss, llmock, "main")
    boss.watch(session_id, waits)
    url = builds.heard[-1].headers["acta-callback-url"]
    assert url.startswith(f"{str(boss.http.base_url).rstrip('/')}/v1/callbacks/")

    sent = deliver(url, BUILT)
    assert (sent.status_code, sent.json()["data"]["by"]) == (200, "callback")
    assert boss.finished(session_id).session["state"] == "completed"
    (result,) = results(boss, session_id)
    assert '{"state": "green", "tests": 412}' in result

    for body in (BUILT, {"error": "red"}):
        again = deliver(url, body)
        assert (again.status_code, again.json()["error"]["code"]) == (409, "CONFLICT")
        details = again.json()["error"]["details"]
        assert (details["by"], details["ok"]) == (["callback"], ["true"])
        assert details["at"] == [sent.json()["data"]["at"]]
    assert results(boss, session_id) == [result]


def test_a_python_tool_answers_later_and_a_failure_is_told(shop: Person, llmock: Any) -> None:
    session_id = begin(shop, llmock, "broken")
    shop.watch(session_id, waits)
    url = shop.file("urls/broken")

    assert deliver(url, FAILED).json()["data"]["ok"] is False
    assert shop.finished(session_id).session["state"] == "completed"
    (result,) = results(shop, session_id)
    assert "start_build failed." in result
    assert "3 of 412 tests failed." in result


def test_a_default_is_the_result_at_the_deadline_and_a_late_answer_is_told_so(
    boss: Person, builds: Sink, llmock: Any
) -> None:
    add(boss, builds, seconds=2, default="The build takes too long.")
    session_id = begin(boss, llmock, "slow")
    assert boss.finished(session_id).session["state"] == "completed"
    assert results(boss, session_id) == ["The build takes too long."]

    late = deliver(builds.heard[-1].headers["acta-callback-url"], BUILT)
    assert late.status_code == 409
    assert late.json()["error"]["details"]["by"] == ["deadline"]


def test_a_made_up_url_is_unknown_and_a_url_of_another_call_answers_no_other(
    boss: Person, builds: Sink, llmock: Any
) -> None:
    add(boss, builds, seconds=3_600)
    session_id = begin(boss, llmock, "main")
    boss.watch(session_id, waits)
    url = builds.heard[-1].headers["acta-callback-url"]

    for other in (
        f"{url[:-4]}AAAA",
        *(url.replace(url.rpartition("/")[2], token) for token in ("x", "e30.e30")),
    ):
        unknown = deliver(other, BUILT)
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "NOT_FOUND")
    boss.post(f"/v1/sessions/{session_id}/cancel")
    late = deliver(url, BUILT)
    assert (late.status_code, late.json()["error"]["details"]["by"]) == (409, ["cancel"])


def test_a_large_result_is_stored_whole_and_its_beginning_is_told(
    boss: Person, builds: Sink, llmock: Any
) -> None:
    add(boss, builds, seconds=3_600)
    session_id = begin(boss, llmock, "main")
    boss.watch(session_id, waits)
    url = builds.heard[-1].headers["acta-callback-url"]

    assert deliver(url, {"result": "x" * 2_000_000}).status_code == 413
    assert deliver(url, {"result": "green " * 100_000}).status_code == 200
    assert boss.finished(session_id).session["state"] == "completed"
    (result,) = results(boss, session_id)
    assert "of 600000 bytes so far; for more call read_result" in result
