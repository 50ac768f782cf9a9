"""Whatever goes wrong, a session is charged what its provider was asked for, once, and its limits are kept
(docs/design/budgets.md 12).

The oracle is the provider's own ledger. It knows of every request whether it arrived, what it used, and whether the
answer was sent; the session only knows what came back.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, Fallback, built_in
from acta.engine.errors import (
    EngineError,
    ProviderOverloaded,
    ProviderTimeout,
    ProviderUnavailable,
    StoreThrottled,
    StoreUnavailable,
    StreamBroken,
)
from acta.engine.limits.shares import PER_DOLLAR
from acta.engine.log.beside import Attempt, Marker
from acta.engine.log.commit import Commit, Decision, StepRecord
from acta.engine.log.conversation import AssistantEntry
from acta.engine.log.dynamodb import DynamoAttempts, DynamoLog
from acta.engine.log.head import Head
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import NO_ITEMS, TransactionItems
from acta.engine.models.fallback import with_fallbacks
from acta.engine.models.model import ModelReply, ModelRequest, TokenUsage
from acta.engine.models.providers import cost_usd
from acta.engine.recovery.handle_error import handle_error
from acta.engine.turn.turn import take_turn
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import call, completes, plans, says, step

EXAMPLES = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
MODEL = "claude-sonnet-5-5"
FALLBACKS = (
    Fallback(provider="openai", model="gpt-6-sol"),
    Fallback(provider="anthropic", model="claude-haiku-4-5"),
)
"""Each has another price."""
REPLIES = (
    plans("look"),
    says("", call("list_files", path="a")),
    says("", call("list_files", path="b")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
)
ANSWERS = ("answer", "answer", "busy", "wait", "away", "silent", "broken", "dies before", "dies after")
FREE = ("busy", "wait", "away", "dies before")
PORTS = ("log", "marker", "blobs")
FAULTS = ("throttled", "lost", "dies before", "dies after", "down")
RETRIES = 8
MOST_STEPS = 200


class Crash(BaseException):
    """The worker is gone: nothing between here and the test may swallow it."""


class Asked(NamedTuple):
    """A request that arrived at a provider. `usage`: what it used; `sent`: whether the answer went out whole."""

    attempt: Attempt
    provider: str
    model: str
    usage: TokenUsage
    sent: bool

    @property
    def usd(self) -> float:
        return cost_usd(self.provider, self.model, self.usage) or 0.0


class Ledger:
    """All providers. They answer what belongs to the conversation that they are shown; `goes` says how each call
    goes.
    """

    def __init__(self, goes: list[str], newest: Callable[[], Attempt]) -> None:
        self.goes = list(goes)
        self.newest = newest
        self.asked: list[Asked] = []
        self.free: list[Attempt] = []
        self.before_each: Callable[[], None] = lambda: None

    def complete(self, provider: str, request: ModelRequest) -> ModelReply:
        self.before_each()
        how = self.goes.pop(0) if self.goes else "answer"
        attempt = self.newest()
        assert (attempt.provider, attempt.model) == (provider, request.model), (
            "it is written down who is asked"
        )
        if how in FREE:
            self.free.append(attempt)
        match how:
            case "busy":
                raise ProviderOverloaded("busy")
            case "wait":
                raise ProviderOverloaded("busy", retry_after=2.0)
            case "away":
                raise ProviderUnavailable("away")
            case "dies before":
                raise Crash
        usage = TokenUsage(input=500 + len(self.asked), output=min(200, request.max_tokens))
        sent = how in ("answer", "dies after")
        self.asked.append(Asked(attempt, provider, request.model, usage, sent))
        match how:
            case "silent":
                raise ProviderTimeout("silent")
            case "broken":
                raise StreamBroken("cut")
            case "dies after":
                raise Crash
        turn = sum(isinstance(entry, AssistantEntry) for entry in request.entries)
        return REPLIES[turn]._replace(usage=usage)


class Provider:
    def __init__(self, provider: str, ledger: Ledger) -> None:
        self.provider = provider
        self.ledger = ledger

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        return self.ledger.complete(self.provider, request)


class Trouble:
    """What goes wrong at the stores: (port, which of its writes) -> how. `down`: that write and the next thirty."""

    def __init__(self, faults: list[tuple[str, int, str]]) -> None:
        self.faults = {(port, nth): kind for port, nth, kind in faults}
        self.counts = dict.fromkeys(PORTS, 0)
        self.down = dict.fromkeys(PORTS, 0)

    def around(self, port: str, write: Callable[[], object]) -> None:
        kind = self.faults.get((port, self.counts[port]), "")
        self.counts[port] += 1
        if kind == "down":
            self.down[port] = 30
        if self.down[port]:
            self.down[port] -= 1
            raise StoreUnavailable("down")
        if kind == "throttled":
            raise StoreThrottled("slower")
        if kind == "dies before":
            raise Crash
        write()
        if kind == "lost":
            raise StoreUnavailable("no answer")
        if kind == "dies after":
            raise Crash


class TroubledLog(DynamoLog):
    def __init__(self, log: DynamoLog, trouble: Trouble) -> None:
        vars(self).update(vars(log))
        self.trouble = trouble

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        self.trouble.around("log", lambda: DynamoLog.append(self, commit, extra_items))


class TroubledAttempts(DynamoAttempts):
    """Remembers every attempt that a worker was about to make."""

    def __init__(self, attempts: object, trouble: Trouble) -> None:
        vars(self).update(vars(attempts))
        self.trouble = trouble
        self.tried: dict[str, Attempt] = {}

    @property
    def newest(self) -> Attempt:
        return list(self.tried.values())[-1]

    def write(self, tenant: str, session_id: str, marker: Marker, *, after: str | None) -> None:
        self.tried |= {one.attempt_id: one for one in marker.attempts if one.attempt_id not in self.tried}
        self.trouble.around(
            "marker", lambda: DynamoAttempts.write(self, tenant, session_id, marker, after=after)
        )


class TroubledBlobs(S3Blobs):
    def __init__(self, blobs: S3Blobs, trouble: Trouble) -> None:
        vars(self).update(vars(blobs))
        self.trouble = trouble

    def put_named(self, tenant: str, session_id: str, name: str, text: str) -> None:
        self.trouble.around("blobs", lambda: S3Blobs.put_named(self, tenant, session_id, name, text))


class Play:
    """One session, driven to its end or to a question, with a process of its own for each attempt."""

    def __init__(
        self,
        goes: list[str],
        faults: list[tuple[str, int, str]],
        fallbacks: tuple[Fallback, ...] = (),
        an_hour: int = 10_000_000,
        **limits: float | None,
    ) -> None:
        self.ledger = Ledger(goes, lambda: self.attempts.newest)
        others = [(Provider(one.provider or "", self.ledger), one.model) for one in fallbacks]
        model, _ = with_fallbacks((Provider("anthropic", self.ledger), MODEL), others)
        self.house = House(
            model, tenant_tokens_per_hour=an_hour, usd_per_day={"*": 1_000}, token_window_seconds=0
        )
        named = AgentDefinition(agent_id=DEFAULT_AGENT, name="A", version=1, model=MODEL, fallbacks=fallbacks)
        self.house.definitions.replace_agent(TENANT, built_in(), named)
        self.session = self.house.start("Look", **limits).session_id
        self.trouble = trouble = Trouble(faults)
        self.attempts = TroubledAttempts(self.house.attempts, trouble)
        self.house.attempts = self.attempts
        self.house.log = TroubledLog(self.house.log, trouble)
        self.house.blobs = TroubledBlobs(self.house.blobs, trouble)
        self.ledger.before_each = self.no_limit_can_be_passed

    @property
    def head(self) -> Head:
        return self.house.head(self.session)

    def run(self) -> None:
        decision = self.house.workflow.take()
        assert decision is not None
        for _ in range(MOST_STEPS):
            if decision.next in ("done", "failed", "ask"):
                return
            decision = self._step(decision)
        raise AssertionError("it does not end")

    def _step(self, decision: Decision) -> Decision:
        """As the engine does: retries, then the error is handled, which is tried until the store is there."""
        if decision.next == "wait":
            self.house.clock.advance(decision.wait_seconds or 0)
            return Decision(next=decision.then or "think", at=decision.at)
        if decision.next not in ("plan", "think"):
            following = self.house._state(decision)
            assert following is not None
            return following
        left = ""
        for attempt in range(RETRIES + 1):
            self.house.repository = self.house.fresh_repository()
            try:
                return take_turn(self.house.worker, decision.next, decision.at, attempt, 60).decision
            except (EngineError, Crash) as error:
                left = "States.TaskFailed" if isinstance(error, Crash) else type(error).__name__
        while True:
            try:
                return handle_error(self.house.app(), decision.at, left)
            except (EngineError, Crash):
                continue

    @property
    def rows(self) -> list[StepRecord]:
        """Of the step log, those of model calls."""
        found = self.house.history(self.session).steps()
        return [row for row in found if row.kind in ("plan", "llm")]

    def told(self) -> list[Asked]:
        """The requests whose usage is in the session's log. No two have the same."""
        inputs = {row.input_tokens for row in self.rows}
        return [one for one in self.ledger.asked if one.usage.input in inputs]

    def no_limit_can_be_passed(self) -> None:
        """Called as a request goes out. What was asked for and is not told may cost what was reserved for it."""
        head, told = self.head, self.told()
        asked = [*(one.attempt for one in self.ledger.asked if one not in told), self.attempts.newest]
        used = sum(one.usage.input + one.usage.output for one in told)
        assert used + sum(one.reserved_tokens for one in asked) <= head.budget.token_budget
        if head.budget.cost_budget_usd is not None:
            spent = sum(one.usd for one in told)
            most = spent + sum(one.cost_usd or 0.0 for one in asked)
            assert most <= head.budget.cost_budget_usd + 1e-6

    def everything_is_charged_once(self, *, exactly: bool) -> None:
        """`exactly`: no worker died between its marker and its request, and no store refused anything."""
        head, told, rows = self.head, self.told(), self.rows
        usage, charged = head.usage, head.budget.vanished_tokens
        assert all(one.sent for one in told)
        answered = [row for row in rows if row.error is None]
        assert len(answered) == len(told) == usage.llm_calls, "a reply that came back is charged once"
        assert usage.input_tokens == sum(one.usage.input for one in told)
        assert usage.output_tokens == sum(one.usage.output for one in told)
        assert charged == sum(row.estimated_tokens for row in rows)

        replied = {one.attempt.attempt_id for one in told}
        asked = {one.attempt.attempt_id: one.attempt for one in self.ledger.asked}
        lost = [one for name, one in asked.items() if name not in replied]
        marked = [one for name, one in self.attempts.tried.items() if name not in replied]
        least = sum(one.reserved_tokens for one in lost)
        assert least <= charged <= (least if exactly else sum(one.reserved_tokens for one in marked))

        exact = sum(one.usd for one in told)
        estimated = sum(row.estimated_cost_usd for row in rows)
        assert head.budget.charged_usd == pytest.approx(exact + estimated, abs=1e-5)
        assert head.lease is None or head.lease.used == usage.total_tokens + charged
        assert head.lease is None or head.lease.left >= 0
        day = head.day_lease
        # Each charge is rounded up to a part of a dollar.
        assert day is None or abs(day.used - head.budget.charged_usd * PER_DOLLAR) <= 2 * len(rows)
        assert day is None or day.left >= 0


