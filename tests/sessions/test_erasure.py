"""A deleted session leaves nothing behind, whatever a worker that was late, or a deletion, did last (ADR 44)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from acta.engine.agents.agent import DEFAULT_AGENT
from acta.engine.errors import LimitReached, PoisonedSession, SchemaUnknown, StoreThrottled
from acta.engine.log.commit import Commit, IdempotencyKey
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.repository import SessionRepository
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import NO_ITEMS, Erasure, KeyTaken, LivePage, TransactionItems
from acta.engine.people.requester import Requester
from acta.engine.sessions.delete import ErasureProgress, erase_again
from acta.engine.sessions.fork import fork, parent_at
from acta.engine.sessions.start import NewSession
from tests.in_process.house import TENANT, USER, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.stores import in_memory

LONG = "A line that is stored elsewhere.\n" * 200
LATE = "What comes after the deletion.\n" * 200
TURNS = [
    plans("look"),
    says(LONG, call("list_files")),
    says(LATE, step(1, "completed", "ok")),
    completes("Done."),
]


class Crash(BaseException):
    """The worker is gone."""


class Dying(DynamoLog):
    """Its worker dies before it appends a commit of this kind, or in the deletion of the items."""

    def __init__(self, log: DynamoLog, before: str) -> None:
        vars(self).update(vars(log))
        self.before = before

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        if commit.key.endswith(self.before):
            raise Crash
        super().append(commit, extra_items)

    def delete(self, tenant: str, session_id: str) -> None:
        if self.before == "items":
            raise Crash
        super().delete(tenant, session_id)


class Unreadable(DynamoLog):
    def __init__(self, log: DynamoLog, error: Exception | None = None) -> None:
        vars(self).update(vars(log))
        self.error = error or PoisonedSession("damaged")

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        raise self.error


class Throttled(S3Blobs):
    """For one session."""

    def __init__(self, blobs: S3Blobs, session: str) -> None:
        vars(self).update(vars(blobs))
        self.session = session

    def delete_all(self, tenant: str, session_id: str) -> None:
        if session_id == self.session:
            raise StoreThrottled("delete_objects: SlowDown")
        super().delete_all(tenant, session_id)


class ErasedHouse(House):
    def __init__(self, script: list[Any] = TURNS, **settings: Any) -> None:
        self.scripted = ScriptedModel(script)
        super().__init__(self.scripted, **settings)
        self.failures: list[tuple[str, str]] = []

    def begun(self) -> str:
        """A session that has said something long."""
        session = self.start("Look").session_id
        self.run()
        return session

    def erase_again(self, time_is_left: bool = True) -> int:
        return self.erased_again(lambda: time_is_left).sessions

    def erased_again(self, time_is_left: Callable[[], bool], cursor: str | None = None) -> ErasureProgress:
        def failed(session: str, error: Exception) -> None:
            self.failures.append((session, type(error).__name__))

        return erase_again(self.app(), time_is_left, failed, cursor)

    def when_all_workers_are_gone(self) -> None:
        self.clock.advance(self.settings.erase_again_seconds + 1)

    def noted(self) -> list[str]:
        page = self.index.erasures(before=None, limit=100, cursor=None)
        return [each.session_id for each in page.sessions]

    def texts(self, session: str) -> list[str]:
        return in_memory.texts(self.objects, TENANT, session)


def with_a_deletion_in_its_last_turn(house: ErasedHouse) -> str:
    """The worker has its reply, and a log on which it is to die or to lose."""
    session = house.start("Look").session_id

    def delete() -> None:
        if len(house.scripted.requests) == 3:
            house.delete(session)

    house.scripted.meanwhile = delete
    return session


def test_what_a_worker_stored_after_the_deletion_before_it_died_is_erased_for_good() -> None:
    house = ErasedHouse()
    session = with_a_deletion_in_its_last_turn(house)
    house.repository = SessionRepository(Dying(house.log, "3/think"), house.blobs, house.clock)
    with pytest.raises(Crash):
        house.run()
    assert len(house.texts(session)) == 1

    assert house.erase_again() == 0  # that worker may be at it still
    assert house.texts(session)
    house.when_all_workers_are_gone()
    assert house.erase_again() == 1

    assert house.texts(session) == []
    assert house.noted() == []
    assert house.erase_again() == 0


def test_what_a_worker_stored_before_it_found_its_session_deleted_is_erased_for_good() -> None:
    house = ErasedHouse()
    session = with_a_deletion_in_its_last_turn(house)
    house.run()
    assert len(house.texts(session)) == 1
    house.when_all_workers_are_gone()
    house.erase_again()
    assert house.texts(session) == []
    assert house.log.latest(TENANT, session) is None


def test_a_deletion_that_was_cut_short_after_its_commit_is_finished_though_nobody_repeats_it() -> None:
    house = ErasedHouse()
    session = house.begun()
    whole = house.log
    house.log = Dying(whole, "items")
    with pytest.raises(Crash):
        house.delete(session)
    house.log = whole
    assert house.texts(session)

    house.when_all_workers_are_gone()
    assert house.erase_again() == 1

    assert house.texts(session) == []
    assert house.index.sessions(TENANT, states=(), agent_id=None, limit=9, cursor=None).entries == ()
    assert house.log.read(TENANT, session, 1).commits == ()


def test_a_damaged_session_too_is_erased_once_more() -> None:
    house = ErasedHouse()
    session = house.begun()
    whole = house.log
    house.log = Unreadable(whole)
    house.delete(session)
    house.log = whole
    house.blobs.put(TENANT, session, LATE)

    house.when_all_workers_are_gone()
    assert house.erase_again() == 1
    assert house.texts(session) == []


def test_a_session_that_lives_is_never_erased() -> None:
    house = ErasedHouse([*TURNS, *TURNS])
    kept, gone = house.begun(), house.begun()
    house.delete(gone)
    house.clock.advance(timedelta(days=400).total_seconds())
    texts = house.texts(kept)
    assert texts
    assert house.erase_again() == 1
    assert house.texts(kept) == texts
    assert house.head(kept).state == "completed"


def test_one_that_cannot_be_erased_stops_no_other_and_is_tried_again() -> None:
    house = ErasedHouse([*TURNS, *TURNS])
    stuck, other = house.begun(), house.begun()
    house.delete(stuck)
    house.delete(other)
    house.when_all_workers_are_gone()
    whole = house.blobs
    house.blobs = Throttled(whole, stuck)

    assert house.erase_again() == 1
    assert house.failures == [(stuck, "StoreThrottled")]
    assert house.noted() == [stuck]

    house.blobs = whole
    assert house.erase_again() == 1
    assert house.noted() == []


def test_without_time_nothing_is_erased_and_everything_stays_noted() -> None:
    house = ErasedHouse()
    session = house.begun()
    house.delete(session)
    house.when_all_workers_are_gone()
    assert house.erase_again(time_is_left=False) == 0
    assert house.noted() == [session]


def test_a_note_that_comes_after_its_session_has_begun_ends_and_erases_nothing() -> None:
    """AWS carries out a request that the client has given up, after its repeat and after the first commit."""
    house = ErasedHouse()
    session = house.start(LONG).session_id
    house.log.note_erasure(Erasure(TENANT, session, house.clock.now()))
    house.when_all_workers_are_gone()

    assert house.erase_again() == 0
    assert (house.noted(), house.failures) == ([], [])
    house.run()
    assert house.head(session).state == "completed"


def test_a_session_that_a_newer_release_wrote_stays_noted() -> None:
    house = ErasedHouse()
    session = house.begun()
    house.log.note_erasure(Erasure(TENANT, session, house.clock.now()))
    house.when_all_workers_are_gone()
    whole, house.log = house.log, Unreadable(house.log, SchemaUnknown("newer"))
    assert house.erase_again() == 0
    assert (house.noted(), house.failures) == ([session], [(session, "SchemaUnknown")])
    house.log = whole
    assert house.texts(session)


def test_erasing_goes_on_where_it_stopped_whatever_cannot_be_erased() -> None:
    house = ErasedHouse([*TURNS, *TURNS, *TURNS])
    for _ in range(3):
        house.delete(house.begun())
        house.clock.advance(1)
    house.when_all_workers_are_gone()
    first, _, third = house.noted()
    house.blobs = Throttled(house.blobs, first)
    pages = Pages(house, of=1)
    house.index = pages

    answers = iter([True] * 4 + [False])  # two pages, with one session each
    cursor = house.erased_again(lambda: next(answers)).cursor
    assert house.noted() == [first, third]
    assert house.erased_again(lambda: True, cursor).cursor is None
    assert house.noted() == [first]
    assert house.erased_again(lambda: True, "no cursor of this listing").sessions == 0


class Pages(DynamoIndex):
    """`of`: so many sessions at most."""

    def __init__(self, house: House, of: int) -> None:
        vars(self).update(vars(house.index))
        self._of = of

    def erasures(self, *, before: datetime | None, limit: int, cursor: str | None) -> LivePage:
        most = self._of if before is not None else limit
        return super().erasures(before=before, limit=most, cursor=cursor)


TWO_STARTS = {"*": {"starts_per_minute": 2}}


def forked(house: ErasedHouse, parent: str, key: IdempotencyKey | None = None) -> str:
    requester = Requester(TENANT, USER, frozenset({"member"}), key=key)
    repository = house.fresh_repository()
    new = NewSession(
        agent_id=DEFAULT_AGENT,
        message="On",
        max_steps=9,
        token_budget=50_000,
        cost_budget_usd=None,
        review_every=0,
    )
    found = parent_at(repository, requester, parent, None)
    return fork(repository, house.workflow, requester, found, new).session_id


def test_a_fork_keeps_its_texts() -> None:
    house = ErasedHouse()
    fork_id = forked(house, house.begun())
    assert house.texts(fork_id)
    assert house.noted() == []
    house.when_all_workers_are_gone()
    assert house.erase_again() == 0
    assert house.texts(fork_id)


def test_what_a_refused_fork_has_copied_is_erased() -> None:
    house = ErasedHouse()
    parent = house.begun()
    key = IdempotencyKey(TENANT, "POST /v1/sessions", "k", "h", 202)
    first = forked(house, parent, key)
    with pytest.raises(KeyTaken):
        forked(house, parent, key)
    (refused,) = house.noted()
    assert refused != first
    assert house.texts(refused)

    house.when_all_workers_are_gone()

    assert house.erase_again() == 1
    assert (house.texts(refused), house.noted()) == ([], [])
    assert house.texts(first)
    assert house.head(first).forked_from is not None


def test_a_fork_that_a_limit_refuses_copies_nothing() -> None:
    house = ErasedHouse(tenant_limits=TWO_STARTS)
    parent = house.begun()
    house.start("Another")
    with pytest.raises(LimitReached):
        forked(house, parent)
    assert house.noted() == []


def test_a_refused_start_leaves_its_long_message_nowhere() -> None:
    house = ErasedHouse(tenant_limits=TWO_STARTS)
    house.start("One")
    house.start(LONG)
    before = house.objects.list_objects_v2(Bucket=in_memory.BUCKET)
    with pytest.raises(LimitReached):
        house.start(LATE)
    assert house.objects.list_objects_v2(Bucket=in_memory.BUCKET) == before
