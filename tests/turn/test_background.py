"""A model that answers in the background: the engine waits, and no worker does (docs/design/providers.md 21,
ADR 60)."""

from dataclasses import replace

import pytest

from acta.engine.errors import (
    Fenced,
    ProviderKeyRefused,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StoreUnavailable,
    StreamBroken,
)
from acta.engine.log.commit import Commit, Decision
from acta.engine.log.head import Head
from acta.engine.log.store import NO_ITEMS, TransactionItems
from acta.engine.models.model import BackgroundResponse
from acta.engine.models.providers import next_wait
from acta.engine.plans.edit import AddStep
from acta.engine.recovery.recover import recover
from acta.engine.turn.turn import take_turn
from tests.in_process.background import AGENT, BackgroundModel, begun, patient_house
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import USAGE, Turn, call, completes, plans, says, step

SCRIPT: list[Turn] = [
    plans("write"),
    says("", step(1, "in_progress"), call("create_file", path="x.md", content="y")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
]


class Reached(Exception):
    pass


def until(house: House, wanted: str) -> Decision:
    """Drives the engine to the first decision of this kind, or from there to the next; it is not carried out."""
    standing = house.decisions[-1] if house.decisions else None

    def stop(decision: Decision) -> None:
        if decision.next == wanted and decision is not standing:
            raise Reached

    with pytest.raises(Reached):
        house.run(stop) if standing is None else house._execute(standing, stop)
    return house.decisions[-1]


def accounts_add_up(house: House, session: str) -> None:
    head, rows = house.head(session), list(house.history(session).steps())
    assert head.usage.input_tokens == sum(row.input_tokens for row in rows)
    assert head.budget.vanished_tokens == sum(row.estimated_tokens for row in rows)


def test_a_run_ends_as_one_whose_worker_waits() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    house.run()
    head = house.head(session)
    assert (head.state, head.usage.llm_calls, head.background) == ("completed", 4, None)
    assert head.usage.input_tokens == 4 * USAGE.input
    assert head.budget.vanished_tokens == 0
    assert len(model.made) == 4
    assert model.forgotten == model.made
    assert house.files.read(TENANT, "x.md") == b"y"
    accounts_add_up(house, session)


def test_an_answer_that_is_there_at_once_is_deleted_once_it_is_committed() -> None:
    committed: list[int] = []

    class Watched(BackgroundModel):
        def forget(self, response: BackgroundResponse, *, timeout: float) -> None:
            committed.append(house.head(session).usage.llm_calls)
            super().forget(response, timeout=timeout)

    model = Watched(SCRIPT, seconds=0)
    house = patient_house(model)
    session = begun(house)
    house.run()
    assert (house.head(session).state, house.waits, model.looks) == ("completed", [], 0)
    assert model.forgotten == model.made
    assert committed == [1, 2, 3, 4]
    accounts_add_up(house, session)


def test_the_engine_looks_after_growing_pauses_and_a_look_writes_nothing() -> None:
    model = BackgroundModel([plans("do it")], seconds=1_000)
    house = patient_house(model)
    session = begun(house)
    until(house, "wait")
    number = house.repository.newest(TENANT, session).number
    until(house, "think")
    assert house.repository.newest(TENANT, session).number == number + 1
    assert house.waits == [10, 10, 10, 15, 22, 34, 50, 76, 114, 170, 240, 240, 240]
    assert max(house.waits) < 300
    assert house.head(session).usage.llm_calls == 1


def test_its_time_is_its_own_and_not_the_worker_s() -> None:
    model = BackgroundModel(SCRIPT, seconds=3_000)
    house = patient_house(model)
    session = begun(house)
    house.run()
    rows = [row for row in house.history(session).steps() if row.kind in ("plan", "llm")]
    assert house.head(session).state == "completed"
    assert all(row.duration_ms >= 3_000_000 for row in rows)


def test_an_agent_that_does_not_ask_for_it_has_its_worker_wait() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    house.start("Do it")
    house.run()
    assert model.made == []
    assert house.waits == []


def test_where_it_is_not_allowed_the_worker_waits() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model, background_seconds=0)
    session = begun(house)
    house.run()
    assert house.head(session).state == "completed"
    assert model.made == []


def test_a_message_that_comes_meanwhile_waits_for_the_next_turn() -> None:
    model = BackgroundModel(
        [plans("do it"), says("One more thing?", step(1, "completed", "ok")), completes("Done.")]
    )
    house = patient_house(model)
    session = begun(house)
    until(house, "wait")
    house.say(session, "And hurry")
    house.go_on(house.decisions[-1])
    shown = [str(request.entries) for request in model.requests]
    assert ["And hurry" in text for text in shown] == [False, True, True]
    assert house.head(session).undelivered == ()


