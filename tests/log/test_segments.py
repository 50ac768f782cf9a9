"""What a worker that starts cold reads: segments of the conversation, and the commits since the last one (ADR 58)."""

from collections.abc import Iterable, Mapping

import pytest

from acta.embedded.objects import SqliteObjects
from acta.embedded.table import SqliteTable
from acta.engine.errors import StoreUnavailable
from acta.engine.log.beside import (
    SEGMENT_COMMITS,
    SEGMENT_PREFIX,
    SEGMENTS_AT_ONCE,
    BlobMissing,
    BlobStore,
)
from acta.engine.log.commit import Decision, Position
from acta.engine.log.conversation import Content, Entry
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import LogPage
from acta.engine.store.schema import NEXT
from acta.engine.turn.engine import position
from tests.in_process.house import TENANT, House
from tests.in_process.longlog import CALLS, write
from tests.in_process.scripted import ScriptedModel, call, plans, says
from tests.sessions.reader import Reading, house_of, script
from tests.stores import in_memory

FEW = 3
"""Commits of a segment here, so that turns begin everywhere in one."""

GIVES_UP = says("", call("update_plan", action="fail", reason="over"))


class SegmentBlobs(S3Blobs):
    """Counts segments; `away`: none can be written."""

    def __init__(self) -> None:
        self.objects = SqliteObjects(SqliteTable(None))
        super().__init__(in_memory.BUCKET, self.objects)
        self.away = False
        self.read: list[str] = []
        self.written: list[str] = []

    def put_named(self, tenant: str, session_id: str, name: str, text: str) -> None:
        if name.startswith(SEGMENT_PREFIX):
            if self.away:
                raise StoreUnavailable("away")
            self.written.append(name)
        super().put_named(tenant, session_id, name, text)

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        wanted = tuple(names)
        self.read += [name for name in wanted if name.startswith(SEGMENT_PREFIX)]
        return super().get(tenant, session_id, wanted)


class WithoutSegments:
    """The same texts, as if no segment had ever been written."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def __getattr__(self, name: str) -> object:
        return getattr(self._blobs, name)

    def put_named(self, tenant: str, session_id: str, name: str, text: str) -> None:
        """Keeps nothing."""

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        wanted = tuple(names)
        if any(name.startswith(SEGMENT_PREFIX) for name in wanted):
            raise BlobMissing("never written")
        return self._blobs.get(tenant, session_id, wanted)


class CountingLog:
    """`numbers`: of every commit that was read; `reads`: how often the log was asked."""

    def __init__(self, house: House) -> None:
        self._log = house.log
        self.numbers: list[int] = []
        self.reads = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)

    def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
        self.reads += 1
        found = self._log.read(tenant, session_id, since, limit)
        self.numbers.extend(commit.number for commit in found.commits)
        return found


def few(house: House, blobs: BlobStore, log: object = None) -> SessionRepository:
    return SessionRepository(log or house.log, blobs, house.clock, segment_commits=FEW)  # type: ignore[arg-type]


def state(session: Session) -> dict[str, object]:
    """All that a turn gets of it. An entry's text counts, not whether it is stored apart as well."""
    return {
        "entries": [_plain(entry) for entry in session.entries],
        "pending": [_plain(entry) for entry in session.pending()],
        "orphans": session.orphans(),
        "waiting": list(session.waiting),
        "head": session.head,
        "number": session.number,
        "has_waited": session.has_waited,
    }


def _plain(entry: Entry) -> Entry:
    return entry.model_copy(update={"content": Content.of(entry.content.loaded)})


def played(blobs: SegmentBlobs) -> tuple[House, str, list[Decision]]:
    """A long run with large results, several compactions and words in between; its workers write segments."""
    house = house_of(Reading(script()))
    house.blobs = blobs
    house.repository = few(house, blobs)
    house.runtime = house.runtime._replace(repository=few(house, blobs))
    session = house.start("Read every file").session_id
    turns: list[Decision] = []

    def turn(decision: Decision) -> None:
        if decision.next in ("plan", "think"):
            turns.append(decision)
            _check(house, blobs, decision.at)
            if len(turns) % 5 == 0:
                house.say(session, f"And mind this, {len(turns)}.")

    house.run(turn)
    return house, session, turns


def _check(house: House, blobs: SegmentBlobs, at: Position) -> None:
    from_segments = few(house, blobs).conversation(at)
    from_the_log = few(house, WithoutSegments(blobs)).conversation(at)  # type: ignore[arg-type]
    assert state(from_segments) == state(from_the_log)


def test_at_every_turn_segments_have_the_conversation_that_the_log_has() -> None:
    blobs = SegmentBlobs()

    house, session, turns = played(blobs)

    head = house.head(session)
    assert head.state == "completed"
    assert head.compacted_at > 10
    assert len(turns) > 10
    assert blobs.read, "no cold worker met a segment"