GOES = st.lists(st.sampled_from(ANSWERS), max_size=14)
WRONG = st.lists(st.tuples(st.sampled_from(PORTS), st.integers(0, 12), st.sampled_from(FAULTS)), max_size=6)
LIMITS = st.sampled_from([{}, {"token_budget": 12_000}, {"token_budget": 40_000}, {"cost_budget_usd": 0.2}])


@pytest.mark.parametrize("fallbacks", [0, 1, 2])
@pytest.mark.parametrize("examples", [40, pytest.param(1_000, marks=pytest.mark.thorough)])
def test_what_is_charged_is_what_the_provider_was_asked_for(examples: int, fallbacks: int) -> None:
    @settings(EXAMPLES, max_examples=examples)
    @given(GOES, WRONG, LIMITS)
    def holds(goes: list[str], faults: list[tuple[str, int, str]], limits: dict[str, Any]) -> None:
        play = Play(goes, faults, FALLBACKS[:fallbacks], **limits)
        play.run()
        play.everything_is_charged_once(exactly=not faults and "dies before" not in goes)

    holds()


@pytest.mark.parametrize("goes", [["silent"] * 3, ["broken", "dies after"], ["busy", "away", "wait"] * 2])
def test_of_failures_that_are_told_the_charge_is_exact(goes: list[str]) -> None:
    play = Play(goes, [])
    play.run()
    assert play.head.state == "completed"
    play.everything_is_charged_once(exactly=True)


