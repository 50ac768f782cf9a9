"""A reply that was paid for outlives a store that has no time for it: it is not bought twice
(docs/design/log.md 26)."""

import json
from collections.abc import Callable, Iterable, Mapping

import pytest

from acta.engine.errors import Fenced, PoisonedSession, ProviderTimeout, StoreThrottled, StoreUnavailable
from acta.engine.log.beside import Marker
from acta.engine.log.commit import Commit, Decision
from acta.engine.log.dynamodb import DynamoAttempts, DynamoLog
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import NO_ITEMS, TransactionItems
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.recovery.handle_error import handle_error
from acta.engine.recovery.recover import recover
from acta.engine.turn.turn import take_turn
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, completes, plans, says, step
from tests.sessions.reader import (
    Reading,
    compactions,
    house_of,
    script,
    stops,
    summarises,
    until_the_first_summary,
)
from tests.stores import in_memory

LONG = "A line of a text that is kept elsewhere.\n" * 150


class Down:
    """What refuses at the moment, and how often it did."""

    def __init__(self) -> None:
        self.now: set[str] = set()
        self.refusals = 0
        self.last_of: Callable[[int], bool] = lambda refusals: False

    def check(self, what: str) -> None:
        if what in self.now:
            self.refusals += 1
            if self.last_of(self.refusals):
                self.now = set()
            raise StoreThrottled(what) if what == "log" else StoreUnavailable(what)


class ShakyLog(DynamoLog):
    def __init__(self, log: DynamoLog, down: Down) -> None:
        vars(self).update(vars(log))
        self.down = down

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        self.down.check("log")
        super().append(commit, extra_items)


class ShakyBlobs(S3Blobs):
    def __init__(self, blobs: S3Blobs, down: Down) -> None:
        vars(self).update(vars(blobs))
        self.down = down

    def put(self, tenant: str, session_id: str, text: str) -> str:
        self.down.check("blobs")
        return super().put(tenant, session_id, text)

    def put_named(self, tenant: str, session_id: str, name: str, text: str) -> None:
        self.down.check("blobs")
        super().put_named(tenant, session_id, name, text)

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        self.down.check("blobs")
        return super().get(tenant, session_id, names)


class ShakyAttempts(DynamoAttempts):
    def __init__(self, attempts: object, down: Down) -> None:
        vars(self).update(vars(attempts))
        self.down = down

    def write(self, tenant: str, session_id: str, marker: Marker, *, after: str | None) -> None:
        self.down.check("marker")
        super().write(tenant, session_id, marker, after=after)


def shaky(house: House) -> Down:
    """From now on its stores refuse what they are told to."""
    down = Down()
    house.log, house.blobs = ShakyLog(house.log, down), ShakyBlobs(house.blobs, down)
    house.attempts = ShakyAttempts(house.attempts, down)
    return down


def house_with(*replies: Turn) -> tuple[House, str, Decision, Down, ScriptedModel]:
    model = ScriptedModel(replies)
    house = House(model)
    session = house.start("Look").session_id
    first = house.workflow.take()
    assert first is not None
    return house, session, first, shaky(house), model


def goes_down(down: Down, *what: str) -> Callable[[], None]:
    """While the model thinks."""

    def happens() -> None:
        down.now = set(what)

    return happens


def plan(house: House, at: Decision, attempt: int = 0, seconds: float = 60) -> Decision:
    """By a process of its own."""
    house.repository = house.fresh_repository()
    return take_turn(house.worker, "plan", at.at, attempt, seconds).decision


def paid_once_and_told(house: House, session: str, model: ScriptedModel) -> None:
    head = house.head(session)
    assert len(model.requests) == head.usage.llm_calls == 1
    assert head.budget.vanished_tokens == 0
    assert [row.error for row in house.history(session).steps()] == [None]
    assert head.plan is not None
    assert head.state == "executing"


def test_a_store_that_is_short_of_time_gets_it_while_the_worker_lives() -> None:
    house, session, first, down, model = house_with(plans("look"))
    model.meanwhile = goes_down(down, "log")
    down.last_of = lambda refusals: refusals == 5

    assert plan(house, first).next == "think"

    assert down.refusals == 5
    assert 0 < len(house.clock.pauses) == 5
    paid_once_and_told(house, session, model)


@pytest.mark.parametrize("away", [("log",), ("log", "blobs"), ("blobs",)], ids="+".join)
def test_a_reply_that_cannot_be_committed_is_kept_for_the_next_attempt(away: tuple[str, ...]) -> None:
    """Long enough for a text of its own, so that the blob store alone can keep it from being committed."""
    planned = plans("look")._replace(thinking=LONG)
    house, session, first, down, model = house_with(planned)
    model.meanwhile = goes_down(down, *away)
    with pytest.raises((StoreThrottled, StoreUnavailable)):
        plan(house, first)
    down.now = set()

    assert plan(house, first, 1).next == "think"

    paid_once_and_told(house, session, model)


