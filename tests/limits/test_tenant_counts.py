"""What a tenant has open is counted truly, wherever workers die and whoever races; no limit is passed (ADR 65)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from acta.engine.errors import CallerError, LimitReached, SessionNotFound, TooManyOpenSessions
from acta.engine.log.head import Head
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.recovery.repair import repair
from acta.engine.recovery.sweep import SweepDeps, Unreadable, sweep
from acta.engine.store.table_layout import item_commit
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.recovery.failed_runs import fail_from_outside
from tests.stores import in_memory

MANY: dict[str, Any] = {"*": {"open_sessions": 50, "starts_per_minute": 200}}
ASKS = says("Which one?", call("update_plan", action="wait_for_user", reason="Which one?"))
DONE = says("", step(1, "completed", "done"))
SCRIPTS: dict[str, list[ModelReply]] = {
    "ask me": [plans("ask"), ASKS, DONE, completes("Yes.")],
    "just do it": [plans("do"), DONE, completes("Done.")],
    "give up": [plans("try"), says("", call("update_plan", action="fail", reason="It cannot be done."))],
}


class Crash(BaseException):
    """The worker is gone: nothing between here and the test may swallow it."""


class Fuse:
    """Burns at the nth outgoing call: before it, or after it was done."""

    def __init__(self, nth: int, *, after: bool) -> None:
        self.nth, self.after, self.count = nth, after, 0

    def call(self, act: Callable[[], Any]) -> Any:
        self.count += 1
        burns = self.count == self.nth
        if burns and not self.after:
            raise Crash
        done = act()
        if burns:
            raise Crash
        return done


class Fused:
    """A port with a fuse before it. What only the test's engine calls has none."""

    def __init__(self, port: Any, fuse: Fuse, *, without: tuple[str, ...] = ()) -> None:
        self._port, self._fuse, self._without = port, fuse, without

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if name in self._without or not callable(found):
            return found
        return lambda *args, **named: self._fuse.call(lambda: found(*args, **named))


class ByGoal(ScriptedModel):
    """Says what belongs to the goal and the turn of the session that asks, however often it is asked."""

    def __init__(self) -> None:
        super().__init__([])
        self.head: Callable[[], Head]

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        head = self.head()
        assert head.run is not None
        replies = SCRIPTS[head.goal]
        return replies[min(head.run.turn, len(replies)) - 1]


class Life:
    """A tenant whose sessions start, wait, end, begin anew, fail, are repaired, cancelled and deleted."""

    def __init__(self, fuse: Fuse, **settings: Any) -> None:
        model = ByGoal()
        self.house = house = House(model, **{"tenant_limits": MANY, **settings})
        self.raw, self.raw_index = house.log, house.index
        engine = ("take", "close", "wait", "expire")
        house.workflow = Fused(house.workflow, fuse, without=engine)  # type: ignore[assignment]
        house.index = Fused(house.index, fuse)  # type: ignore[assignment]
        house.log = Fused(house.log, fuse)  # type: ignore[assignment]
        house.blobs = Fused(house.blobs, fuse)  # type: ignore[assignment]
        house.attempts = Fused(house.attempts, fuse)
        model.head = lambda: self.of(house.decisions[-1].at.session_id)
        self.start_afresh()

    def start_afresh(self) -> None:
        house = self.house
        house.repository = house.fresh_repository()
        house.runtime = house.runtime._replace(repository=house.fresh_repository())

    def heads(self) -> list[Head]:
        """The newest of each session that is there."""
        return [item_commit(each[-1]).head for each in in_memory.commits(self.house.table).values()]

    def of(self, session_id: str) -> Head:
        return next(head for head in self.heads() if head.session_id == session_id)

    @property
    def newest(self) -> str:
        """Raises SessionNotFound where its start never came about."""
        heads = self.heads()
        if not heads:
            raise SessionNotFound("There is no such session.")
        return heads[-1].session_id

    @property
    def is_true(self) -> bool:
        return self.raw_index.counts(TENANT).open == sum(head.is_open for head in self.heads())

    def sweep(self) -> None:
        self.house.clock.advance(61)
        sweep(SweepDeps(self.house.app(session_index=self.raw_index), Unreadable()), "everything")

    def steps(self) -> list[Callable[[], object]]:
        house = self.house
        run = house.run
        return [
            lambda: house.start("ask me"),
            run,
            lambda: house.pause(self.newest),
            lambda: house.resume(self.newest),
            lambda: house.say(self.newest, "That one."),
            run,
            lambda: house.say(self.newest, "just do it"),
            run,
            lambda: house.start(None),
            lambda: house.say(self.newest, "give up"),
            run,
            lambda: house.say(self.newest, "just do it"),
            lambda: house.cancel(self.newest),
            lambda: house.say(self.newest, "just do it"),
            run,
            lambda: house.start("ask me"),
            lambda: house.delete(self.newest),
            lambda: house.start("ask me"),
            run,
            self.fail,
            lambda: repair(house.fresh_repository(), house.workflow, TENANT, self.newest),
            run,
            lambda: house.start("ask me"),
            run,
        ]

    def fail(self) -> None:
        if self.of(self.newest).is_open:  # it is another one where a start never came about
            fail_from_outside(self.house, self.newest)

    def live(self) -> None:
        for act in self.steps():
            try:
                with suppress(CallerError):
                    act()
            except Crash:
                assert self.is_true
                self.start_afresh()
                self.sweep()
                self.house.run()
            assert self.is_true

    def end(self) -> None:
        for head in self.heads():
            with suppress(SessionNotFound):  # deleted before a worker died; this erases it
                self.house.delete(head.session_id)
            assert self.is_true