def test_an_answer_that_was_begun_before_an_edit_of_the_plan_neither_changes_it_nor_takes_effect() -> None:
    late = says("", step(1, "completed", "ok"), call("create_file", path="x.md", content="y"))
    model = BackgroundModel(
        [plans("write"), late, *SCRIPT[2:3], says("", step(2, "completed", "ok")), *SCRIPT[3:]]
    )
    house = patient_house(model)
    session = begun(house)
    while house.head(session).plan is None:
        until(house, "wait")
    house.edit_plan(session, AddStep(op="add", description="check"))
    house.go_on(house.decisions[-1])
    head = house.head(session)
    assert (head.state, head.plan and [one.status for one in head.plan.steps]) == (
        "completed",
        ["completed", "completed"],
    )
    refused = [
        one.event.data["code"] for one in house.poll(session).events if one.event.type == "plan.rejected"
    ]
    assert refused == ["PLAN_EDITED"]
    assert not house.files.list(TENANT, "", 9).files


def test_a_look_that_is_repeated_does_no_harm() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    waiting = until(house, "wait")
    house.clock.advance(30)
    again = [take_turn(house.worker, "plan", waiting.at, attempt, 60).decision for attempt in (0, 1)]
    assert again[0] == again[1]
    assert (again[0].next, again[0].then, again[0].wait_seconds) == ("wait", "plan", next_wait(30))
    house.clock.advance(100)
    done = [take_turn(house.worker, "plan", waiting.at, attempt, 60).decision for attempt in (0, 1)]
    assert done[0] == done[1]
    assert house.head(session).usage.llm_calls == 1


def test_a_provider_that_cannot_be_asked_is_waited_for_and_the_answer_is_not_bought_again() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    waiting = until(house, "wait")
    model.away = ProviderUnavailable("away")
    house.clock.advance(30)
    with pytest.raises(ProviderUnavailable):
        take_turn(house.worker, "plan", waiting.at, 8, 60)
    until_back = iter(range(2))

    def back(decision: Decision) -> None:
        if decision.next == "wait" and next(until_back, None) is None:
            model.away = None

    house._execute(Decision(next="plan", at=waiting.at), back)
    head = house.head(session)
    assert (head.state, len(model.made), head.budget.vanished_tokens) == ("completed", 4, 0)


REFUSED = [ProviderRejected("openai answered 400"), StreamBroken("the answer to a look is no response")]


@pytest.mark.parametrize("refusal", REFUSED)
def test_a_refused_look_loses_no_answer(refusal: Exception) -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    waiting = until(house, "wait")
    model.withheld = refusal
    refused = take_turn(house.worker, "plan", waiting.at, 0, 60).decision
    head = house.head(session)
    assert (refused.next, head.state_reason) == ("wait", "waiting_for_provider")
    assert head.delay is not None
    assert head.delay.code == "PROVIDER_ANSWER_WITHHELD"
    model.withheld = None
    house.go_on(refused)
    head = house.head(session)
    assert (head.state, head.usage.llm_calls, head.budget.vanished_tokens) == ("completed", 4, 0)
    assert (len(model.made), model.forgotten) == (4, model.made)


def withheld_for_good(model: BackgroundModel) -> tuple[House, str]:
    """A session whose person is asked about an answer that the provider has never handed over."""
    house = patient_house(model)
    session = begun(house)
    until(house, "wait")
    model.withheld = ProviderRejected("openai answered 404")
    house.go_on(house.decisions[-1])
    (question,) = house.head(session).interventions
    assert (question.type, question.timeout_at) == ("error_recovery", None)
    assert "GET /v1/responses/resp_1" in question.context["question"]
    assert (model.looks < 12, model.made, model.forgotten) == (True, ["resp_1"], [])
    return house, session


def test_an_answer_that_is_never_handed_over_is_told_to_a_person_who_may_have_it_bought_again() -> None:
    model = BackgroundModel(SCRIPT)
    house, session = withheld_for_good(model)
    looks = model.looks
    (question,) = house.head(session).interventions

    def mended(decision: Decision) -> None:
        if model.looks > looks:
            model.withheld = None

    house.resolve(session, question, "retry")
    house.run(mended)
    head = house.head(session)
    assert (head.state, head.usage.llm_calls, len(model.made)) == ("completed", 4, 5)
    assert (model.cancelled, model.forgotten) == ([], model.made[1:])
    assert [row.error for row in house.history(session).steps() if row.error] == [StreamBroken.code]
    accounts_add_up(house, session)