def test_where_every_store_refuses_the_reply_is_bought_again_and_both_are_charged() -> None:
    house, session, first, down, model = house_with(plans("look"), plans("look"))
    model.meanwhile = goes_down(down, "log", "blobs", "marker")
    with pytest.raises(StoreThrottled):
        plan(house, first)
    down.now, model.meanwhile = set(), lambda: None
    plan(house, first, 1)
    head, rows = house.head(session), list(house.history(session).steps())
    assert (len(model.requests), head.usage.llm_calls) == (2, 1)
    assert [row.error for row in rows] == ["VANISHED", None]
    assert head.budget.vanished_tokens == rows[0].estimated_tokens > 0


def test_with_no_time_left_it_is_kept_at_once() -> None:
    house, session, first, down, model = house_with(plans("look"))

    def slowly() -> None:
        house.clock.advance(64.9)
        down.now = {"log"}

    model.meanwhile = slowly
    with pytest.raises(StoreThrottled):
        plan(house, first)
    assert (down.refusals, house.clock.pauses) == (1, [])
    down.now = set()
    plan(house, first, 1)
    paid_once_and_told(house, session, model)


def test_the_next_execution_finds_it_too() -> None:
    house, session, first, down, model = house_with(plans("look"))
    model.meanwhile = goes_down(down, "log")
    with pytest.raises(StoreThrottled):
        plan(house, first)
    down.now = set()
    house.workflow.close(first)
    assert recover(house.fresh_repository(), house.workflow, TENANT, session) == "restarted"
    second = house.workflow.take()
    assert second is not None
    plan(house, second)
    paid_once_and_told(house, session, model)


def test_a_message_that_came_meanwhile_is_shown_by_the_next_turn() -> None:
    script = plans("look"), says("", step(1, "completed", "ok")), completes("Done.")
    house, session, first, down, model = house_with(*script)
    model.meanwhile = goes_down(down, "log")
    with pytest.raises(StoreThrottled):
        plan(house, first)
    down.now, model.meanwhile = set(), lambda: None
    house.say(session, "And mind the step.")

    house.go_on(plan(house, first, 1))

    head = house.head(session)
    assert (head.state, head.undelivered, len(model.requests)) == ("completed", (), 3)
    assert [entry.content.loaded for entry in model.requests[1].entries][-1] == "And mind the step."


def test_it_is_there_after_the_wait_that_follows_the_engines_retries() -> None:
    house, session, first, down, model = house_with(plans("look"))
    model.meanwhile = goes_down(down, "log")
    for attempt in range(3):
        with pytest.raises(StoreThrottled):
            plan(house, first, attempt)
    down.now = set()
    waits = handle_error(house.app(), first.at, "StoreThrottled")
    assert (waits.next, house.head(session).state_reason) == ("wait", "waiting_for_aws")
    assert house.head(session).budget.vanished_tokens == 0, "it did not vanish"
    house.clock.advance(waits.wait_seconds or 0)

    plan(house, waits)

    paid_once_and_told(house, session, model)


def test_a_kept_reply_of_one_turn_is_not_taken_for_anothers() -> None:
    house, _, first, down, model = house_with(plans("look"), says("Hm."))
    model.meanwhile = goes_down(down, "log")
    with pytest.raises(StoreThrottled):
        plan(house, first)
    down.now, model.meanwhile = set(), lambda: None
    following = plan(house, first, 1)
    take_turn(house.worker, "think", following.at, 1, 60)
    assert len(model.requests) == 2


def test_a_summary_that_cannot_be_committed_is_kept_as_well() -> None:
    model = Reading(script(), stops)
    house = house_of(model)
    session = house.start("Read every file").session_id
    at = until_the_first_summary(house).at
    down, asked = shaky(house), 0

    def summarises_once(request: ModelRequest) -> ModelReply:
        nonlocal asked
        asked += 1
        if asked == 1:
            down.now = {"log"}
        return summarises(request)

    model.summariser = summarises_once
    house.repository = house.fresh_repository()
    with pytest.raises(StoreThrottled):
        take_turn(house.worker, "think", at, 0, 60)
    down.now = set()
    house.repository = house.fresh_repository()
    take_turn(house.worker, "think", at, 1, 60)
    assert asked == 1
    assert [one.data["summarised"] for one in compactions(house, session)] == [True]


