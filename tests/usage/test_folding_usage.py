"""What the projector adds up is what the sessions have counted, in whatever way the stream tells of their commits."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.embedded.table import SqliteTable
from acta.engine.aws.errors import NOT_FOUND, AwsRefused
from acta.engine.errors import PoisonedSession, SchemaUnknown, StoreThrottled
from acta.engine.log.commit import Commit
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.head import SessionState, Usage
from acta.engine.log.store import Erasure, TransactionItems
from acta.engine.usage.fold import FoldResult, fold
from acta.engine.usage.store import Fold, FoldLost, StreamCommit, SumsRefused, UsagePartition
from acta.engine.usage.tally import Done, ModelUse, Tally
from acta.engine.usage.usage import NOTHING, Amounts, Dimension, Rows, UsageBaseline, counted, hour_of
from acta.testing.clock import FakeClock
from tests.doubles.audit import PlainPseudonyms
from tests.doubles.usage import MemoryUsage
from tests.stores.documents import NOW, make_commit, make_head

TENANT = "acme"
ALWAYS = 10**9
WHO = PlainPseudonyms()


class World:
    def __init__(self) -> None:
        self.table = SqliteTable(None)
        self.log = DynamoLog("t", FakeClock(), self.table)
        self.usage = MemoryUsage(self.table)

    def commit(self, made: Commit) -> StreamCommit:
        erasure = Erasure(TENANT, made.head.session_id, made.at) if made.head.deleted else None
        self.log.append(made, TransactionItems(erasure=erasure))
        return StreamCommit(UsagePartition(TENANT, made.head.session_id), made.number, made.at)

    def fold(self, *commits: StreamCommit) -> FoldResult:
        return fold(self.usage, WHO, commits)

    def sums(self, dimension: Dimension) -> dict[str, Amounts]:
        found: dict[str, Amounts] = {}
        for key, amounts in self.usage.rows(TENANT, dimension, 0, ALWAYS):
            found[key.name] = found.get(key.name, NOTHING).plus(amounts)
        return found


def of(
    session: str, number: int, *, at: datetime = NOW, state: SessionState = "executing", **fields: object
) -> Commit:
    """A commit of a session that has used ten times its number of everything."""
    used = 10 * number
    use = ModelUse(calls=number, input=used, cached=number, output=used, microdollars=used)
    head = make_head(
        TENANT,
        session,
        **{
            "updated_at": at,
            "state": state,
            "created_by": "ann",
            "usage": Usage(
                input_tokens=used, cached_input_tokens=number, output_tokens=used, llm_calls=number
            ),
            "tally": Tally(done=Done(runs=1, tools_ok=number, step_ms=used), models={"small": use}),
            **fields,
        },
    )
    return make_commit(TENANT, session, number, head=head).model_copy(update={"at": at})


def total(heads: Iterable[Commit]) -> Amounts:
    """What the sessions themselves say: their counts, and where each stands."""
    found = NOTHING
    for each in heads:
        now = counted(each.head, each.number, "")
        found = found.plus(now.amounts).plus(Amounts(**{now.standing: 1}))
    return found


class Story(NamedTuple):
    """Sessions' commits, and the batches in which the stream brings them."""

    commits: tuple[Commit, ...]
    batches: tuple[tuple[int, ...], ...]
    """Places in `commits`."""


@st.composite
def stories(draw: st.DrawFn) -> Story:
    commits: list[Commit] = []
    for session in ("ses_1", "ses_2"):
        at = NOW
        for number in range(1, draw(st.integers(1, 6)) + 1):
            at += timedelta(minutes=draw(st.integers(0, 200)))
            state: SessionState = draw(
                st.sampled_from(("executing", "waiting_for_user", "completed", "failed"))
            )
            ended = draw(
                st.dictionaries(st.sampled_from(("completed/x", "failed/y", "cancelled")), st.just(number))
            )
            models = {"small": ModelUse(calls=number, input=10 * number, cached=number, output=10 * number)}
            tally = Tally(done=Done(runs=number, waited_ms=7 * number), models=models, ended=ended)
            commits.append(of(session, number, at=at, state=state, tally=tally))
    places = st.lists(st.integers(0, len(commits) - 1), max_size=8).map(tuple)
    drawn = draw(st.lists(places, max_size=6))
    last = {commit.head.session_id: place for place, commit in enumerate(commits)}
    drawn.insert(
        draw(st.integers(0, len(drawn))), tuple(last.values())
    )  # nothing comes after the last ones for ever
    return Story(tuple(commits), tuple(drawn))