def test_an_answer_that_a_person_was_told_of_is_used_where_it_comes_after_all() -> None:
    model = BackgroundModel(SCRIPT)
    house, session = withheld_for_good(model)
    model.withheld = None
    (question,) = house.head(session).interventions
    house.resolve(session, question, "retry")
    house.run()
    head = house.head(session)
    assert (head.state, len(model.made), head.budget.vanished_tokens) == ("completed", 4, 0)


def test_an_answer_that_a_person_was_told_of_stays_where_it_is_when_they_cancel() -> None:
    model = BackgroundModel(SCRIPT)
    house, session = withheld_for_good(model)
    model.withheld = None
    (question,) = house.head(session).interventions
    house.resolve(session, question, "cancel")
    house.run()
    assert (house.head(session).state, model.forgotten) == ("cancelled", [])
    accounts_add_up(house, session)


def test_a_key_that_is_refused_meanwhile_is_waited_for() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    waiting = until(house, "wait")
    model.away = ProviderKeyRefused("rotated")
    refused = take_turn(house.worker, "plan", waiting.at, 0, 60).decision
    assert refused.next == "wait"
    assert house.head(session).state_reason == "waiting_for_key"
    assert house.head(session).background is not None
    model.away = None
    house.go_on(refused)
    assert (house.head(session).state, len(model.made)) == ("completed", 4)
    assert house.head(session).budget.vanished_tokens == 0


@pytest.mark.parametrize("error", [StreamBroken("broken"), ProviderUnavailable("server_error")])
def test_a_response_that_fails_is_asked_for_again_after_a_pause(error: Exception) -> None:
    model = BackgroundModel(SCRIPT)
    model.failing = error  # type: ignore[assignment]
    house = patient_house(model)
    session = begun(house)
    house.run()
    head = house.head(session)
    assert (head.state, len(model.made), head.usage.llm_calls) == ("completed", 5, 4)
    assert (head.budget.vanished_tokens > 0) == isinstance(error, StreamBroken)
    assert model.forgotten == model.made
    accounts_add_up(house, session)


def test_a_response_that_the_provider_rejects_ends_the_run() -> None:
    model = BackgroundModel(SCRIPT)
    model.failing = ProviderRejected("invalid_prompt")
    house = patient_house(model)
    session = begun(house)
    house.run()
    head = house.head(session)
    assert (head.state, head.background) == ("failed", None)
    assert head.error is not None
    assert head.error.code == "PROVIDER_REJECTED"
    assert model.forgotten == model.made


def test_one_that_takes_too_long_is_cancelled_there_and_charged_at_its_reservation() -> None:
    model = BackgroundModel(SCRIPT, seconds=5_000)
    house = patient_house(model, background_seconds=1_800)
    session = begun(house)
    reached: list[Decision] = []

    def faster(decision: Decision) -> None:
        if model.cancelled:
            model.seconds = 50
        reached.append(decision)

    house.run(faster)
    head = house.head(session)
    assert head.state == "completed"
    assert model.cancelled == ["resp_1"]
    errors = [row.error for row in house.history(session).steps() if row.error]
    assert errors == [ProviderTimeout.code]
    accounts_add_up(house, session)


def test_a_request_that_is_refused_ends_the_turn_as_any_other() -> None:
    model = BackgroundModel(SCRIPT)
    model.away = ProviderKeyRefused("no")
    house = patient_house(model)
    session = begun(house)
    house.run()
    head = house.head(session)
    assert (head.state, head.error and head.error.code) == ("failed", "PROVIDER_KEY_REFUSED")
    assert head.budget.vanished_tokens == 0


def test_a_pause_keeps_the_answer_until_it_is_lifted() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    until(house, "wait")
    house.pause(session)
    house.go_on(house.decisions[-1])
    assert house.head(session).state == "waiting_for_user"
    assert model.cancelled == []
    house.clock.advance(40_000)
    house.resume(session)
    house.run()
    head = house.head(session)
    assert (head.state, len(model.made), head.usage.llm_calls) == ("completed", 4, 4)


def over(house: House, session: str, model: BackgroundModel) -> Head:
    house.run()
    head = house.head(session)
    assert head.background is None
    assert head.usage.llm_calls == 0
    assert head.plan is None
    return head


def test_a_cancel_reaches_the_provider_and_nothing_of_the_answer_is_applied() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    until(house, "wait")
    house.cancel(session)
    head = over(house, session, model)
    assert (head.state, model.cancelled) == ("cancelled", ["resp_1"])
    assert head.budget.vanished_tokens > 0
    accounts_add_up(house, session)
    assert not any(house.workflow.executions.values())


def test_an_answer_that_was_faster_than_the_cancel_is_charged_exactly_and_not_applied() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    until(house, "wait")
    house.clock.advance(200)
    house.cancel(session)
    house.run()
    head = house.head(session)
    assert (head.state, head.plan, head.usage.llm_calls) == ("cancelled", None, 1)
    assert (head.usage.input_tokens, head.budget.vanished_tokens) == (USAGE.input, 0)
    accounts_add_up(house, session)


