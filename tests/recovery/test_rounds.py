"""What one round of recovery has to do takes no time of another one (docs/design/recovery.md 17, ADR 116)."""

from collections.abc import Callable
from datetime import timedelta

from acta.engine.log.store import LIVE_SHARDS, LiveKind
from acta.engine.queue.places import GrantPrice
from acta.engine.recovery.store import RoundCounts
from acta.engine.recovery.sweep import Sought, SweepDeps, Unreadable, sweep
from acta.engine.turn.engine import ExecutionStatus
from tests.in_process.queues import PROVIDER, QueueHouse
from tests.in_process.scripted import ScriptedModel, plans
from tests.runs.fragile import GRACE, SCRIPT, FragileHouse

LOST, OTHERS = 10, 80
STATUS_SECONDS = 1.0
"""A quota so small that a minute of requests for statuses is not enough for the others."""
SECONDS = 45


def slow(house: QueueHouse | FragileHouse) -> None:
    status = house.workflow.status

    def told(session_id: str, run_id: str, generation: int) -> ExecutionStatus:
        house.clock.advance(STATUS_SECONDS)
        return status(session_id, run_id, generation)

    house.workflow.status = told  # type: ignore[method-assign]


def round_of(house: QueueHouse | FragileHouse, sought: Sought) -> RoundCounts:
    end = house.clock.now() + timedelta(seconds=SECONDS)
    time_is_left: Callable[[], bool] = lambda: house.clock.now() < end  # noqa: E731
    return sweep(SweepDeps(house.app(), Unreadable(), time_is_left), sought)


def kinds(house: QueueHouse, *wanted: LiveKind) -> list[int]:
    def count(kind: LiveKind) -> int:
        pages = [house.index.live(kind, s, before=None, limit=999, cursor=None) for s in range(LIVE_SHARDS)]
        return sum(len(page.sessions) for page in pages)

    return [count(kind) for kind in wanted]


def test_sessions_at_their_first_call_after_a_line_keep_recovery_from_no_lost_one() -> None:
    house = QueueHouse(ScriptedModel([plans("a")], forever=True), requests=12_000, tenant_tokens_per_hour=0)
    house.tenant = "acme"
    for _ in range(LOST):
        house.start("Look")
    while (decision := house.workflow.take()) is not None:
        house.workflow.close(decision)
    house.line.take_for("", PROVIDER, GrantPrice(0, 60_000), house.clock.now())
    for _ in range(OTHERS):
        house.start("Look")
    house.run()
    house.clock.advance(90)
    house.dispatch(most=10_000)
    assert kinds(house, "woken", "active") == [0, LOST + OTHERS]
    assert len(list(house.workflow.running())) == OTHERS
    slow(house)
    house.clock.advance(GRACE)

    assert round_of(house, "due") == RoundCounts(looked=LOST, restarted=LOST)
    assert round_of(house, "woken") == RoundCounts()


def test_decisions_whose_wake_up_may_be_lost_keep_recovery_from_no_deadline() -> None:
    house = FragileHouse([*SCRIPT[:2]] * OTHERS)
    for _ in range(OTHERS):
        session = house.start("Tidy up").session_id
        house.run()
        (asked,) = house.head(session).interventions
        house.resolve(session, asked, "approve")
        while house.workflow.take() is not None:
            pass
    lost = house.start("Tidy up").session_id
    house.lose(lost)
    slow(house)
    house.clock.advance(GRACE + 1)

    assert round_of(house, "due") == RoundCounts(looked=1, restarted=1)
    woken = round_of(house, "woken")
    assert (woken.looked, woken.left) == (SECONDS, OTHERS - SECONDS)


def test_a_deadline_comes_before_everything_else_that_is_due() -> None:
    house = FragileHouse([*SCRIPT[:2]])
    asking = house.start("Tidy up").session_id
    house.run()
    house.lose(asking)
    for _ in range(OTHERS):
        house.lose(house.start("Tidy up").session_id)
    slow(house)
    (asked,) = house.head(asking).interventions
    assert asked.timeout_at is not None
    house.clock.set(asked.timeout_at)

    assert round_of(house, "due").left == OTHERS + 1 - SECONDS
    run = house.head(asking).run
    assert run is not None
    assert run.generation == 2