@given(stories())
def test_the_sums_are_those_of_the_sessions_whatever_comes_twice_late_or_never(story: Story) -> None:
    world = World()
    told = [world.commit(each) for each in story.commits]
    for batch in story.batches:
        world.fold(*(told[place] for place in batch))
    newest = {each.head.session_id: each for each in story.commits}.values()

    expected = total(newest)
    for dimension in ("tenant", "agent", "user"):
        (found,) = world.sums(dimension).values()
        assert found == expected, dimension
    (of_model,) = world.sums("model").values()
    assert (of_model.fresh, of_model.output) == (expected.fresh, expected.output)
    ends: dict[str, int] = {}
    for each in newest:
        for end, count in each.head.tally.ended.items():
            ends[end] = ends.get(end, 0) + count
    assert {end: row.runs for end, row in world.sums("end").items() if row.runs} == ends


def test_commits_of_one_batch_share_a_write() -> None:
    world = World()
    told = [world.commit(of(session, number)) for session in ("ses_1", "ses_2") for number in (1, 2, 3)]
    assert world.fold(*told) == FoldResult(sessions=2, unread=0, writes=1)
    assert world.fold(*told) == FoldResult(), "all of it is counted"


def test_what_is_used_in_an_hour_is_in_its_row() -> None:
    world = World()
    later = NOW + timedelta(hours=1)
    told = [
        world.commit(of("ses_1", 1)),
        world.commit(of("ses_1", 3)),
        world.commit(of("ses_1", 4, at=later)),
    ]
    world.fold(*told)
    rows = {key.at: row for key, row in world.usage.rows(TENANT, "tenant", 0, ALWAYS)}
    assert rows[hour_of(NOW)].output == 30
    assert rows[hour_of(later)].output == 10
    assert rows[hour_of(NOW)].active == 1, "a session belongs to the hour that it began in"
    assert rows[hour_of(later)].active == 0


def test_a_session_is_where_it_stands_now() -> None:
    world = World()
    world.fold(world.commit(of("ses_1", 1)))
    world.fold(world.commit(of("ses_1", 2, state="completed", at=NOW + timedelta(hours=3))))
    (row,) = (row for key, row in world.usage.rows(TENANT, "tenant", 0, ALWAYS) if key.at == hour_of(NOW))
    assert (row.active, row.completed) == (0, 1)


def test_a_deleted_session_stays_counted_whatever_it_had_used_last() -> None:
    world = World()
    world.fold(world.commit(of("ses_1", 1)))
    world.commit(of("ses_1", 5, state="completed"))
    gone = world.commit(of("ses_1", 6, state="completed", deleted=True))
    world.log.delete(TENANT, "ses_1")

    assert world.fold(gone) == FoldResult(sessions=1, unread=0, writes=1)
    (found,) = world.sums("tenant").values()
    assert (found.output, found.deleted, found.active) == (60, 1, 0)
    assert set(world.sums("user")) == {"p_acme_ann"}, "the subject itself is stored nowhere"
    assert world.usage.left(UsagePartition(TENANT, "ses_1")) is None, "nothing is left of it"
    assert world.fold(gone) == FoldResult(sessions=0, unread=1, writes=0)


def test_a_session_that_was_counted_by_another_projector_meanwhile_is_counted_once() -> None:
    world = World()
    told = world.commit(of("ses_1", 2))

    class Raced(MemoryUsage):
        def add(self, folds: Sequence[Fold], rows: Rows) -> None:
            if self.lost:
                self.lost = 0
                super().add(folds, rows)
                raise FoldLost
            super().add(folds, rows)

    world.usage = Raced(world.table)
    world.usage.lost = 1
    assert world.fold(told).sessions == 0
    (found,) = world.sums("tenant").values()
    assert found.output == 20