def test_a_reply_in_the_marker_is_used_while_the_blob_store_is_still_away() -> None:
    house, session, first, down, model = house_with(plans("look"))
    model.meanwhile = goes_down(down, "log", "blobs")
    with pytest.raises(StoreThrottled):
        plan(house, first)
    down.now = {"blobs"}

    assert plan(house, first, 1).next == "think"

    paid_once_and_told(house, session, model)


def test_a_wait_is_committed_while_the_blob_store_is_away_and_the_next_turn_settles() -> None:
    house, session, first, down, model = house_with(plans("look"))
    model.meanwhile = goes_down(down, "log")
    with pytest.raises(StoreThrottled):
        plan(house, first)
    down.now, down.refusals = {"blobs"}, 0

    waits = handle_error(house.app(), first.at, "StoreUnavailable")

    head = house.head(session)
    assert (waits.next, head.state_reason, head.budget.vanished_tokens) == ("wait", "waiting_for_aws", 0)
    assert down.refusals == 1, "a store that hangs is asked once, so that there is time for the commit"
    house.clock.advance(waits.wait_seconds or 0)
    down.now = set()
    plan(house, waits)
    paid_once_and_told(house, session, model)


def test_the_blob_store_is_not_asked_for_the_reply_of_attempts_that_failed() -> None:
    house, session, first, down, model = house_with(ProviderTimeout("silent"))
    model.meanwhile = goes_down(down, "blobs")
    with pytest.raises(ProviderTimeout):
        plan(house, first)
    handle_error(house.app(), first.at, "ProviderTimeout")
    assert down.refusals == 0
    assert house.head(session).budget.vanished_tokens > 0


def test_a_damaged_kept_reply_is_bought_again() -> None:
    house, session, first, down, model = house_with(plans("look"), plans("look"))
    model.meanwhile = goes_down(down, "log")
    with pytest.raises(StoreThrottled):
        plan(house, first)
    down.now, model.meanwhile = set(), lambda: None
    house.blobs = DamagedBlobs("s", house.objects)
    assert plan(house, first, 1).next == "think"
    assert (len(model.requests), house.head(session).usage.llm_calls) == (2, 1)


class DamagedBlobs(S3Blobs):
    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        raise PoisonedSession("a stored text cannot be read")


def test_the_reply_of_a_worker_that_was_given_up_while_it_thought_is_committed_by_the_next_turn() -> None:
    """The engine lost sight of the worker, and the wait was committed and charged while it lived."""
    house, session, first, _, model = house_with(plans("look"))
    waits: list[Decision] = []
    model.meanwhile = lambda: waits.append(handle_error(house.app(), first.at, "Lambda.SdkClientException"))
    with pytest.raises(Fenced):
        plan(house, first)
    assert house.head(session).budget.vanished_tokens > 0
    house.clock.advance(waits[0].wait_seconds or 0)

    assert plan(house, waits[0]).next == "think"

    head, rows = house.head(session), list(house.history(session).steps())
    assert (len(model.requests), head.usage.llm_calls) == (1, 1)
    assert [row.error for row in rows] == ["VANISHED", None]
    assert head.budget.vanished_tokens == sum(row.estimated_tokens for row in rows) == 0


def test_the_reply_of_a_worker_whose_session_was_cancelled_and_begun_anew_is_not_kept() -> None:
    house, session, first, _, model = house_with(plans("look"))

    def happens() -> None:
        house.cancel(session)
        house.say(session, "Something else")

    model.meanwhile = happens
    with pytest.raises(Fenced):
        plan(house, first)
    assert in_memory.texts(house.objects, TENANT, session) == []


def test_a_kept_reply_is_committed_though_the_tenants_hour_carries_no_further_call() -> None:
    model = ScriptedModel((plans("look"),))
    house = House(model, tenant_tokens_per_hour=1_000_000)
    session = house.start("Look").session_id
    first, down = house.workflow.take(), shaky(house)
    assert first is not None
    model.meanwhile = goes_down(down, "log")
    with pytest.raises(StoreThrottled):
        plan(house, first)
    down.now = set()
    house.clock.advance(3_600)
    house.settings = house.settings.but(tenant_tokens_per_hour=1)

    assert plan(house, first, 1).next == "think"

    paid_once_and_told(house, session, model)


def test_a_reply_that_the_next_release_kept_is_not_bought_again() -> None:
    house, session, first, down, model = house_with(plans("look"))
    model.meanwhile = goes_down(down, "log")
    with pytest.raises(StoreThrottled):
        plan(house, first)
    down.now = set()
    (name,) = in_memory.texts(house.objects, TENANT, session)
    stored = json.loads(house.blobs.get(TENANT, session, (name,))[name])
    house.blobs.put_named(TENANT, session, name, json.dumps(stored | {"region": "north"}))

    assert plan(house, first, 1).next == "think"

    paid_once_and_told(house, session, model)
