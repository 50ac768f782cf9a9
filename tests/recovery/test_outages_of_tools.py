"""A tool call that the world is in the way of is not lost: it stays open and is made again after a wait
(docs/design/engine.md 18)."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from acta.engine.errors import (
    AwsDenied,
    CommitContention,
    EngineError,
    FunctionUnavailable,
    SchemaUnknown,
    StoreThrottled,
    StoreUnavailable,
    ToolNotRun,
    ToolUnanswered,
    TransientError,
)
from acta.engine.log.commit import Decision
from acta.engine.log.conversation import ToolEntry
from acta.engine.log.head import Head
from acta.engine.tools.execute import abandon_call, run_call
from acta.engine.tools.port import CallContext
from acta.engine.tools.tool import Effect, ToolSpec
from acta.engine.turn.engine import EVENTS_PER_CALL, EVENTS_PER_TURN
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.tools.test_effect_ledger import RefundRegistry

TWO = [
    plans("pay"),
    says("", call("refund", order=7), call("refund", order=8)),
    says("", step(1, "completed", "ok")),
    completes("Paid."),
]
WORLD = [
    StoreThrottled("less"),
    StoreUnavailable("away"),
    FunctionUnavailable("full"),
    AwsDenied("no"),
    CommitContention("others"),
    SchemaUnknown("new"),
]


class Shop:
    """A tool; the calls of the orders in `away` raise the error instead of having their effect, so often."""

    def __init__(self, away: dict[int, int], error: Exception, after: bool = False) -> None:
        self.away, self.error, self.after = away, error, after
        self.effects: list[str] = []
        self.before: Callable[[], object] = lambda: None
        self.meanwhile: Callable[[], object] = lambda: None

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str:
        before, self.before = self.before, lambda: None
        before()
        order = int(arguments["order"])
        fails = self.away.get(order, 0) > 0
        if fails:
            self.away[order] -= 1
        if not fails or self.after:
            self.effects.append(context.effect_id)
            self.meanwhile()
        if fails:
            raise self.error
        return f"Refunded {order}."


def house_with(shop: Shop, effect: Effect = "idempotent", **settings: Any) -> tuple[House, str]:
    house = House(ScriptedModel(TWO), **settings)
    house.registry = RefundRegistry(effect)
    house.runtime = house.runtime._replace(registry=house.registry, toolbox=shop)
    return house, house.start("Pay back both").session_id


def results(house: House, session: str) -> list[str]:
    entries = [one.entry for one in house.history(session).messages(0, 50)[0]]
    return [
        str(entry.content.text)
        for entry in entries
        if isinstance(entry, ToolEntry) and entry.name == "refund"
    ]


@pytest.mark.parametrize("error", WORLD)
@pytest.mark.parametrize("effect", ["read", "idempotent"])
def test_a_call_that_the_world_is_in_the_way_of_runs_after_the_wait(
    error: EngineError, effect: Effect
) -> None:
    shop = Shop({7: 3, 8: 3}, error)
    house, session = house_with(shop, effect)
    house.run()
    head = house.head(session)
    assert (head.state, head.outage, head.usage.tool_calls) == ("completed", None, 2)
    assert results(house, session) == ["Refunded 7.", "Refunded 8."]
    assert len(house.waits) == 3, "both calls wait together"
    assert house.waits == sorted(house.waits)


def test_while_it_waits_the_session_says_so_and_the_call_is_open() -> None:
    house, session = house_with(Shop({7: 1}, StoreUnavailable("away")))
    seen = []
    house.run(lambda decision: seen.append(house.head(session)) if decision.next == "wait" else None)
    (head,) = seen
    assert (head.state, head.state_reason) == ("waiting_for_tool", "waiting_for_aws")
    assert [one.state for one in head.calls] == ["started", "done"]


def test_the_calls_beside_it_run_once() -> None:
    shop = Shop({7: 2}, StoreThrottled("less"))
    house, session = house_with(shop)
    house.run()
    assert len(shop.effects) == len(set(shop.effects)) == 2
    assert results(house, session) == ["Refunded 7.", "Refunded 8."]


def test_a_call_that_runs_once_and_may_have_happened_is_asked_about_after_the_wait() -> None:
    shop = Shop({7: 1}, StoreUnavailable("away"), after=True)
    house, session = house_with(shop, "once")
    house.run()
    (asked,) = house.head(session).interventions
    assert (asked.type, asked.tool_call and asked.tool_call.name) == ("error_recovery", "refund")
    assert len(house.waits) == 1
    house.resolve(session, asked, "record", result="Refunded 7.")
    house.run()
    assert house.head(session).state == "completed"
    assert len(shop.effects) == 2


@pytest.mark.parametrize("reason", [FunctionUnavailable("full"), AwsDenied("no")])
def test_a_call_that_runs_once_and_reached_no_tool_is_made_again_and_nobody_is_asked(
    reason: TransientError,
) -> None:
    shop = Shop({7: 3, 8: 3}, ToolNotRun(reason))
    house, session = house_with(shop, "once")
    seen = []
    house.run(lambda decision: seen.append(house.head(session)) if decision.next == "wait" else None)
    head = house.head(session)
    assert (head.state, head.interventions, len(house.waits)) == ("completed", (), 3)
    assert results(house, session) == ["Refunded 7.", "Refunded 8."]
    assert len(shop.effects) == len(set(shop.effects)) == 2
    assert not any(one.is_in_flight for waiting in seen for one in waiting.calls)
    told = [one.event.type for one in house.poll(session).events]
    assert (told.count("tool.started"), told.count("tool.finished")) == (2, 2)


def test_a_call_that_reached_no_tool_while_a_person_is_asked_about_it_stays_theirs() -> None:
    shop = Shop({7: 1}, ToolNotRun(FunctionUnavailable("full")))
    house, session = house_with(shop, "once")

    def lost(decision: Decision) -> None:
        """Another attempt at the call finds it started, and asks, while this one is still about to reach the tool."""
        if decision.next == "act":
            call_id = (decision.calls or ())[0]
            shop.before = lambda: run_call(house.runtime, decision.at, call_id, 0, 60)

    house.run(lost)
    (asked,) = house.head(session).interventions
    assert asked.type == "error_recovery"
    house.resolve(session, asked, "retry")
    house.run()
    assert (house.head(session).state, len(shop.effects)) == ("completed", 2)


@pytest.mark.parametrize("error", ["States.Timeout", "Runtime.ExitError", "ToolUnanswered", "Refused"])
def test_a_call_whose_worker_died_or_that_must_not_run_is_settled_as_before(error: str) -> None:
    house, session = house_with(Shop({7: 1}, ToolUnanswered("nothing")))
    stopped: list[Decision] = []

    def settle(decision: Decision) -> None:
        if decision.next == "act" and not stopped:
            stopped.append(decision)
            abandon_call(house.runtime, decision.at, (decision.calls or ())[0], error)

    house.run(settle)
    assert house.waits == []
    assert results(house, session)[0].startswith("Error: the tool did not answer")


def test_after_the_patience_a_person_is_asked_about_the_outage_and_the_call_runs_then() -> None:
    shop = Shop({7: 1_000}, AwsDenied("no"))
    house, session = house_with(shop, outage_patience_seconds=3_600)
    house.run()
    (asked,) = house.head(session).interventions
    assert (asked.type, asked.tool_call, asked.default_action) == ("error_recovery", None, "retry")
    shop.away = {}
    house.resolve(session, asked, "retry")
    house.run()
    assert (house.head(session).state, results(house, session)) == (
        "completed",
        ["Refunded 7.", "Refunded 8."],
    )


def test_a_cancel_during_the_wait_leaves_the_call_unmade() -> None:
    shop = Shop({7: 1}, StoreUnavailable("away"))
    house, session = house_with(shop)
    house.run(lambda decision: house.cancel(session) if decision.next == "wait" else None)
    assert house.head(session).state == "cancelled"
    assert len(shop.effects) == 1


def test_settling_a_lost_call_again_waits_once() -> None:
    house, session = house_with(Shop({}, StoreUnavailable("away")))
    seen: list[Head] = []

    def lose(decision: Decision) -> None:
        if decision.next == "act" and not seen:
            lost = (decision.calls or ())[0]
            for _ in range(3):
                abandon_call(house.runtime, decision.at, lost, "Lambda.TooManyRequestsException")
            seen.append(house.head(session))

    house.run(lose)
    outage = seen[0].outage
    assert outage is not None
    assert (outage.waits, outage.code) == (7, "LAMBDA_UNAVAILABLE")
    assert house.head(session).state == "completed"


def test_calls_that_are_made_again_and_again_count_towards_the_roll_over() -> None:
    house, session = house_with(Shop({7: 12}, StoreUnavailable("away")), roll_over_events=1_500)
    house.run()
    head = house.head(session)
    assert head.run is not None
    assert (head.state, head.run.generation > 1) == ("completed", True)


@pytest.mark.thorough
def test_each_repetition_counts_all_the_calls_that_run_again_and_the_turn_between() -> None:
    orders = range(7, 23)
    house, session = house_with(Shop(dict.fromkeys(orders, 5), StoreUnavailable("away")))
    house.model = ScriptedModel([TWO[0], says("", *(call("refund", order=n) for n in orders)), *TWO[2:]])
    most = 0

    def count(decision: Decision) -> None:
        nonlocal most
        if decision.next == "act":
            most += EVENTS_PER_TURN + EVENTS_PER_CALL * len(decision.calls or ())

    house.run(count)
    run = house.head(session).run
    assert run is not None
    assert len(house.waits) == 5
    assert run.events >= most


@pytest.mark.parametrize("effect", ["idempotent", "once"])
def test_a_resume_while_another_call_of_the_reply_runs_starts_no_second_execution_beside_it(
    effect: Effect,
) -> None:
    shop = Shop({}, StoreUnavailable("away"))
    house, session = house_with(shop, effect)

    def resumed() -> None:
        shop.meanwhile = lambda: None
        house.resume(session)
        house.run()  # what this has started, if anything

    def lose(decision: Decision) -> None:
        if decision.next == "act" and not house.waits and not shop.effects:
            shop.meanwhile = resumed
            first, second = decision.calls or ()
            abandon_call(house.runtime, decision.at, first, "StoreUnavailable")
            run_call(house.runtime, decision.at, second, 0, 60)

    house.run(lose)
    head = house.head(session)
    assert head.run is not None
    assert (head.state, head.interventions, head.run.generation) == ("completed", (), 1)
    assert len(shop.effects) == 2
