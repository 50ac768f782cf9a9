"""What the world does ends no run: the session waits, visibly, and goes on by itself (docs/design/recovery.md 4)."""

from typing import Any

import pytest

from acta.engine.agents.store import DefinitionSnapshot
from acta.engine.errors import (
    AwsDenied,
    CommitContention,
    PoisonedSession,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderTimeout,
    ProviderUnavailable,
    Refused,
    SchemaUnknown,
    SessionPolicyTooLarge,
    StopUnknown,
    StoreThrottled,
    StoreUnavailable,
    StreamBroken,
)
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.events import Event
from acta.engine.log.head import Head
from acta.engine.log.store import LogPage
from acta.engine.recovery.handle_error import handle_error
from acta.engine.recovery.outage import WORKER_LOST
from acta.engine.recovery.recover import recover
from acta.engine.sessions.answers import session_view
from tests.in_process.house import TENANT, House
from tests.in_process.lossy import OvertakenLog
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

SCRIPT: list[Turn] = [plans("write"), says("", step(1, "completed", "ok")), completes("Done.")]
PROVIDER = [
    (ProviderOverloaded("busy"), "PROVIDER_OVERLOADED"),
    (ProviderUnavailable("away"), "PROVIDER_UNAVAILABLE"),
    (ProviderTimeout("slow"), "PROVIDER_TIMEOUT"),
    (StreamBroken("half"), "PROVIDER_STREAM_BROKEN"),
]
AWS = [
    (StoreThrottled("less"), "STORE_UNAVAILABLE"),
    (StoreUnavailable("away"), "STORE_UNAVAILABLE"),
    (CommitContention("others"), "STORE_UNAVAILABLE"),
    (AwsDenied("no"), "AWS_DENIED"),
    (SessionPolicyTooLarge("long"), "SESSION_POLICY_TOO_LARGE"),
    (SchemaUnknown("newer"), "RELEASE_TOO_OLD"),
    (Refused("newer"), "RELEASE_TOO_OLD"),
]


def waits(house: House, session: str) -> list[dict[str, Any]]:
    """The data of the events that tell of a wait."""
    return [event.data for event in events(house, session) if event.data.get("retry_at")]


def events(house: House, session: str) -> list[Event]:
    return [seen.event for seen in house.poll(session).events]


def begun(*turns: Turn, forever: bool = False, **settings: Any) -> tuple[House, str]:
    house = House(ScriptedModel(turns, forever=forever), **settings)
    return house, house.start("Write").session_id


@pytest.mark.parametrize(("error", "code"), [*PROVIDER, *AWS])
def test_an_outage_longer_than_the_engine_s_retries_is_waited_for_and_the_run_ends_as_if_there_were_none(
    error: Exception, code: str
) -> None:
    house, session = begun(SCRIPT[0], *[error] * 30, *SCRIPT[1:])
    house.run()
    head = house.head(session)
    assert (head.state, head.error, head.outage) == ("completed", None, None)
    assert head.run is not None
    assert head.run.iteration == 2, "a wait is no turn"
    assert [data["code"] for data in waits(house, session)] == [code] * 30
    assert 30 <= house.waits[0] <= 64
    assert house.waits[-1] > 400


def test_the_agent_s_policies_are_read_once_for_a_wait_however_many_races_its_commit_loses() -> None:
    house, session = begun()
    decision = house.workflow.take()
    assert decision is not None
    read: list[str] = []

    class Watched:
        def snapshot(self, tenant: str) -> DefinitionSnapshot:
            read.append(tenant)
            return house.definitions.snapshot(tenant)

    house.log = OvertakenLog(house)  # type: ignore[assignment]
    following = handle_error(house.app(definitions=Watched()), decision.at, "StoreUnavailable")
    assert (following.next, house.head(session).state_reason) == ("wait", "waiting_for_aws")
    assert read == [TENANT]


