"""What ended longer ago than the deployment keeps it is deleted, and nothing else is (ADR 86)."""

from collections.abc import Callable

from acta.engine.errors import StoreThrottled
from acta.engine.log.commit import Commit
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.store import NO_ITEMS, FailedPage, TransactionItems
from acta.engine.recovery.store import EndedPlace
from acta.engine.sessions.delete import PARTS, delete_ended
from tests.api.gateway import Context
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.stores import in_memory

LONG = "A line that is stored elsewhere.\n" * 200
TURNS = (
    plans("look"),
    says(LONG, call("list_files")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
)
ASKING = (plans("delete"), says("", call("delete_file", path="a.txt")))
MINUTE, DAY = 60, 86_400


class KeptHouse(House):
    """Runs recovery's part each minute of a day."""

    def __init__(self, *turns: object, days: int = 30) -> None:
        super().__init__(ScriptedModel(turns), ended_sessions_days=days)  # type: ignore[arg-type]
        self.failures: list[str] = []
        self.seconds_left: Callable[[], bool] = lambda: True
        self.place: EndedPlace | None = None

    def ended(self) -> str:
        session = self.start("Look").session_id
        self.run()
        return session

    def look(self) -> int:
        def failed(session: str, error: Exception) -> None:
            self.failures.append(session)

        deleted, self.place = delete_ended(self.app(), self.seconds_left, failed, self.place)
        return deleted

    def a_day_passes(self) -> int:
        deleted = 0
        for _ in range(PARTS):
            self.clock.advance(MINUTE)
            deleted += self.look()
        return deleted

    def days_pass(self, days: int) -> None:
        self.clock.advance(days * DAY)

    def is_there(self, session: str) -> bool:
        return self.log.latest(TENANT, session) is not None


def test_a_session_is_deleted_with_its_texts_within_a_day_after_its_time() -> None:
    house = KeptHouse(*TURNS)
    session = house.ended()
    house.days_pass(29)
    assert house.a_day_passes() == 0
    assert house.a_day_passes() == 1
    assert not house.is_there(session)
    assert in_memory.texts(house.objects, TENANT, session) == []
    noted = house.index.erasures(before=None, limit=9, cursor=None).sessions
    assert [each.session_id for each in noted] == [session], "a late worker's texts would stay"


def test_without_the_setting_nothing_is_looked_at() -> None:
    house = KeptHouse(*TURNS, days=0)
    session = house.ended()
    house.days_pass(4_000)
    assert house.a_day_passes() == 0
    assert house.is_there(session)


def test_what_waits_or_is_idle_is_kept() -> None:
    house = KeptHouse(*ASKING)
    waiting, idle = house.start("Tidy").session_id, house.start(None).session_id
    house.run()
    house.days_pass(400)
    assert house.a_day_passes() == 0
    assert house.is_there(waiting)
    assert house.is_there(idle)


def test_a_message_begins_the_time_anew() -> None:
    house = KeptHouse(*TURNS, *TURNS)
    session = house.ended()
    house.days_pass(20)
    house.say(session, "Once more")
    house.run()
    house.days_pass(20)
    assert house.a_day_passes() == 0
    assert house.is_there(session)


def test_a_session_that_goes_on_in_this_moment_is_kept() -> None:
    house = KeptHouse(*TURNS)
    session = house.ended()
    house.days_pass(31)
    said: list[str] = []

    class Racing(DynamoLog):
        """Somebody writes before the deletion is committed."""

        def __init__(self, log: DynamoLog) -> None:
            vars(self).update(vars(log))

        def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
            if commit.head.deleted and not said:
                said.append(session)
                House.say(house, session, "Once more")
            super().append(commit, extra_items)

    before = house.log
    house.log = Racing(before)
    for _ in range(PARTS):
        house.clock.advance(MINUTE)
        house.look()
    assert said == [session]
    assert house.is_there(session)
    assert house.head(session).state == "planning"


def test_a_session_that_cannot_be_deleted_stops_no_other() -> None:
    house = KeptHouse(*TURNS, *TURNS)
    bad, good = house.ended(), house.ended()

    class Throttled(DynamoLog):
        def __init__(self, log: DynamoLog) -> None:
            vars(self).update(vars(log))

        def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
            if commit.head.session_id == bad:
                raise StoreThrottled("put_item")
            super().append(commit, extra_items)

    house.log = Throttled(house.log)
    house.days_pass(31)
    assert house.a_day_passes() == 1
    assert (house.is_there(bad), house.is_there(good)) == (True, False)
    assert house.failures == [bad]


def test_without_time_nothing_is_begun() -> None:
    house = KeptHouse(*TURNS)
    house.ended()
    house.days_pass(31)
    house.seconds_left = lambda: False
    assert house.a_day_passes() == 0


class EmptyPages(DynamoIndex):
    """A part of so many pages that have nothing but commits, and then the sessions."""

    def __init__(self, house: House, pages: int) -> None:
        vars(self).update(vars(house.index))
        self._pages = pages
        self.read = 0

    def ended(self, *, part: int, parts: int, limit: int, cursor: str | None) -> FailedPage:
        self.read += 1
        number = int(cursor or 0)
        if number < self._pages:
            return FailedPage((), str(number + 1))
        return super().ended(part=0, parts=1, limit=limit, cursor=None)


def test_pages_without_a_session_take_no_more_time_than_there_is_and_the_next_call_goes_on_after_them() -> (
    None
):
    house = KeptHouse(*TURNS)
    session = house.ended()
    house.days_pass(31)
    house.index = index = EmptyPages(house, pages=100)

    house.seconds_left = lambda: False
    assert (house.look(), index.read) == (0, 0)
    for call_number in (1, 2):
        house.clock.advance(MINUTE)
        house.seconds_left = lambda most=call_number * 40: index.read < most  # type: ignore[misc]
        assert (house.look(), index.read) == (0, call_number * 40)
    house.seconds_left = lambda: True
    house.clock.advance(MINUTE)
    assert house.look() == 1
    assert not house.is_there(session)


def test_parts_whose_minute_was_missed_are_looked_through_once_however_long_that_was() -> None:
    house = KeptHouse(*TURNS)
    house.look()
    session = house.ended()
    house.days_pass(31)
    house.index = index = EmptyPages(house, pages=0)
    assert house.look() == 1
    assert index.read == PARTS, "a month later each part is due once"
    house.clock.advance(MINUTE * 10)
    house.look()
    assert index.read == PARTS + 10
    assert not house.is_there(session)


def test_recovery_looks_each_minute() -> None:
    house = KeptHouse(*TURNS)
    session = house.ended()
    house.days_pass(31)
    recovery = house.recovery()
    for _ in range(PARTS):
        house.clock.advance(MINUTE)
        recovery.handle({"round": "housekeeping"}, Context())
    assert not house.is_there(session)
