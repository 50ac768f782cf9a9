"""What has failed is forgotten with a reply or a finished tool call, and with no wait of any kind
(docs/design/recovery.md 9)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from acta.engine.errors import EngineError, ProviderUnavailable
from acta.engine.log.commit import Decision
from acta.engine.log.head import Head
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.queue.places import GrantPrice
from acta.engine.recovery.outage import MOST_CRASHES
from acta.engine.recovery.recover import recover
from acta.engine.sessions.answers import session_view
from tests.api.gateway import Answer
from tests.api.session_functions import Person
from tests.in_process.house import House
from tests.in_process.queues import QueueHouse
from tests.in_process.scripted import ScriptedModel, Turn, completes, plans, says, step


class Crash(EngineError):
    """A worker dies: the engine knows no more than a name."""


class Slow:
    """Drives one session as Step Functions and recovery do, by the clock: waits end when their time has come."""

    def __init__(self, house: House, session: str, before_each_try: Callable[[], object]) -> None:
        self.house, self.session = house, session
        self.before_each_try = before_each_try
        self.began = house.clock.now()
        self.seen: list[Head] = []
        self._timers: list[tuple[datetime, Decision]] = []
        house.park_after = 600
        house._waited = self._set_timer  # type: ignore[method-assign, assignment]

    def _set_timer(self, decision: Decision) -> None:
        until = self.house.clock.now() + timedelta(seconds=decision.wait_seconds or 0)
        self._timers.append((until, Decision(next=decision.then or "think", at=decision.at)))

    @property
    def head(self) -> Head:
        return self.house.fresh_repository().newest(self.house.tenant, self.session).head

    def until_asked(self, most: timedelta) -> Head:
        """Until a person is asked, for so long at most."""
        house = self.house
        self.before_each_try()
        house.run()
        while house.clock.now() - self.began < most and not self.head.interventions:
            now = house.clock.now()
            due = [timer for timer in self._timers if timer[0] <= now]
            self._timers = [timer for timer in self._timers if timer not in due]
            for _, decision in due:
                self.before_each_try()
                house.go_on(decision)
            head = self.head
            if head.run and head.run.parked and head.delay and head.delay.until and head.delay.until <= now:
                self.before_each_try()
                recover(house.fresh_repository(), house.workflow, house.tenant, self.session)
                house.run()
            if isinstance(house, QueueHouse):
                self.seen.append(self.head)
                house.dispatch(most=3)
                house.run()
            self.seen.append(self.head)
            house.clock.advance(60)
        return self.head


def failing(error: Exception) -> ScriptedModel:
    def reply(request: ModelRequest) -> ModelReply:
        raise error

    return ScriptedModel([reply], forever=True)


def at_a_busy_provider(error: Exception) -> Slow:
    """Its provider's bucket is full whenever the session comes back, so it queues before each try."""
    house = QueueHouse(failing(error), requests=600, tenant_tokens_per_hour=0)
    session = house.start("Look", token_budget=5_000_000).session_id

    def fill() -> None:
        house.line.take_for("", "scripted", GrantPrice(0, 20_000), house.clock.now())

    return Slow(house, session, fill)


def test_crashes_are_counted_through_the_provider_s_queue() -> None:
    slow = at_a_busy_provider(Crash("x"))
    head = slow.until_asked(timedelta(hours=3))

    assert isinstance(slow.house.model, ScriptedModel)
    assert "queued" in [seen.state_reason for seen in slow.seen], (
        "it has been in the queue between its crashes"
    )
    assert [one.type for one in head.interventions] == ["error_recovery"]
    assert head.interventions[0].timeout_at is None, "only a person decides"
    assert len(slow.house.model.requests) == MOST_CRASHES + 1


def test_crashes_are_counted_through_waits_for_tokens() -> None:
    house = House(failing(Crash("x")), tenant_tokens_per_hour=0)
    session = house.start("Look " * 24_000, token_budget=150_000).session_id
    waited: list[str | None] = []

    def look(decision: Decision) -> None:
        if decision.next == "wait":
            waited.append(house.head(session).state_reason)

    house.run(look)

    assert isinstance(house.model, ScriptedModel)
    assert set(waited) == {"waiting_for_aws", "waiting_for_tokens"}
    assert [one.type for one in house.head(session).interventions] == ["error_recovery"]
    assert len(house.model.requests) == MOST_CRASHES + 1


@pytest.mark.thorough
def test_the_patience_with_a_provider_ends_though_the_session_queues_before_each_try() -> None:
    slow = at_a_busy_provider(ProviderUnavailable("away"))
    head = slow.until_asked(timedelta(hours=30))

    assert "queued" in [seen.state_reason for seen in slow.seen]
    assert [one.default_action for one in head.interventions] == ["retry"]
    assert slow.house.clock.now() - slow.began < timedelta(hours=25)


def with_history() -> tuple[House, str]:
    """A session whose third model call and the one after it find no provider."""
    away = ProviderUnavailable("away")
    script: list[Turn] = [
        plans("write"),
        away,
        away,
        says("", step(1, "completed", "ok")),
        completes("Done."),
    ]
    house = House(ScriptedModel(script))
    return house, house.start("Write it down").session_id


def test_only_a_person_s_decision_begins_the_patience_again_and_it_keeps_what_has_failed() -> None:
    house, session = with_history()
    seen: list[Head] = []

    def pause(decision: Decision) -> None:
        if decision.next == "wait" and not seen:
            seen.append(house.head(session))
            house.pause(session)

    house.run(pause)
    house.clock.advance(7_200)
    house.resume(session)
    before, after = seen[0].outage, house.head(session).outage
    assert before is not None
    assert after is not None
    assert (after.since, after.waits, after.code) == (before.since, before.waits, "PROVIDER_UNAVAILABLE")
    assert after.patient_from == house.clock.now()

    house.run()
    head = house.head(session)
    assert (head.state, head.outage, head.delay) == ("completed", None, None)


def test_while_a_try_is_made_a_session_shows_no_wait_and_says_that_it_tries_again() -> None:
    house, session = with_history()
    seen: list[Any] = []

    def look(decision: Decision) -> None:
        head = house.head(session)
        shown: Any = session_view(head, now=house.clock.now())
        seen.append((decision.next, shown["retrying"], shown["retry_at"] is not None, shown["state_reason"]))
        if head.outage is not None:
            assert shown["cause"]["code"] == "PROVIDER_UNAVAILABLE"

    house.run(look)
    waits, tries = ("wait", False, True, "waiting_for_provider"), ("think", True, False, None)
    assert seen[2:6] == [waits, tries, waits, tries]
    ended: Any = session_view(house.head(session))
    assert (ended["retrying"], ended["cause"]) == (False, None)


def test_a_snapshot_is_another_one_as_soon_as_the_wait_is_over_though_nothing_was_committed() -> None:
    house, session = with_history()
    person, answers = Person(house), list[Answer]()

    def look(decision: Decision) -> None:
        if decision.next in ("wait", "think") and house.head(session).outage is not None:
            known = {"If-None-Match": answers[-1].headers["ETag"]} if answers else {}
            answers.append(person.ask("GET", f"/v1/sessions/{session}", headers=known))

    house.run(look)
    waiting, trying = (answer.data["session"] for answer in answers[:2])
    assert (waiting["retry_at"] > waiting["updated_at"], waiting["retrying"]) == (True, False)
    assert (trying["retry_at"], trying["retrying"]) == (None, True)
    assert trying["updated_at"] == waiting["updated_at"]