@pytest.mark.parametrize(("error", "code"), [*PROVIDER, *AWS])
def test_while_it_waits_the_session_says_why_and_when_it_tries_again(error: Exception, code: str) -> None:
    house, session = begun(SCRIPT[0], error, *SCRIPT[1:])
    seen: list[Head] = []
    house.run(lambda decision: seen.append(house.head(session)) if decision.next == "wait" else None)
    (head,) = seen
    provider = code.startswith("PROVIDER")
    reason = "waiting_for_provider" if provider else "waiting_for_aws"
    assert (head.state, head.state_reason) == ("executing", reason)
    view: Any = session_view(head)
    assert view["cause"]["code"] == code
    assert view["cause"]["message"].endswith(".")
    assert view["retry_at"] is not None
    told = [event.type for event in events(house, session) if event.data.get("code") == code]
    assert told == (["llm.retried", "state.changed"] if provider else ["state.changed"])


def test_that_it_is_over_has_an_event_and_nothing_of_it_is_shown_any_more() -> None:
    house, session = begun(SCRIPT[0], ProviderUnavailable("away"), *SCRIPT[1:])
    house.run()
    changes = [event.data for event in events(house, session) if event.type == "state.changed"]
    waited = next(number for number, data in enumerate(changes) if data.get("retry_at"))
    assert changes[waited]["from"] == changes[waited]["to"] == "executing"
    assert changes[waited + 1] == {"from": "executing", "to": "executing", "reason": None}
    assert len([data for data in changes if data.get("retry_at")]) == 1
    view = session_view(house.head(session))
    assert (view["retry_at"], view["cause"], view["state_reason"]) == (None, None, "plan_completed")


def test_planning_is_waited_for_like_any_other_turn() -> None:
    house, session = begun(ProviderUnavailable("away"), *SCRIPT)
    house.run()
    assert (house.head(session).state, len(house.waits)) == ("completed", 1)


def test_a_short_retry_after_is_no_worse_than_none() -> None:
    impatient = ProviderOverloaded("busy", retry_after=0.3)
    house, session = begun(SCRIPT[0], *[impatient] * 60, *SCRIPT[1:])
    house.run()
    assert house.head(session).state == "completed"
    assert house.waits[:2] == [1, 2]
    assert house.waits[-1] > 400


def test_each_run_of_failures_is_an_outage_of_its_own() -> None:
    away = ProviderUnavailable("away")
    house, _ = begun(SCRIPT[0], away, away, SCRIPT[1], away, SCRIPT[2])
    house.run()
    first, second, third = house.waits
    assert (first <= 64 <= second * 1.01, third <= 64) == (True, True)


@pytest.mark.parametrize("error", [ProviderKeyRefused("401"), ProviderQuotaExceeded("402")])
def test_a_key_that_is_refused_before_the_first_reply_fails_the_run_and_later_it_is_waited_for(
    error: ProviderKeyRefused | ProviderQuotaExceeded,
) -> None:
    house, session = begun(error)
    house.run()
    head = house.head(session)
    assert (head.state, head.error and head.error.code) == ("failed", error.code)
    house, session = begun(SCRIPT[0], *[error] * 3, *SCRIPT[1:])
    house.run()
    told = waits(house, session)
    assert [(data["reason"], data["code"]) for data in told] == [("waiting_for_key", error.code)] * 3
    assert house.head(session).state == "completed"


def test_a_second_run_s_first_reply_counts_for_itself() -> None:
    house, session = begun(*SCRIPT, ProviderKeyRefused("401"))
    house.run()
    house.say(session, "And again")
    house.run()
    assert house.head(session).state == "failed"


