"""An agent whose model answers in the background, deployed: the state machine waits, and no function does (ADR 60)."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.doubles.background_responses import BackgroundResponses, message
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import PATIENCE_SECONDS, Person

STEPS = [{"description": "Do it"}]
PLAN = {"action": "create", "goal": "The goal", "steps": STEPS}
STEP = {"action": "update_step", "step_number": 1, "step_status": "completed", "step_result": "Done."}
COMPLETE = {"action": "complete", "reason": "Done."}


def called(number: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "update_plan",
        "status": "completed", "arguments": json.dumps(arguments),
    }  # fmt: skip


SCRIPT = (
    [called(1, PLAN)],
    [message("GOAL_COMPLETE\nDone in the background."), called(2, STEP), called(3, COMPLETE)],
)


@pytest.fixture
def provider(behind: Behind) -> Iterator[BackgroundResponses]:
    with BackgroundResponses("queued", "completed", script=SCRIPT) as server:
        variables = {
            "OPENAI_API_KEY": "sk-oai-never-to-be-seen",
            "OPENAI_BASE_URL": server.url(""),
            "ACTA_OPENAI_API": "responses",
        }
        with behind.configured("step", **variables):
            yield server


def hired(boss: Person) -> str:
    body = {"name": "Patient", "provider": "openai", "model": "gpt-6-sol", "background": True}
    answer = boss.post("/v1/agents", body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["data"]["agent_id"])


@pytest.mark.thorough
def test_a_session_is_carried_through_by_answers_that_no_function_waits_for(
    admit: Admit, behind: Behind, provider: BackgroundResponses
) -> None:
    boss = admit(role="admin")
    seen = boss.finished(boss.start("Do it", agent_id=hired(boss)))
    assert seen.session["result"]["answer"] == "Done in the background."
    assert seen.session["usage"]["llm_calls"] == 2
    begun = [heard for heard in provider.heard if heard.method == "POST"]
    assert [heard.body["background"] for heard in begun] == [True, True]
    assert provider.deleted == ["resp_1", "resp_2"]
    (execution,) = behind.executions(seen.session["session_id"])
    assert execution["status"] == "SUCCEEDED"


@pytest.mark.thorough
def test_a_cancel_reaches_the_provider_of_an_answer_that_is_being_made(
    admit: Admit, provider: BackgroundResponses
) -> None:
    provider.course = ("in_progress",)
    boss = admit(role="admin")
    session = boss.start("Do it", agent_id=hired(boss))
    until(lambda: any(heard.method == "GET" for heard in provider.heard))  # it is waited for
    assert boss.post(f"/v1/sessions/{session}/cancel").status_code == 202
    until(lambda: bool(provider.cancelled))
    assert provider.cancelled == ["resp_1"]
    until(lambda: provider.deleted == ["resp_1"])
    seen = boss.finished(session)
    assert (seen.session["state"], seen.session["usage"]["llm_calls"]) == ("cancelled", 0)


def until(there: Any) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.1)