def test_the_undisturbed_life_is_counted_truly_and_ends_with_nothing_open() -> None:
    life = Life(Fuse(0, after=False))
    life.live()
    assert [head.state for head in life.heads()] == ["completed"] * 3 + ["waiting_for_user"]
    assert life.raw_index.counts(TENANT).open == 1
    life.end()
    assert life.raw_index.counts(TENANT).open == 0


@pytest.mark.thorough
@pytest.mark.parametrize("after", [False, True])
def test_wherever_a_worker_dies_what_is_counted_is_what_is_open(after: bool) -> None:
    """At every outgoing call in turn, before it and after it was done."""
    fuse = Fuse(0, after=after)
    Life(fuse).live()
    calls = fuse.count
    assert calls > 100
    for nth in range(1, calls + 1):
        life = Life(Fuse(nth, after=after))
        life.live()
        life.end()
        assert life.raw_index.counts(TENANT).open == 0, f"after a crash at call {nth}"


def test_of_many_starts_at_once_as_many_succeed_as_may() -> None:
    house = House(ByGoal(), tenant_limits={"*": {"open_sessions": 7}})

    def start(number: int) -> bool:
        try:
            house.start("ask me")
        except TooManyOpenSessions:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(start, range(40))) == 7
    assert house.index.counts(TENANT).open == 7


def test_a_message_that_would_begin_a_run_is_refused_like_a_start_and_any_other_is_not() -> None:
    house = House(ByGoal(), tenant_limits={"*": {"open_sessions": 1, "starts_per_minute": 3}})
    idle = house.start(None).session_id
    busy = house.start("ask me").session_id
    with pytest.raises(TooManyOpenSessions):
        house.say(idle, "just do it")
    assert house.head(idle).state == "idle"
    house.say(busy, "and quickly")
    house.cancel(busy)
    house.say(idle, "just do it")
    house.cancel(idle)
    with pytest.raises(LimitReached) as refused:
        house.say(busy, "again")
    assert refused.value.quota.name == "starts"
    assert house.head(busy).state == "cancelled"


def test_pausing_resuming_deciding_cancelling_and_deleting_are_no_starts() -> None:
    house = House(ByGoal(), tenant_limits={"*": {"open_sessions": 1, "starts_per_minute": 1}})
    session = house.start("ask me").session_id
    house.pause(session)
    house.resume(session)
    house.pause(session)
    (asked,) = house.head(session).interventions
    house.resolve(session, asked, "continue")
    house.cancel(session)
    house.delete(session)
    assert house.index.counts(TENANT).open == 0


def test_a_run_that_a_message_begins_while_its_session_is_deleted_counts_no_longer() -> None:
    """Between the deletion's cancel and its last commit."""
    house = House(ByGoal(), tenant_limits=MANY)
    session = house.start("ask me").session_id
    stop = house.workflow.stop

    def stop_late(session_id: str, run_id: str, generation: int) -> None:
        house.workflow.stop = stop  # type: ignore[method-assign]
        house.say(session, "just do it")
        stop(session_id, run_id, generation)

    house.workflow.stop = stop_late  # type: ignore[method-assign]
    house.delete(session)
    assert house.index.counts(TENANT).open == 0


def test_a_tenant_without_limits_costs_and_counts_nothing() -> None:
    house = House(ByGoal())
    session = house.start("ask me").session_id
    assert in_memory.items(house.table, "O") == []
    assert not house.head(session).counted


def test_each_tenant_has_its_own_limit_or_that_of_every_one() -> None:
    house = House(ByGoal(), tenant_limits={"*": {"open_sessions": 1}, TENANT: {"open_sessions": 2}})
    house.start("ask me")
    house.start("ask me")
    with pytest.raises(TooManyOpenSessions):
        house.start("ask me")


class TestACountThatHasToBecomeTrue:
    """Sessions were open before there was a limit."""

    def test_a_session_is_counted_by_its_next_commit_whatever_that_is(self) -> None:
        life = Life(Fuse(0, after=False), tenant_limits={})
        session = life.house.start("ask me").session_id
        limited(life.house)
        life.house.pause(session)
        assert life.raw_index.counts(TENANT).open == 1
        life.house.cancel(session)
        assert life.raw_index.counts(TENANT).open == 0

    def test_one_that_was_never_counted_is_not_taken_out_when_it_ends(self) -> None:
        life = Life(Fuse(0, after=False), tenant_limits={})
        session = life.house.start("ask me").session_id
        limited(life.house)
        life.house.cancel(session)
        assert life.raw_index.counts(TENANT).open == 0

    def test_a_limit_that_is_lifted_leaves_no_count_behind(self) -> None:
        life = Life(Fuse(0, after=False))
        session = life.house.start("ask me").session_id
        life.house.settings = life.house.settings.but(tenant_limits={})
        life.house.pause(session)
        assert life.raw_index.counts(TENANT).open == 0


def limited(house: House) -> None:
    """The next deployment has limits."""
    house.settings = house.settings.but(tenant_limits=MANY)


def test_the_next_minute_has_its_own_starts() -> None:
    house = House(ByGoal(), tenant_limits={"*": {"starts_per_minute": 2}})
    for _ in range(3):
        house.start(None)
        house.start(None)
        with pytest.raises(LimitReached) as refused:
            house.start(None)
        house.clock.advance(timedelta(seconds=refused.value.retry_after).total_seconds())