def test_a_pause_that_is_ended_by_a_cancel_reaches_the_provider_too() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    until(house, "wait")
    house.pause(session)
    house.go_on(house.decisions[-1])
    (pause,) = house.head(session).interventions
    house.resolve(session, pause, "cancel")
    head = over(house, session, model)
    assert (head.state, model.cancelled) == ("cancelled", ["resp_1"])
    accounts_add_up(house, session)


def test_a_cancel_that_is_repeated_starts_the_same_execution_again() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    until(house, "wait")
    house.cancel(session)
    house.cancel(session)
    over(house, session, model)
    assert model.cancelled == ["resp_1"]


def test_a_new_run_ends_what_was_still_made_for_the_one_before() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    until(house, "wait")
    house.cancel(session)
    house.workflow.take()  # the execution that would have told the provider is lost
    house.say(session, "Once more")
    house.run()
    head = house.head(session)
    assert (head.state, head.background) == ("completed", None)
    assert model.cancelled == ["resp_1"]
    accounts_add_up(house, session)


def test_a_provider_that_cannot_be_told_of_a_cancel_does_not_hold_it_up() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    until(house, "wait")
    model.away = ProviderUnavailable("away")
    house.cancel(session)
    head = over(house, session, model)
    assert head.state == "cancelled"
    assert head.budget.vanished_tokens > 0


def test_a_cancel_while_the_request_is_made_ends_the_response() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    start = model.start

    def cancelled_meanwhile(*given: object, **more: object) -> object:
        made = start(*given, **more)  # type: ignore[arg-type]
        house.cancel(session)
        return made

    model.start = cancelled_meanwhile  # type: ignore[method-assign, assignment]
    head = over(house, session, model)
    assert (head.state, model.cancelled) == ("cancelled", ["resp_1"])
    accounts_add_up(house, session)


def test_the_agent_may_be_deleted_meanwhile() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    until(house, "wait")
    agent = house.definitions.agent(TENANT, AGENT)
    assert agent is not None
    house.definitions.delete_agent(TENANT, agent)
    house.go_on(house.decisions[-1])
    head = house.head(session)
    assert (head.state, head.background, model.cancelled) == ("failed", None, ["resp_1"])
    accounts_add_up(house, session)


def test_the_next_generation_goes_on_with_the_same_answer() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model, roll_over_events=100)
    session = begun(house)
    house.run()
    head = house.head(session)
    assert head.run is not None
    assert (head.state, len(model.made)) == ("completed", 4)
    assert head.run.generation > 4


def test_a_lost_execution_is_followed_by_one_that_goes_on_with_the_same_answer() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    waiting = until(house, "wait")
    house.workflow.close(waiting)
    house.clock.advance(300)
    assert recover(house.fresh_repository(), house.workflow, TENANT, session) == "restarted"
    house.run()
    assert (house.head(session).state, len(model.made)) == ("completed", 4)
    with pytest.raises(Fenced):
        take_turn(house.worker, "plan", waiting.at, 0, 60)
    assert len(model.made) == 4


def test_of_two_workers_at_one_turn_the_loser_ends_its_response() -> None:
    model = BackgroundModel(SCRIPT)
    house = patient_house(model)
    session = begun(house)
    first = house.workflow.take()
    assert first is not None
    start, other = model.start, replace(house.worker, repository=house.fresh_repository())

    def raced(*given: object, **more: object) -> object:
        made = start(*given, **more)  # type: ignore[arg-type]
        model.start = start  # type: ignore[method-assign]
        take_turn(other, "plan", first.at, 1, 60)
        return made

    model.start = raced  # type: ignore[method-assign, assignment]
    house.go_on(first)
    head = house.head(session)
    assert (head.state, len(model.made), model.cancelled) == ("completed", 5, ["resp_1"])
    assert head.usage.llm_calls == 4
    accounts_add_up(house, session)


def test_an_id_that_cannot_be_committed_is_ended_there() -> None:
    model = BackgroundModel(SCRIPT, seconds=1_000)
    house = patient_house(model)
    session = begun(house)
    first = house.workflow.take()
    assert first is not None
    append = house.log.append

    def refuses(commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        if model.made:
            raise StoreUnavailable("away")
        append(commit, extra_items)

    house.log.append = refuses  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailable):
        take_turn(house.worker, "plan", first.at, 0, 60)
    house.log.append = append  # type: ignore[method-assign]
    assert model.cancelled == ["resp_1"]
    house.go_on(first)
    assert house.head(session).state == "completed"
    accounts_add_up(house, session)
