"""An answer that the provider makes in the background, and a worker that dies before its id is committed (ADR 60)."""

import json
from typing import Any, NamedTuple

import pytest

from tests.doubles.background_responses import USAGE, BackgroundResponses, message
from tests.doubles.http_sink import Heard
from tests.faults.calls import MODEL, Answer, Request
from tests.faults.ending import Ending, ending
from tests.faults.point import Fault
from tests.faults.scenario import Play
from tests.faults.server import FaultyServer
from tests.faults.stand import Stand

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]

STEPS = [{"description": "Do it"}]
PLAN = {"action": "create", "goal": "The goal", "steps": STEPS}
STEP = {"action": "update_step", "step_number": 1, "step_status": "completed", "step_result": "Done."}
COMPLETE = {"action": "complete", "reason": "Done."}

CREATED = Fault("step model:Responses create 1", "after")
COMMITTING = Fault("step dynamodb:PutItem plan 1", "before")


def called(number: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "update_plan",
        "status": "completed", "arguments": json.dumps(arguments),
    }  # fmt: skip


PLANNED = [called(1, PLAN)]
DONE = [message("GOAL_COMPLETE\nDone in the background."), called(2, STEP), called(3, COMPLETE)]


class Played(NamedTuple):
    """`session`: as the API tells it at the end. `made`: how many responses were asked for."""

    ending: Ending
    session: dict[str, Any]
    provider: BackgroundResponses
    made: int


def play(stand: Stand, *faults: Fault) -> Played:
    """One session of two answers. Where its first worker dies, the plan is asked for again."""
    script = (*[PLANNED] * (1 + len(faults)), DONE)
    with BackgroundResponses("queued", "completed", script=script) as provider:
        heard: list[Heard] = []

        def answer(request: Request) -> Answer:
            body = json.loads(request.body) if request.body else None
            heard.append(Heard(request.method, request.path, request.headers, body))
            told = provider.reply_to(heard[-1])
            return Answer(told.status, told.headers, told.body)

        server = FaultyServer(MODEL, stand.point, answer)
        try:
            with stand.configured(
                "step",
                OPENAI_API_KEY="scripted",
                OPENAI_BASE_URL=server.url,
                ACTA_OPENAI_API="responses",
            ):
                played = Play(stand, *faults)
                session_id = started(played)
                head = played.see_to(session_id)
                last = ending(played.person, stand, played.tag, head)
                session = played.person.data(f"/v1/sessions/{session_id}")["session"]
        finally:
            server.stop()
    assert played.track.all_fired
    played.person.http.close()
    made = sum(one.method == "POST" and one.path.endswith("/responses") for one in heard)
    return Played(last, session, provider, made)


def started(play: Play) -> str:
    agent = {"name": "Patient", "provider": "openai", "model": "gpt-6-sol", "background": True}
    hired = play.person.post("/v1/agents", agent, "agent")
    assert hired.status_code == 201, hired.text
    body = {"content": f"Do it for {play.tag}", "agent_id": hired.json()["data"]["agent_id"]}
    answer = play.person.post("/v1/sessions", body, "start")
    assert answer.status_code == 202, answer.text
    return str(answer.json()["data"]["session_id"])


@pytest.fixture(scope="module")
def undisturbed(stand: Stand) -> Played:
    return play(stand)


@pytest.mark.parametrize("fault", [CREATED, COMMITTING], ids=["unanswered", "uncommitted"])
def test_a_worker_that_dies_before_it_commits_the_id_leaves_one_response_behind_and_the_session_ends_the_same(
    stand: Stand, undisturbed: Played, fault: Fault
) -> None:
    assert (undisturbed.made, undisturbed.provider.kept) == (2, {})
    assert undisturbed.session["budget"]["vanished_tokens"] == 0

    disturbed = play(stand, fault)

    assert disturbed.ending.differences(undisturbed.ending, ()) == []
    assert disturbed.made == 3
    assert list(disturbed.provider.kept) == ["resp_1"]  # nobody knows its id
    assert disturbed.provider.deleted == ["resp_2", "resp_3"]
    usage, clean = disturbed.session["usage"], undisturbed.session["usage"]
    assert (usage["llm_calls"], usage["input_tokens"]) == (clean["llm_calls"], clean["input_tokens"])
    assert usage["llm_calls"] == 2
    assert (
        disturbed.session["budget"]["vanished_tokens"] > USAGE["total_tokens"]
    )  # charged once, at what was reserved