def test_a_store_that_is_away_for_long_has_no_reply_bought_twice() -> None:
    play = Play([], [("log", 2, "down"), ("log", 40, "down")])
    play.run()
    assert (play.head.state, len(play.ledger.asked)) == ("completed", len(REPLIES))
    play.everything_is_charged_once(exactly=True)


@pytest.mark.parametrize(
    ("goes", "paid"),
    [
        (["silent"], 1),
        (["silent", "silent"], 2),
        (["busy", "silent"], 1),
        (["busy", "away"], 0),
        (["silent", "wait", "busy"], 1),
        (["silent", "dies after"], 2),
        (["busy", "dies after"], 1),
        (["silent", "silent", "dies after"], 3),
        (["silent", "broken"], 2),
    ],
)
def test_each_model_that_was_asked_in_a_turn_is_charged_for_itself(goes: list[str], paid: int) -> None:
    play = Play(goes, [], FALLBACKS)
    play.run()
    assert play.head.state == "completed"
    assert len([row for row in play.rows if row.estimated_tokens]) == paid
    play.everything_is_charged_once(exactly=True)


@pytest.mark.parametrize("limits", [{"token_budget": 8_000}, {"cost_budget_usd": 0.05}], ids=str)
def test_no_fallback_is_asked_beyond_what_silence_has_left_of_a_budget(limits: dict[str, Any]) -> None:
    play = Play(["silent"] * 9, [], FALLBACKS, **limits)
    play.run()
    assert {one.model for one in play.ledger.asked} == {MODEL}
    assert [one.type for one in play.head.interventions] == ["budget_exceeded"]
    play.everything_is_charged_once(exactly=True)