def test_after_the_patience_a_person_is_asked_and_it_tries_on_by_itself_where_nobody_answers() -> None:
    house, session = begun(SCRIPT[0], ProviderUnavailable("away"), forever=True)
    house.run()
    head = house.head(session)
    (asked,) = head.interventions
    assert (head.state, asked.type, asked.default_action) == ("waiting_for_user", "error_recovery", "retry")
    assert asked.options == ("retry", "cancel")
    assert asked.timeout_at is not None
    assert (asked.timeout_at - house.clock.now()).total_seconds() == 86_400
    assert 86_400 <= sum(house.waits) <= 86_400 + 900
    view: Any = session_view(head)
    assert (view["retry_at"], view["cause"]["code"]) == (None, "PROVIDER_UNAVAILABLE")

    house.clock.set(asked.timeout_at)
    house.time_out(session)
    count = len(house.waits)
    house.run()
    (again,) = house.head(session).interventions
    assert again.intervention_id != asked.intervention_id
    assert 86_400 <= sum(house.waits[count:]) <= 86_400 + 900, "patience begins anew"
    assert house.head(session).progress.hint == ""


def test_a_person_who_is_asked_has_it_tried_at_once_and_it_goes_on() -> None:
    away = ProviderUnavailable("away")
    house, session = begun(SCRIPT[0], away, forever=True, outage_patience_seconds=3_600)
    house.run()
    house.model = ScriptedModel(SCRIPT[1:])
    (asked,) = house.head(session).interventions
    house.resolve(session, asked, "retry")
    house.run()
    assert house.head(session).state == "completed"


@pytest.mark.parametrize(
    ("word", "said"), [("because", "It is `because`."), ("", "does not know. Try again?")]
)
def test_a_stop_word_that_nobody_knows_is_told_to_a_person_after_seven_answers(word: str, said: str) -> None:
    house, session = begun(SCRIPT[0], StopUnknown("odd", word), forever=True)
    house.run()
    head = house.head(session)
    (asked,) = head.interventions
    assert (asked.type, asked.timeout_at) == ("error_recovery", None)
    assert said in asked.context["question"]
    assert 1_300 < sum(house.waits) < 2_760
    rows = [row for row in house.history(session).steps() if row.error == "PROVIDER_STOP_UNKNOWN"]
    assert len(rows) == 7
    assert all(row.estimated_tokens for row in rows), "each answer may have to be paid for"

    house.resolve(session, asked, "retry")
    house.model = ScriptedModel(SCRIPT[1:])
    house.run()
    assert house.head(session).state == "completed"


def test_a_patience_of_zero_asks_nobody_ever() -> None:
    house, session = begun(
        SCRIPT[0], *[ProviderUnavailable("away")] * 400, *SCRIPT[1:], outage_patience_seconds=0
    )
    house.run()
    assert sum(house.waits) > 2 * 86_400
    assert house.head(session).state == "completed"


@pytest.mark.parametrize("error", WORKER_LOST)
def test_a_session_that_kills_its_workers_waits_for_a_person_and_does_not_fail(error: str) -> None:
    house, session = begun(SCRIPT[0])
    at = _until_think(house)
    for _ in range(6):
        decision = handle_error(house.app(), at, error)
        assert (decision.next, decision.then) == ("wait", "think")
        at = decision.at
        house.clock.advance(decision.wait_seconds or 0)
    assert handle_error(house.app(), at, error).next == "ask"
    head = house.head(session)
    (asked,) = head.interventions
    assert (head.state, head.error, asked.timeout_at) == ("waiting_for_user", None, None)
    assert head.outage is not None
    house.resolve(session, asked, "retry")
    assert house.head(session).state == "executing"


def _until_think(house: House) -> Any:
    class Halt(Exception):
        pass

    def halt(decision: Any) -> None:
        if decision.next == "think":
            raise Halt

    with pytest.raises(Halt):
        house.run(halt)
    return house.decisions[-1].at


def test_a_damaged_session_fails_and_says_so() -> None:
    house, session = begun(SCRIPT[0])
    at = _until_think(house)
    assert handle_error(house.app(), at, "PoisonedSession").next == "failed"
    head = house.head(session)
    assert head.error is not None
    assert (head.state, head.error.code) == ("failed", "STEP_FAILED")
    assert "PoisonedSession" in head.error.message


