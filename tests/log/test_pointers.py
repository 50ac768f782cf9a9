"""Blob first, pointer after: whatever dies when, each pointer that anybody can read resolves
(docs/design/log.md 18)."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

import pytest

from acta.engine.log.beside import pointers, read_compacted
from acta.engine.log.commit import Commit
from acta.engine.log.conversation import Entry, ToolEntry
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.repository import SessionRepository
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import NO_ITEMS, LogPage, TransactionItems
from acta.engine.models.model import ModelReply, ModelRequest
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step
from tests.stores import in_memory

WINDOW = 9_000
LONG = "Nothing in this line matters much.\n" * 600
SCRIPT: tuple[Turn, ...] = (
    plans("read and write"),
    says(LONG, call("read_file", path="a.txt"), call("read_file", path="b.txt")),
    says("", call("create_file", path="c.txt", content=LONG)),
    says("", call("read_file", path="a.txt"), call("read_file", path="c.txt")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
)


class Crash(BaseException):
    """The worker dies: nothing may catch it."""


class Fuse:
    """Burns at the nth call of a store, before or after it is done; `look` sees what is stored then."""

    def __init__(self, nth: int = 0, *, after: bool = False) -> None:
        self.nth, self.after, self.count = nth, after, 0

    def before(self) -> None:
        self.count += 1
        if self.count == self.nth and not self.after:
            self.nth = 0
            raise Crash

    def behind(self) -> None:
        if self.count == self.nth and self.after:
            self.nth = 0
            raise Crash


class FusedLog(DynamoLog):
    def __init__(self, log: DynamoLog, fuse: Fuse) -> None:
        vars(self).update(vars(log))
        self.fuse = fuse

    def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
        self.fuse.before()
        found = super().read(tenant, session_id, since, limit)
        self.fuse.behind()
        return found

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        self.fuse.before()
        super().append(commit, extra_items)
        self.fuse.behind()

    def delete(self, tenant: str, session_id: str) -> None:
        self.fuse.before()
        super().delete(tenant, session_id)
        self.fuse.behind()


class FusedBlobs(S3Blobs):
    def __init__(self, blobs: S3Blobs, fuse: Fuse) -> None:
        vars(self).update(vars(blobs))
        self.fuse = fuse

    def put(self, tenant: str, session_id: str, text: str) -> str:
        self.fuse.before()
        name = super().put(tenant, session_id, text)
        self.fuse.behind()
        return name

    def put_named(self, tenant: str, session_id: str, name: str, text: str) -> None:
        self.fuse.before()
        super().put_named(tenant, session_id, name, text)
        self.fuse.behind()

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        self.fuse.before()
        return super().get(tenant, session_id, names)

    def delete_all(self, tenant: str, session_id: str) -> None:
        self.fuse.before()
        super().delete_all(tenant, session_id)
        self.fuse.behind()


class ByTurn(ScriptedModel):
    """Says what belongs to the session's turn, however often it is asked."""

    house: House
    session: str

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        if not request.tools:
            return says("It was all read.")
        run = self.house.head(self.session).run
        assert run is not None
        reply = SCRIPT[run.turn - 1]
        assert isinstance(reply, ModelReply)
        return reply


class Stage:
    """The house whose workers have a fuse, and the stores as anybody else sees them."""

    def __init__(self, fuse: Fuse) -> None:
        self.model = ByTurn([])
        self.house = House(self.model, context_tokens=WINDOW)
        for name in ("a.txt", "b.txt"):
            self.house.files.write(TENANT, name, LONG.encode())
        self.log, self.blobs = self.house.log, FusedBlobs(self.house.blobs, Fuse())
        self.house.blobs = self.blobs
        self.model.house = self.house
        self.session = self.model.session = self.house.start(LONG).session_id
        self.blobs.fuse = fuse
        self.fused = FusedLog(self.log, fuse)
        self.start_afresh()

    def start_afresh(self) -> None:
        self.house.repository = SessionRepository(self.fused, self.blobs, self.house.clock, segment_commits=3)
        self.house.runtime = self.house.runtime._replace(
            repository=SessionRepository(self.fused, self.blobs, self.house.clock)
        )

    def run(self) -> None:
        try:
            self.house.run()
        except Crash:
            self.all_resolve()
            self.start_afresh()
            self.house.go_on(self.house.decisions[-1])

    def delete(self) -> None:
        self.house.log = self.fused
        self.house.delete(self.session)

    def all_resolve(self) -> int:
        """How many pointers there are."""
        names = [
            name for commit in self.log.read(TENANT, self.session, 1).commits for name in self.named(commit)
        ]
        there = set(self.texts())
        assert there.issuperset(names)
        return len(names)

    def texts(self) -> list[str]:
        return in_memory.texts(self.house.objects, TENANT, self.session)

    def named(self, commit: Commit) -> Iterator[str]:
        yield from of_entries(commit.entries)
        if commit.compacted is None:
            return
        text = commit.compacted.text
        if commit.compacted.blob is not None:
            yield commit.compacted.blob
            text = S3Blobs.get(self.blobs, TENANT, self.session, [commit.compacted.blob])[
                commit.compacted.blob
            ]
        compacted = read_compacted(text or "")
        yield from of_entries((*compacted.entries, *compacted.waiting, *compacted.results))


def of_entries(entries: Iterable[Entry]) -> Iterator[str]:
    listed = tuple(entries)
    yield from pointers(listed)
    for entry in listed:
        if isinstance(entry, ToolEntry) and entry.whole is not None and entry.whole.blob is not None:
            yield entry.whole.blob


def played(fuse: Fuse) -> Stage:
    stage = Stage(fuse)
    stage.run()
    return stage


CLEAN = Fuse()
STAGE = played(CLEAN)
CALLS = CLEAN.count


def test_the_undisturbed_run_has_pointers_of_every_kind() -> None:
    head = STAGE.house.head(STAGE.session)
    assert head.state == "completed"
    assert head.compacted_at
    assert STAGE.all_resolve() > 10
    assert any(name.startswith("conversation-") for name in STAGE.texts())
    assert CALLS > 40


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("nth", range(1, CALLS + 1))
def test_wherever_a_worker_dies_every_pointer_in_the_log_resolves(nth: int, after: bool) -> None:
    stage = played(Fuse(nth, after=after))
    assert stage.house.head(stage.session).state == "completed"
    assert stage.all_resolve() > 10


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("nth", range(1, 6))
def test_a_deletion_that_dies_leaves_no_pointer_behind_its_blobs(nth: int, after: bool) -> None:
    stage = played(Fuse())
    stage.fused.fuse = stage.blobs.fuse = Fuse(nth, after=after)
    with suppress(Crash):
        stage.delete()
    stage.all_resolve()
    stage.fused.fuse = stage.blobs.fuse = Fuse()
    with suppress(Exception):
        stage.delete()
    assert stage.log.latest(TENANT, stage.session) is None
    assert stage.texts() == []
