"""Calls whose answer never came are charged once, at what was reserved for them; what never ran costs nothing
(docs/design/budgets.md 11)."""

from collections.abc import Callable

import pytest

from acta.engine.agents.agent import DEFAULT_AGENT
from acta.engine.errors import ProviderRejected, ProviderTimeout, ProviderUnavailable, StoreUnavailable
from acta.engine.limits.shares import hour_of
from acta.engine.log.beside import Marker
from acta.engine.log.commit import Decision, StepRecord
from acta.engine.log.dynamodb import DynamoAttempts
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.recovery.handle_error import handle_error
from acta.engine.recovery.recover import recover
from acta.engine.turn.turn import take_turn
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, plans, says


class Crash(BaseException):
    """The worker is gone: nothing between here and the test may swallow it."""


def dies(request: ModelRequest) -> ModelReply:
    raise Crash


def house_with(*turns: Turn, **limits: int) -> tuple[House, str, Decision]:
    house = House(ScriptedModel(turns), tenant_tokens_per_hour=1_000_000, token_window_seconds=0)
    session = house.start("Look", **limits).session_id
    first = house.workflow.take()
    assert first is not None
    return house, session, first


def plan(house: House, at: Decision, attempt: int = 0) -> Decision:
    """By a process of its own, which knows nothing of others."""
    house.repository = house.fresh_repository()
    return take_turn(house.worker, "plan", at.at, attempt, 60).decision


def failed_rows(house: House, session: str) -> list[StepRecord]:
    return [row for row in house.history(session).steps() if row.error is not None]


def of_hour(house: House, session: str) -> int:
    """Tokens of the tenant's hour that nobody can use any more: all that are granted, less what the session holds."""
    lease = house.head(session).lease
    held = lease.left if lease is not None else 0
    return house.index.granted_tokens(TENANT, hour_of(house.clock.now())) - held


def all_is_charged_once(house: House, session: str) -> None:
    head, rows = house.head(session), house.history(session).steps()
    assert head.budget.vanished_tokens == sum(row.estimated_tokens for row in rows)
    assert head.usage.input_tokens == sum(row.input_tokens for row in rows)
    assert of_hour(house, session) >= head.budget.vanished_tokens + head.usage.total_tokens


@pytest.mark.parametrize(
    ("turn", "state"),
    [(plans("look"), "executing"), (ProviderRejected("no such model"), "failed")],
    ids=["answered", "refused"],
)
def test_attempts_that_vanished_are_charged_to_the_session_and_to_the_hour(turn: Turn, state: str) -> None:
    house, session, first = house_with(dies, dies, turn)
    for attempt in range(2):
        with pytest.raises(Crash):
            plan(house, first, attempt)

    plan(house, first, 2)

    head = house.head(session)
    assert head.state == state
    assert head.budget.vanished_tokens > 2 * house.settings.max_output_tokens
    assert head.usage.total_tokens == (120 if state == "executing" else 0)
    assert [row.error for row in failed_rows(house, session)][:2] == ["VANISHED"] * 2
    all_is_charged_once(house, session)


def test_attempts_that_never_reached_the_model_cost_nothing() -> None:
    """Eight times the engine could not start the Lambda."""
    house, session, first = house_with(plans("look"))
    plan(house, first, 8)
    assert house.head(session).budget.vanished_tokens == 0
    assert failed_rows(house, session) == []


def test_an_attempt_the_provider_turned_away_costs_nothing_and_is_in_the_step_log() -> None:
    house, session, first = house_with(ProviderUnavailable("down"), plans("look"))
    with pytest.raises(ProviderUnavailable):
        plan(house, first)
    plan(house, first, 1)
    (row,) = failed_rows(house, session)
    assert (row.error, row.estimated_tokens, row.attempt) == ("PROVIDER_UNAVAILABLE", 0, 0)
    all_is_charged_once(house, session)