def test_no_fallback_is_asked_beyond_what_silence_has_left_of_the_tenants_hour() -> None:
    play = Play(["silent"] * 9, [], FALLBACKS, an_hour=8_000)
    play.run()
    assert [one.model for one in play.ledger.asked] == [MODEL]
    assert play.head.interventions


def test_a_fallback_that_could_not_be_written_down_is_not_asked_and_costs_nothing() -> None:
    """The first write is the first model's; the fallback's fails each time, although the last one arrived."""
    faults = [
        ("marker", 1, "throttled"),
        ("marker", 2, "throttled"),
        ("marker", 3, "throttled"),
        ("marker", 4, "lost"),
    ]
    play = Play(["busy"], faults, FALLBACKS)
    play.run()
    assert {one.model for one in play.ledger.asked} == {MODEL}
    assert (play.head.state, play.head.budget.vanished_tokens) == ("completed", 0)


def test_a_turn_without_trouble_writes_its_marker_once_and_each_fallback_one_more() -> None:
    calm, troubled = Play([], [], FALLBACKS), Play(["silent", "busy"], [], FALLBACKS)
    for play in (calm, troubled):
        play.run()
    assert calm.trouble.counts["marker"] == len(REPLIES)
    assert troubled.trouble.counts["marker"] == len(REPLIES) + 2