class DamagedTurn(DynamoLog):
    """A commit of the turn cannot be read, and the newest one can."""

    def __init__(self, log: DynamoLog) -> None:
        vars(self).update(vars(log))

    def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
        raise PoisonedSession("damaged")


def test_a_session_whose_turn_cannot_be_read_fails_in_a_commit_so_that_recovery_leaves_it_alone() -> None:
    house, session = begun(SCRIPT[0])
    at = _until_think(house)
    house.log = DamagedTurn(house.log)
    for _ in range(2):
        assert handle_error(house.app(), at, "StoreUnavailable").next == "failed"
    head = house.head(session)
    assert head.error is not None
    assert (head.state, head.error.code) == ("failed", "STEP_FAILED")
    assert recover(house.fresh_repository(), house.workflow, TENANT, session) == "nothing"
    house.delete(session)
    assert handle_error(house.app(), at, "StoreUnavailable").next == "done"


def test_handling_an_error_again_returns_what_was_decided() -> None:
    house, session = begun(SCRIPT[0])
    at = _until_think(house)
    first = handle_error(house.app(), at, "StoreThrottled")
    house.clock.advance(5)
    assert handle_error(house.app(), at, "StoreThrottled") == first
    assert len(waits(house, session)) == 1


def test_what_was_overtaken_or_deleted_ends_and_commits_nothing() -> None:
    house, session = begun(SCRIPT[0])
    at = _until_think(house)
    older = at.model_copy(update={"generation": 0})
    assert handle_error(house.app(), older, "StoreThrottled").next == "done"
    house.cancel(session)
    assert handle_error(house.app(), at, "StoreThrottled").next == "done"
    assert house.head(session).state == "cancelled"
    house.delete(session)
    assert handle_error(house.app(), at, "StoreThrottled").next == "done"


def test_a_cancel_during_the_wait_ends_it_at_once() -> None:
    house, session = begun(SCRIPT[0], ProviderUnavailable("away"), *SCRIPT[1:])
    house.run(lambda decision: house.cancel(session) if decision.next == "wait" else None)
    head = house.head(session)
    assert (head.state, head.outage) == ("cancelled", None)
    assert head.run is not None
    assert house.workflow.status(session, head.run.run_id, head.run.generation) == "closed"


def test_a_pause_during_the_wait_holds_and_what_comes_after_it_tries_at_once() -> None:
    house, session = begun(SCRIPT[0], ProviderUnavailable("away"), *SCRIPT[1:])
    house.run(lambda decision: house.pause(session) if decision.next == "wait" else None)
    head = house.head(session)
    assert (head.state, head.state_reason) == ("waiting_for_user", "paused")
    house.resume(session)
    house.run()
    assert house.head(session).state == "completed"


class Timer(Exception):
    """The engine waits."""


def in_the_wait(*turns: Turn) -> tuple[House, str]:
    """A session whose engine has just begun to wait and does not wake."""
    house, session = begun(*turns)

    def halt(decision: Any) -> None:
        if decision.next == "wait":
            raise Timer

    with pytest.raises(Timer):
        house.run(halt)
    return house, session


@pytest.mark.parametrize("paused", [False, True])
def test_a_resume_during_the_wait_tries_now_in_a_new_execution_and_the_old_one_is_stopped(
    paused: bool,
) -> None:
    house, session = in_the_wait(SCRIPT[0], ProviderUnavailable("away"), *SCRIPT[1:])
    old = house.head(session).run
    assert old is not None
    if paused:
        house.pause(session)
    head = house.resume(session)
    assert (head.state, head.state_reason) == ("executing", None)
    assert session_view(head)["retry_at"] is None
    assert house.workflow.status(session, old.run_id, old.generation) == "closed"
    house.run()
    assert (house.head(session).state, house.waits) == ("completed", [])