def test_silent_calls_use_up_the_budget_before_the_next_one_is_made() -> None:
    house, session, first = house_with(*[ProviderTimeout("silent")] * 9, token_budget=12_000)
    model = house.model
    assert isinstance(model, ScriptedModel)
    decision = None
    for attempt in range(9):
        try:
            decision = plan(house, first, attempt)
        except ProviderTimeout:
            continue
        break
    head = house.head(session)
    reserved = [request.max_tokens for request in model.requests]
    assert decision is not None
    assert (decision.next, head.interventions[0].type) == ("ask", "budget_exceeded")
    assert sum(reserved) < head.budget.vanished_tokens <= 12_000
    assert {row.error for row in failed_rows(house, session)} == {"PROVIDER_TIMEOUT"}
    all_is_charged_once(house, session)


def test_what_vanished_in_an_execution_that_was_lost_is_charged_by_the_next_one() -> None:
    house, session, first = house_with(dies, plans("look"))
    with pytest.raises(Crash):
        plan(house, first)
    house.workflow.close(first)
    assert recover(house.fresh_repository(), house.workflow, TENANT, session) == "restarted"
    with pytest.raises(Stop):
        house.run(lambda decision: _stop(decision.next == "think"))

    assert [row.error for row in failed_rows(house, session)] == ["VANISHED"]
    all_is_charged_once(house, session)


def test_what_vanished_before_a_cancel_is_charged_by_it() -> None:
    house, session, first = house_with(ProviderTimeout("silent"), dies)
    with pytest.raises(ProviderTimeout):
        plan(house, first)
    with pytest.raises(Crash):
        plan(house, first, 1)
    house.cancel(session)
    assert [row.error for row in failed_rows(house, session)] == ["PROVIDER_TIMEOUT", "VANISHED"]
    assert house.head(session).budget.vanished_tokens > 2 * house.settings.max_output_tokens
    all_is_charged_once(house, session)


def test_a_cancel_that_two_turns_were_faster_than_charges_nothing_again() -> None:
    """The first of them charged what had vanished, and the second one's call is all that its head names as settled."""
    house, session, first = house_with(dies, plans("look"), says("", call("list_files")))
    with pytest.raises(Crash):
        plan(house, first)

    def two_turns() -> None:
        second = plan(house, first, 1)
        take_turn(house.worker, "think", second.at, 0, 60)

    house.attempts = FirstReadIsOvertaken(house.attempts, two_turns)
    house.cancel(session)

    head = house.head(session)
    assert (head.state, head.usage.llm_calls) == ("cancelled", 2)
    assert [row.error for row in failed_rows(house, session)] == ["VANISHED"]
    all_is_charged_once(house, session)


def test_an_answer_that_comes_after_a_cancel_is_charged_exactly() -> None:
    house, session, first = house_with(lambda request: _meanwhile(lambda: house.cancel(session)))
    plan(house, first)
    head = house.head(session)
    assert (head.state, head.budget.vanished_tokens, head.usage.total_tokens) == ("cancelled", 0, 120)
    all_is_charged_once(house, session)


def test_a_run_that_fails_because_its_agent_is_gone_keeps_its_bill() -> None:
    house = House(ScriptedModel((dies,)), tenant_tokens_per_hour=1_000_000, token_window_seconds=0)
    agent = house.definitions.snapshot(TENANT).agent(DEFAULT_AGENT)
    assert agent is not None
    agent = agent.model_copy(update={"agent_id": "keeper"})
    house.definitions.create_agent(TENANT, agent)
    session = house.start("Look", agent_id=agent.agent_id).session_id
    first = house.workflow.take()
    assert first is not None
    with pytest.raises(Crash):
        plan(house, first)
    house.definitions.delete_agent(TENANT, agent)
    assert plan(house, first, 1).next == "failed"
    assert [row.error for row in failed_rows(house, session)] == ["VANISHED"]
    all_is_charged_once(house, session)


