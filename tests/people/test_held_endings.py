"""A pause holds the ending, too: the reply in flight is kept, and the run ends when the pause is lifted
(docs/design/api.md 32)."""

from typing import Any

import pytest

from acta.engine.errors import ProviderRejected
from acta.engine.recovery.recover import recover
from acta.engine.sessions.answers import session_view
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

DONE = says("", step(1, "completed", "ok"))
REFUSES = says("I will not.")._replace(stop="refusal")
GIVES_UP = says("", call("update_plan", action="fail", reason="Cannot."))
ENDINGS: dict[str, tuple[Turn, str, str]] = {
    "completes": (completes("Seen."), "completed", "plan_completed"),
    "says that it is complete": (says("GOAL_COMPLETE\nSeen."), "completed", "goal_complete"),
    "gives up": (GIVES_UP, "failed", "plan_failed"),
    "refuses": (REFUSES, "failed", "model_refused"),
    "is refused": (ProviderRejected("no"), "failed", "provider_rejected"),
}


def paused_while(last: Turn, *more: Turn, **limits: Any) -> tuple[House, str]:
    """A session that was paused while the model thought about its third reply."""
    model = ScriptedModel([plans("look"), DONE, last, *more])
    house = House(model)
    session = house.start("Look", **limits).session_id

    def pause() -> None:
        if len(model.requests) == 3:
            house.pause(session)

    model.meanwhile = pause
    house.run()
    return house, session


def types(house: House, session: str) -> list[str]:
    return [seen.event.type for seen in house.poll(session).events]


@pytest.mark.parametrize(("last", "state", "reason"), ENDINGS.values(), ids=ENDINGS)
def test_a_paused_run_ends_when_it_is_resumed_and_not_before(last: Turn, state: str, reason: str) -> None:
    house, session = paused_while(last)
    head = house.head(session)
    shown: Any = session_view(head)
    assert (head.state, head.state_reason, head.result, head.error) == (
        "waiting_for_user",
        "paused",
        None,
        None,
    )
    assert (shown["held"]["state"], shown["held"]["reason"]) == (state, reason)
    assert "run.finished" not in types(house, session)

    house.resume(session)
    house.run()

    head = house.head(session)
    assert (head.state, head.state_reason, head.ending) == (state, reason, None)
    assert types(house, session).count("run.finished") == 1
    assert [
        one.state for one in house.index.interventions(TENANT, state=None, limit=9, cursor=None).items
    ] == ["resolved"]


def test_the_reply_that_came_during_the_pause_is_kept_and_is_the_answer() -> None:
    house, session = paused_while(completes("Seen."))
    said = [seen.event.data["content"] for seen in house.poll(session).events if seen.event.type == "thought"]
    assert any("Seen." in text for text in said)
    assert house.head(session).usage.llm_calls == 3
    house.resume(session)
    result = house.head(session).result
    assert result is not None
    assert (result.goal_met, result.answer) == (True, "Seen.")


def test_a_plan_that_is_given_up_while_it_is_revised_waits_for_the_pause_too() -> None:
    model = ScriptedModel([plans("look"), says("", call("list_files")), GIVES_UP])
    house = House(model)
    session = house.start("Look", max_steps=1).session_id
    house.run()
    house.say(session, "Again")
    model.meanwhile = lambda: house.pause(session)
    house.run()
    assert (house.head(session).state, house.head(session).ending is not None) == ("waiting_for_user", True)
    house.resume(session)
    assert house.head(session).state == "failed"


def test_a_cancel_ends_a_paused_run_as_cancelled_whatever_was_held() -> None:
    house, session = paused_while(completes("Seen."))
    house.cancel(session)
    head = house.head(session)
    assert (head.state, head.result, head.ending) == ("cancelled", None, None)


def test_who_decides_on_the_pause_itself_lifts_it_as_well() -> None:
    house, session = paused_while(completes("Seen."))
    house.resolve(session, house.head(session).interventions[0], "continue")
    assert house.head(session).state == "completed"


def test_a_paused_run_is_cancelled_by_who_decides_so() -> None:
    house, session = paused_while(completes("Seen."))
    house.resolve(session, house.head(session).interventions[0], "cancel")
    assert house.head(session).state == "cancelled"


@pytest.mark.parametrize(
    ("last", "following"),
    [(completes("Seen."), (plans("look again"), DONE)), (REFUSES, (says("", call("list_files")),))],
    ids=["completes", "refuses"],
)
def test_a_message_that_came_during_the_pause_is_answered_instead(
    last: Turn, following: tuple[Turn, ...]
) -> None:
    """After a completed plan it is planned for; a plan that is still live goes on."""
    house, session = paused_while(last, *following, completes("Both seen."))
    house.say(session, "And this?")
    house.resume(session)
    assert house.head(session).ending is None
    house.run()
    head = house.head(session)
    assert (head.state, head.undelivered) == ("completed", ())
    assert head.result is not None
    assert head.result.answer == "Both seen."


def test_an_execution_that_is_lost_meanwhile_ends_nothing() -> None:
    house, session = paused_while(completes("Seen."))
    for _ in range(2):
        head = house.head(session)
        assert head.run is not None
        house.workflow.stop(session, head.run.run_id, head.run.generation)
        assert recover(house.fresh_repository(), house.workflow, TENANT, session) == "restarted"
        house.run()
        assert house.head(session).state == "waiting_for_user"
    house.resume(session)
    house.run()
    assert house.head(session).state == "completed"