def test_a_resume_whose_worker_died_is_made_good_by_its_repeat() -> None:
    house, session = in_the_wait(SCRIPT[0], ProviderUnavailable("away"), *SCRIPT[1:])
    house.resume(session)
    assert house.workflow.take() is not None
    run = house.head(session).run
    assert run is not None
    del house.workflow.executions[f"{session}-{run.run_id}-{run.generation}"]
    house.resume(session)
    house.run()
    assert house.head(session).state == "completed"


def test_a_resume_of_a_session_that_only_works_changes_nothing() -> None:
    house, session = begun(SCRIPT[0])
    _until_think(house)
    number = house.log.latest(TENANT, session)
    house.resume(session)
    assert house.log.latest(TENANT, session) == number


def test_an_error_while_people_are_asked_is_waited_out_and_they_are_still_asked() -> None:
    wants = says("", step(1, "in_progress"), call("delete_file", path="a.md"))
    house, session = begun(plans("tidy"), wants)
    house.run()
    head = house.head(session)
    (asked,) = head.interventions
    at = house.decisions[-1].at
    decision = handle_error(house.app(), at, "StoreUnavailable")
    assert (decision.next, decision.then) == ("wait", "think")
    head = house.head(session)
    assert (head.state, head.state_reason) == ("waiting_for_user", "approval_required")
    assert head.interventions == (asked,)
    house.clock.advance(decision.wait_seconds or 0)
    house.go_on(decision)
    assert house.decisions[-1].next == "ask"
    house.model = ScriptedModel([says("", step(1, "completed", "ok")), completes("Done.")])
    house.resolve(session, asked, "reject")
    house.run()
    assert house.head(session).state == "completed"


def test_a_history_that_grows_by_waiting_is_rolled_over_and_the_wait_is_kept() -> None:
    away: list[Turn] = [ProviderUnavailable("away")] * 40
    house, session = begun(SCRIPT[0], *away, *SCRIPT[1:], roll_over_events=600)
    house.run()
    head = house.head(session)
    assert head.run is not None
    assert (head.state, head.run.generation > 3) == ("completed", True)
    assert len(house.waits) == 40


APPROVAL = says("", step(1, "in_progress"), call("delete_file", path="a.md"))


def asks_after(code: str) -> tuple[House, str]:
    """A session whose Ask failed once, and stored its token after the wait."""
    house, session = begun(
        plans("tidy"), APPROVAL, outage_patience_seconds=3_600, approval_timeout_seconds=86_400
    )
    house.run()
    decision = handle_error(house.app(), house.decisions[-1].at, code)
    house.clock.advance(decision.wait_seconds or 0)
    house.go_on(decision)
    return house, session


@pytest.mark.parametrize("code", ["StoreUnavailable", "ProviderUnavailable"])
def test_a_wait_for_people_that_has_begun_shows_no_outage_and_forgets_none(code: str) -> None:
    house, session = asks_after(code)
    head = house.head(session)
    view: Any = session_view(head, now=house.clock.now())
    assert (view["cause"], view["retry_at"], view["retrying"]) == (None, None, False)
    assert (head.state, head.outage is not None) == ("waiting_for_user", True)


def test_a_question_that_nobody_answers_is_no_decision_to_forget_what_has_failed() -> None:
    house, session = asks_after("Runtime.ExitError")
    head = house.head(session)
    (asked,) = head.interventions
    assert asked.timeout_at is not None
    house.clock.set(asked.timeout_at)
    house.time_out(session)
    after = house.head(session)
    assert after.interventions == ()
    assert after.outage is not None
    assert (after.outage, after.outage.crashes) == (head.outage, 1)


def test_what_people_took_for_their_decision_is_not_patience() -> None:
    house, session = asks_after("ProviderUnavailable")
    house.clock.advance(7_200)
    house.model = ScriptedModel(
        [ProviderUnavailable("away"), says("", step(1, "completed", "ok")), completes("Done.")]
    )
    waited = len(house.waits)
    house.resolve(session, house.head(session).interventions[0], "reject")
    house.run()
    assert (house.head(session).state, len(house.waits)) == ("completed", waited + 1)