def test_a_worker_that_is_cold_at_every_turn_asks_the_model_what_a_warm_one_asks() -> None:
    warm, cold = Reading(script()), Reading(script())
    house, other = house_of(warm), house_of(cold)
    blobs = SegmentBlobs()
    other.blobs = blobs
    for one in (house, other):
        one.start("Read every file")
    house.run()

    def chill(_: object) -> None:
        other.repository = few(other, blobs)

    other.run(chill)

    assert cold.requests == warm.requests
    assert blobs.read


LONG_TURNS = 100


def long_session() -> tuple[House, SegmentBlobs, Position]:
    house = House(ScriptedModel([]))
    blobs = SegmentBlobs()
    house.blobs = blobs
    long = write(
        house.log.append, blobs, house.clock, TENANT, LONG_TURNS, result=lambda turn: f"{turn} " * 9_000
    )
    head = house.head(long.session_id)
    assert head.run is not None
    last = 2 + (LONG_TURNS - 1) * (1 + CALLS)
    return (
        house,
        blobs,
        position(head.model_copy(update={"run": head.run.model_copy(update={"first": last})})),
    )


def test_a_cold_worker_reads_the_segments_in_one_look_and_of_the_log_what_has_none_yet() -> None:
    house, blobs, at = long_session()
    wrote_them = house.fresh_repository()
    for _ in range(2):
        wrote_them.conversation(at)
    blobs.read.clear()
    log = CountingLog(house)

    session = SessionRepository(log, blobs, house.clock).conversation(at)  # type: ignore[arg-type]

    covered = (at.first - 1) // SEGMENT_COMMITS * SEGMENT_COMMITS
    assert (log.reads, log.numbers) == (1, list(range(covered + 1, session.number + 1)))
    assert len(log.numbers) <= SEGMENT_COMMITS + CALLS
    assert len(blobs.read) == covered // SEGMENT_COMMITS
    assert len([entry for entry in session.entries if entry.kind == "assistant"]) == LONG_TURNS


def test_a_session_is_given_one_segment_for_so_many_commits_and_none_twice() -> None:
    turns = 3 * SEGMENT_COMMITS // 2
    blobs = SegmentBlobs()
    replies = [says("Next.", call("list_files", path=f"{number}")) for number in range(turns)]
    house = House(ScriptedModel([plans("look"), *replies, GIVES_UP]))
    house.blobs = blobs
    house.repository = house.fresh_repository()
    session = house.start("Look", max_steps=turns + 10).session_id

    house.run()

    number = house.repository.newest(TENANT, session).number
    assert number > 2 * turns
    assert len(blobs.written) == len(set(blobs.written)) == (number - 1) // SEGMENT_COMMITS


def test_segments_that_are_missing_are_written_by_whoever_had_to_read_the_log() -> None:
    house, blobs, at = long_session()
    log, last = CountingLog(house), 1 + LONG_TURNS * (1 + CALLS)

    repository = SessionRepository(log, blobs, house.clock)  # type: ignore[arg-type]
    repository.conversation(at)
    first = len(blobs.written)
    repository.conversation(at)

    assert sorted(log.numbers) == list(range(1, last + 1)), "it read the log, and each commit once"
    assert (first, len(blobs.written)) == (SEGMENTS_AT_ONCE, last // SEGMENT_COMMITS)


DAMAGES = {
    "is gone": None,
    "is no JSON": "{",
    "is another document": '{"version": 2, "entries": []}',
    "is of a release to come": f'{{"version": {NEXT + 1}}}',
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("nth", [0, -1])
def test_where_a_segment_cannot_be_read_the_log_is(damage: str | None, nth: int) -> None:
    house, blobs, at = long_session()
    whole = state(house.fresh_repository().conversation(at))
    names = sorted(
        name
        for name in in_memory.texts(blobs.objects, TENANT, at.session_id)
        if name.startswith(SEGMENT_PREFIX)
    )
    if damage is None:
        key = f"sessions/{TENANT}/{at.session_id}/{names[nth]}"
        blobs.objects.delete_object(Bucket=in_memory.BUCKET, Key=key)
    else:
        blobs.put_named(TENANT, at.session_id, names[nth], damage)
    blobs.written.clear()

    again = house.fresh_repository().conversation(at)

    assert state(again) == whole
    assert names[nth] in blobs.written, "it was not mended"


def test_segments_of_another_length_are_not_put_together() -> None:
    house, blobs, at = long_session()
    whole = state(house.fresh_repository().conversation(at))

    twice = SessionRepository(house.log, blobs, house.clock, segment_commits=2 * SEGMENT_COMMITS)

    assert state(twice.conversation(at)) == whole


def test_while_the_store_of_segments_is_away_the_session_goes_on() -> None:
    blobs = SegmentBlobs()
    blobs.away = True

    house, session, _ = played(blobs)

    assert house.head(session).state == "completed"
    assert blobs.written == []


def test_segments_are_erased_with_their_session() -> None:
    blobs = SegmentBlobs()
    house, session, _ = played(blobs)
    assert any(name.startswith(SEGMENT_PREFIX) for name in in_memory.texts(blobs.objects, TENANT, session))

    house.delete(session)

    assert in_memory.texts(blobs.objects, TENANT, session) == []