def test_what_vanished_before_a_cancel_is_charged_by_the_sessions_next_run() -> None:
    house, session, first = house_with(dies, plans("look"))
    with pytest.raises(Crash):
        plan(house, first)
    house.cancel(session)
    house.say(session, "Go on")
    with pytest.raises(Stop):
        house.run(lambda decision: _stop(decision.next == "think"))

    assert [row.error for row in failed_rows(house, session)] == ["VANISHED"]
    all_is_charged_once(house, session)


def test_two_workers_at_one_turn_are_both_paid_for_and_only_one_decides() -> None:
    """The engine lost the connection to the first one and retried, while it still waited for its answer."""
    other: list[Decision] = []
    house, session, first = house_with(
        lambda request: _meanwhile(lambda: other.append(plan(house, first, 1))), plans("look"), dies
    )
    assert plan(house, first) == other[0]
    assert [row.error for row in failed_rows(house, session)] == ["VANISHED"], "the second charged the first"
    assert house.head(session).usage.llm_calls == 1
    all_is_charged_once(house, session)


def test_an_answer_that_comes_after_all_is_charged_exactly_and_its_estimate_taken_back() -> None:
    """A second worker took the first for vanished and asked a person, for the budget carried no second call."""
    asked: list[Decision] = []
    house, session, first = house_with(
        lambda request: _meanwhile(lambda: asked.append(plan(house, first, 1))), token_budget=5_000
    )
    plan(house, first)
    head = house.head(session)
    assert [one.next for one in asked] == ["ask"]
    assert (head.budget.vanished_tokens, head.usage.total_tokens) == (0, 120)
    all_is_charged_once(house, session)


def test_a_marker_whose_write_was_answered_late_is_no_second_attempt() -> None:
    house, session, first = house_with(plans("look"))
    house.attempts = Unheard(house.attempts)
    plan(house, first)
    assert failed_rows(house, session) == []
    all_is_charged_once(house, session)


class Unheard(DynamoAttempts):
    """Writes, and loses the answer of the first write."""

    def __init__(self, attempts: object) -> None:
        vars(self).update(vars(attempts))
        self.lost = False

    def write(self, tenant: str, session_id: str, marker: Marker, *, after: str | None) -> None:
        super().write(tenant, session_id, marker, after=after)
        if not self.lost:
            self.lost = True
            raise StoreUnavailable("no answer")


class FirstReadIsOvertaken(DynamoAttempts):
    """Something happens between the first read and what its caller makes of it."""

    def __init__(self, attempts: object, happens: Callable[[], None]) -> None:
        vars(self).update(vars(attempts))
        self.waiting = [happens]

    def read(self, tenant: str, session_id: str) -> Marker:
        found = super().read(tenant, session_id)
        if self.waiting:
            self.waiting.pop()()
        return found


def _meanwhile(happens: Callable[[], object]) -> ModelReply:
    happens()
    return plans("look")


def _stop(due: bool) -> None:
    if due:
        raise Stop


class Stop(Exception):
    """The test has seen what it waited for."""


def test_a_run_that_waits_after_its_retries_keeps_its_bill() -> None:
    house, session, first = house_with(*[ProviderTimeout("silent")] * 3)
    for attempt in range(3):
        with pytest.raises(ProviderTimeout):
            plan(house, first, attempt)
    waits = handle_error(house.app(), first.at, "ProviderTimeout")
    head = house.head(session)
    assert (waits.next, head.state_reason) == ("wait", "waiting_for_provider")
    assert head.budget.vanished_tokens > 3 * house.settings.max_output_tokens
    assert [row.error for row in failed_rows(house, session)] == ["PROVIDER_TIMEOUT"] * 3
    all_is_charged_once(house, session)
    assert handle_error(house.app(), first.at, "ProviderTimeout").next == "wait"
    assert house.head(session).budget == head.budget, "an error that is handled again is not charged again"
