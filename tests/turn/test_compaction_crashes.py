"""A run with compactions ends as the undisturbed one wherever its worker dies (docs/design/recovery.md 1)."""

from collections.abc import Iterable, Mapping

import pytest

from acta.engine.log.commit import Commit
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.repository import SessionRepository
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import NO_ITEMS, LogPage, TransactionItems
from acta.engine.models.model import ModelReply, ModelRequest
from tests.in_process.house import House
from tests.sessions.reader import Reading, compactions, house_of, script

FILES = 6


class Crash(BaseException):
    """The Lambda dies: nothing may catch it."""


class Fuse:
    """Burns at the nth outgoing call: before it, or after it was done."""

    def __init__(self, nth: int = 0, *, after: bool = False) -> None:
        self.nth, self.after, self.count = nth, after, 0

    def before(self) -> None:
        self.count += 1
        if self.count == self.nth and not self.after:
            raise Crash

    def behind(self) -> None:
        if self.count == self.nth and self.after:
            self.nth = 0
            raise Crash


class FusedLog(DynamoLog):
    """The given log with a fuse before it."""

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


class FusedBlobs(S3Blobs):
    def __init__(self, blobs: S3Blobs, fuse: Fuse) -> None:
        vars(self).update(vars(blobs))
        self.fuse = fuse

    def put(self, tenant: str, session_id: str, text: str) -> str:
        self.fuse.before()
        name = super().put(tenant, session_id, text)
        self.fuse.behind()
        return name

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        self.fuse.before()
        found = super().get(tenant, session_id, names)
        self.fuse.behind()
        return found


class ByTurn(Reading):
    """Says what belongs to the session's turn, however often it is asked."""

    house: House
    session: str
    fuse: Fuse

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self.fuse.before()
        if request.tools:
            run = self.house.head(self.session).run
            assert run is not None
            reply = script(FILES)[run.turn - 1]
            assert isinstance(reply, ModelReply)
            self.requests.append(request)
        else:
            reply = super().complete(request, timeout=timeout)
        self.fuse.behind()
        return reply


def run(fuse: Fuse) -> tuple[House, ByTurn]:
    """The engine makes a step again, in a process that knows nothing, where the one before died."""
    model = ByTurn([])
    house = house_of(model, files=FILES)
    model.house, model.session, model.fuse = house, house.start("Read every file").session_id, fuse
    run_to_the_end(house, fuse)
    return house, model


def run_to_the_end(house: House, fuse: Fuse) -> None:
    """The engine makes a step again, in a process that knows nothing, where the one before died."""
    log, house.blobs = FusedLog(house.log, fuse), FusedBlobs(house.blobs, fuse)
    start_afresh(house, log)
    try:
        house.run()
    except Crash:
        start_afresh(house, log)
        house.go_on(house.decisions[-1])


def start_afresh(house: House, log: DynamoLog) -> None:
    """New processes for both functions; what the test itself looks at has no fuse."""
    house.repository = SessionRepository(log, house.blobs, house.clock)
    house.runtime = house.runtime._replace(repository=SessionRepository(log, house.blobs, house.clock))


def told(house: House, model: ByTurn) -> tuple[object, ...]:
    last = [(entry.kind, entry.content.loaded) for entry in model.requests[-1].entries]
    head = house.head(model.session)
    events = [one.event.type for one in house.poll(model.session).events]
    figures = [one.data for one in compactions(house, model.session)]
    return last, events, figures, head.state, head.result and head.result.answer, head.usage


CLEAN = run(Fuse())
CALLS = CLEAN[1].fuse.count


def test_the_undisturbed_run_is_compacted_and_completes() -> None:
    house, model = CLEAN
    assert house.head(model.session).state == "completed"
    assert compactions(house, model.session)
    assert CALLS > 40


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("nth", range(1, CALLS + 1))
def test_a_worker_that_dies_at_any_call_changes_nothing(nth: int, after: bool) -> None:
    house, model = run(Fuse(nth, after=after))
    assert told(house, model) == told(*CLEAN)