def test_a_batch_that_others_are_always_faster_with_comes_again() -> None:
    world = World()
    world.usage.lost = 99
    with pytest.raises(StoreThrottled):
        world.fold(world.commit(of("ses_1", 1)))


def test_many_sessions_are_written_in_several_parts() -> None:
    world = World()
    told = [world.commit(of(f"ses_{number}", 1, created_by=f"user {number}")) for number in range(60)]
    folded = world.fold(*told)
    assert folded.sessions == 60
    assert 1 < folded.writes < 10
    (found,) = world.sums("tenant").values()
    assert found.output == 600


def test_a_tenant_is_told_up_to_when_it_is_counted() -> None:
    world = World()
    assert world.usage.counted_until(TENANT) is None
    world.fold(world.commit(of("ses_1", 1, at=NOW + timedelta(minutes=5))))
    assert world.usage.counted_until(TENANT) == NOW + timedelta(minutes=5)


def test_what_another_shard_counts_later_takes_nothing_back() -> None:
    world = World()
    newest = NOW + timedelta(minutes=5)
    world.fold(world.commit(of("ses_1", 1, at=newest)))
    world.fold(world.commit(of("ses_2", 1, at=NOW + timedelta(minutes=1))))
    assert world.usage.counted_until(TENANT) == newest


def test_a_tenant_is_not_said_to_be_counted_before_the_last_part_of_its_commits_is() -> None:
    world = World()
    told = [world.commit(of(f"ses_{number}", 1, created_by=f"user {number}")) for number in range(60)]

    class Stopped(MemoryUsage):
        def add(self, folds: Sequence[Fold], rows: Rows) -> None:
            if self.writes == 1:
                raise StoreThrottled("transact_write_items")
            super().add(folds, rows)

    world.usage = Stopped(world.table)
    with pytest.raises(StoreThrottled):
        world.fold(*told)
    assert world.usage.writes == 1
    assert world.usage.counted_until(TENANT) is None


class Damaged(MemoryUsage):
    """What was counted of this session cannot be read."""

    def __init__(self, usage: MemoryUsage, session: str, error: Exception) -> None:
        vars(self).update(vars(usage))
        self._bad, self._error = UsagePartition(TENANT, session), error

    def counted(self, partitions: Sequence[UsagePartition]) -> Mapping[UsagePartition, UsageBaseline | None]:
        if self._bad in partitions:
            raise self._error
        return super().counted(partitions)


@pytest.mark.parametrize(
    "error", [PoisonedSession("damaged"), SchemaUnknown("newer"), SumsRefused("more than 38 digits")]
)
def test_a_count_that_cannot_be_read_is_told_and_holds_no_other_session_up(error: Exception) -> None:
    world = World()
    sessions = [f"ses_{number}" for number in range(30)]
    commits = [world.commit(of(session, 1)) for session in sessions]
    told: list[tuple[UsagePartition, Exception]] = []
    damaged = Damaged(world.usage, "ses_7", error)

    done = fold(damaged, WHO, commits, on_unreadable=lambda *what: told.append(what))

    assert (done.sessions, done.unread) == (29, 1)
    assert told == [(UsagePartition(TENANT, "ses_7"), error)]
    assert world.fold(*commits).sessions == 1, "once it can be read again a commit of it counts all"
    assert world.sums("tenant")[""].calls == 30


@pytest.mark.parametrize("error", [StoreThrottled("get_item"), AwsRefused("get_item", NOT_FOUND)])
def test_a_store_that_is_away_is_no_damage_and_brings_the_batch_again(error: Exception) -> None:
    world = World()
    away = Damaged(world.usage, "ses_1", error)
    with pytest.raises(type(error)):
        fold(away, WHO, [world.commit(of("ses_1", 1)), world.commit(of("ses_2", 1))])
