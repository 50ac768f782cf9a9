"""Whatever people do in whatever order while the engine works: the rules of sessions hold (docs/design/api.md,
log.md)."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from acta.engine.api.envelope import to_json
from acta.engine.errors import CallerError, EngineError, Fenced
from acta.engine.log.commit import Commit, Decision
from acta.engine.people.intervention import Intervention
from acta.engine.recovery.handle_error import handle_error
from acta.engine.sessions.answers import event_view, session_view
from acta.engine.sessions.poll import Cursor
from tests.in_process.house import TENANT, House
from tests.runs.drawn import CHOICES, LIMITS, LONG, TURNS, Drawn
from tests.runs.legality import check, check_told, fitting

MOST_SESSIONS = 3
MOST_DRAINED = 3_000


class Sessions(RuleBasedStateMachine):
    """`ready`: where each execution that does not wait stands. `accepted`: what people said and was taken."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Drawn()
        self.house = House(self.model, context_tokens=20_000)
        self.ids: list[str] = []
        self.deleted: set[str] = set()
        self.accepted: dict[str, list[str]] = {}
        self.commits: dict[str, list[Commit]] = {}
        self.seen: dict[str, tuple[Cursor, int]] = {}
        self.ready: list[Decision] = []
        self.said = 0

    # people

    @initialize(limits=LIMITS, turns=TURNS)
    def begin(self, limits: dict[str, int], turns: list[int]) -> None:
        self.start(False, limits)
        self.work(turns)

    @precondition(lambda self: len(self.ids) < MOST_SESSIONS)
    @rule(
        idle=st.booleans(),
        limits=LIMITS,
    )
    def start(self, idle: bool, limits: dict[str, int]) -> None:
        text = None if idle else self.text()
        session = self.house.start(text, **limits).session_id
        self.ids.append(session)
        self.commits[session], self.seen[session] = [], (Cursor(), 0)
        self.accepted[session] = [text] if text is not None else []

    @precondition(lambda self: self.ids)
    @rule(which=st.integers(0, MOST_SESSIONS - 1), long=st.booleans())
    def say(self, which: int, long: bool) -> None:
        session, text = self.named(which), self.text() + (LONG if long else "")
        if self.allowed(lambda: self.house.say(session, text)):
            self.accepted[session].append(text)

    @precondition(lambda self: self.ids)
    @rule(which=st.integers(0, MOST_SESSIONS - 1), what=st.sampled_from(["pause", "resume", "cancel"]))
    def control(self, which: int, what: str) -> None:
        session = self.named(which)
        before = self.numbers(session)
        for _ in range(2):  # each of them twice is once
            self.allowed(lambda: getattr(self.house, what)(session))
        assert self.numbers(session) <= before + 1

    @precondition(lambda self: any(self.open(session) for session in self.ids))
    @rule(
        which=st.integers(0, 9),
        option=st.integers(0, 3),
        right=st.booleans(),
        more=st.sampled_from([None, "text"]),
    )
    def resolve(self, which: int, option: int, right: bool, more: str | None) -> None:
        waiting = [(session, one) for session in self.ids for one in self.open(session)]
        session, one = waiting[which % len(waiting)]
        chosen = one.options[option % len(one.options)] if right else "shrug"
        given = fitting(one, chosen, self.text()) if more is None else {"text": self.text()}
        took = self.allowed(lambda: self.house.resolve(session, one, chosen, **given))
        if took and one.type == "clarification_needed" and chosen == "answer":
            self.accepted[session].append(given["text"])
        if took:
            before = self.numbers(session)
            assert not self.allowed(lambda: self.house.resolve(session, one, chosen, **given))
            assert self.numbers(session) == before

    @precondition(lambda self: self.ids)
    @rule(which=st.integers(0, MOST_SESSIONS - 1), sure=st.integers(0, 3))
    def delete(self, which: int, sure: int) -> None:
        if sure:
            return
        session = self.named(which)
        self.allowed(lambda: self.house.delete(session))
        self.deleted.add(session)

    @precondition(lambda self: self.ids)
    @rule(which=st.integers(0, MOST_SESSIONS - 1))
    def poll(self, which: int) -> None:
        session = self.named(which)
        cursor, last = self.seen[session]
        with suppress(CallerError):
            page = self.house.poll(session, cursor)
            told = [event_view(one.event) for one in page.events]
            assert [event["seq"] for event in told] == list(range(last + 1, last + len(told) + 1))
            assert to_json([session_view(page.head), told])
            self.seen[session] = page.cursor, last + len(told)
            assert session not in self.deleted

    # the engine

    @rule(which=st.integers(0, 9), turn=CHOICES)
    def step(self, which: int, turn: int) -> None:
        self.wake()
        if self.ready:
            self.model.turn = turn
            self.move(which % len(self.ready))

    @rule(turns=TURNS)
    def work(self, turns: list[int]) -> None:
        for turn in turns:
            self.step(0, turn)

    @precondition(lambda self: any(self.waits(session) for session in self.ids))
    @rule(seconds=st.sampled_from([10, 1_600, 4_000]))
    def time_goes_by(self, seconds: int) -> None:
        """Waits end and are entered again."""
        self.house.clock.advance(seconds)
        for session in self.ids:
            if self.waits(session):
                self.house.time_out(session)

    def wake(self) -> None:
        while (decision := self.house.workflow.take()) is not None:
            self.ready.append(decision)

    def move(self, place: int) -> None:
        decision = self.ready.pop(place)
        try:
            following = self.house._state(decision)
        except EngineError as error:
            following = handle_error(self.house.app(), decision.at, type(error).__name__)
        if following is not None:
            self.ready.insert(place, following)

    # what holds

    @invariant()
    def every_log_is_legal(self) -> None:
        for session in self.ids:
            if session not in self.deleted:
                known = self.commits[session]
                fresh = self.house.log.read(TENANT, session, len(known) + 1).commits
                for commit in fresh:
                    check(known[-1] if known else None, commit)
                    known.append(commit)

    def teardown(self) -> None:
        """All that is under way comes to rest; then everything that was said and done is there once."""
        for turn in range(MOST_DRAINED):
            self.wake()
            if not self.ready:
                break
            self.step(turn, turn)
        assert not self.ready, "the engine does not come to rest"
        self.every_log_is_legal()
        listed = self.house.index.interventions(TENANT, state="pending", limit=500, cursor=None).items
        live = [session for session in self.ids if session not in self.deleted]
        assert sorted(one.intervention_id for one in listed) == sorted(
            one.intervention_id for session in live for one in self.open(session)
        )
        for session in live:
            head = self.house.head(session)
            assert head.is_over or head.state in ("idle", "waiting_for_user")
            check_told(self.house.history(session), head, self.accepted[session])

    # small things

    def text(self) -> str:
        self.said += 1
        return f"message {self.said} "

    def named(self, which: int) -> str:
        return self.ids[which % len(self.ids)]

    def numbers(self, session: str) -> int:
        newest = self.house.log.latest(TENANT, session)
        return newest.number if newest is not None else 0

    def open(self, session: str) -> tuple[Intervention, ...]:
        newest = self.house.log.latest(TENANT, session)
        return newest.head.interventions if newest is not None else ()

    def waits(self, session: str) -> bool:
        newest = self.house.log.latest(TENANT, session)
        return (
            newest is not None
            and newest.head.wait is not None
            and newest.head.wait.token in self.house.workflow.waiting
        )

    def allowed(self, act: Callable[[], object]) -> bool:
        """Whether it was taken; refused like a caller's mistake otherwise, never with another error."""
        try:
            act()
        except (CallerError, Fenced):
            return False
        return True


@pytest.mark.parametrize(("examples", "steps"), [(150, 30), (20, 120)])
def test_whatever_people_do_the_rules_of_sessions_hold(examples: int, steps: int) -> None:
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Sessions, settings=chosen)
