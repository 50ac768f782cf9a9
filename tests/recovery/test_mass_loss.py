"""Thousands of sessions lose their executions at once, and nobody tells of it (docs/design/recovery.md 26, ADR 108).

Requests and sessions are counted, nothing is timed: the clock is simulated.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from acta.embedded.table import SqliteTable
from acta.engine.errors import AwsDenied, Refused, StoreThrottled
from acta.engine.log.store import SessionName
from acta.engine.queue.dispatcher import Sharing
from acta.engine.queue.dynamodb import DynamoAdmission
from acta.engine.queue.places import QueuePlace
from acta.engine.recovery.aws import MOST_BYTES, InvokedWorkers, paid_event, to_event
from acta.engine.recovery.recovery import THREADS, Paid
from acta.engine.recovery.store import SHARE, LostSessions, PaidPlaces
from acta.engine.recovery.sweep import ASKED_ONE_BY_ONE
from acta.infra.sizing import recovery_workers
from docs.quotas import QUOTAS
from tests.in_process.house import RECOVER, TENANT
from tests.in_process.mass_loss import CountedWorkflow, MassLoss, Minute

REGION = "eu-central-1"


def recovered(loss: MassLoss, most: int) -> list[Minute]:
    minutes = []
    while loss.standing_still():
        minutes.append(loss.minute())
        assert len(minutes) <= most
    return minutes


def generations(loss: MassLoss) -> set[int]:
    runs = [loss.house.head(session).run for session in loss.sessions]
    return {run.generation for run in runs if run is not None}


def test_many_invocations_go_on_with_what_one_has_found_and_each_session_has_one_execution() -> None:
    loss = MassLoss(2_600, REGION, most=3, share=200)

    minutes = recovered(loss, most=4)

    assert [minute.invocations for minute in minutes] == [4, 4, 4, 1]
    assert sum(minute.restarted + minute.started for minute in minutes) == 2_600
    assert generations(loss) == {2}
    assert len(list(loss.workflow.executions)) == 2 * 2_600
    assert sum(loss.workflow.executions.values()) == 2_600


def test_nobody_asks_for_an_execution_or_lists_them_once_more_for_each_part() -> None:
    loss = MassLoss(2_600, REGION, most=3, share=200)

    minutes = recovered(loss, most=4)

    assert sum(minute.made["DescribeExecution"] for minute in minutes) <= ASKED_ONE_BY_ONE
    assert [minute.made["ListExecutions"] for minute in minutes] == [1, 1, 2, 3]
    for minute in minutes:
        assert minute.made["StartExecution"] <= 4 * 200


def test_a_part_that_is_lost_with_its_invocation_is_found_by_the_next_scan() -> None:
    loss = MassLoss(1_000, REGION, most=3, share=200)
    assert loss.handed is not None
    handed = loss.handed

    class Dead(list[Any]):
        def append(self, event: Any) -> None:
            pass

    handed.events = Dead()
    first = loss.minute()
    handed.events = []

    assert (first.restarted, first.lost) == (200, 800)
    assert sum(minute.restarted for minute in recovered(loss, most=2)) == 800
    assert generations(loss) == {2}


def test_a_part_that_comes_after_its_minute_is_left_to_the_scan() -> None:
    loss = MassLoss(600, REGION, most=3, share=200)
    names = [SessionName(TENANT, session) for session in loss.sessions]
    now = loss.house.clock.now()
    event = to_event(LostSessions(names, now - timedelta(minutes=2), now - timedelta(minutes=1)))

    answer = loss.recovery.handle(event, _Endless())

    assert (answer["looked"], answer["left"]) == (0, 600)


def test_a_session_that_somebody_else_has_just_gone_on_with_is_started_and_not_restarted() -> None:
    loss = MassLoss(600, REGION, most=3, share=200)
    names = [SessionName(TENANT, session) for session in loss.sessions[:200]]
    now = loss.house.clock.now()
    event = json.loads(json.dumps(to_event(LostSessions(names, now, now + timedelta(minutes=1)))))

    first = loss.recovery.handle(event, _Endless())
    again = loss.recovery.handle(event, _Endless())

    assert (first["restarted"], again["restarted"], again["started"]) == (200, 0, 200)
    assert generations(loss) == {1, 2}


def test_a_start_that_is_throttled_is_made_again_without_another_generation() -> None:
    loss = MassLoss(600, REGION, most=3, share=200)
    refusals = iter([StoreThrottled("StartExecution")] * 50)

    class Throttled(CountedWorkflow):
        def __init__(self) -> None:
            vars(self).update(vars(loss.workflow))

        def start(self, decision: Any) -> bool:
            for refusal in refusals:
                raise refusal
            return super().start(decision)

    loss.workflow = Throttled()
    loss.recovery.app.workflow = loss.workflow
    minutes = recovered(loss, most=3)

    assert sum(minute.restarted + minute.started for minute in minutes) == 600
    assert generations(loss) == {2}


def test_a_list_of_executions_that_breaks_off_has_nothing_handed_over() -> None:
    loss = MassLoss(1_000, REGION, most=3, share=200)

    class BreaksOff(CountedWorkflow):
        def __init__(self) -> None:
            vars(self).update(vars(loss.workflow))

        def running(self) -> Iterator[str]:
            raise StoreThrottled("ListExecutions")

    whole = loss.workflow
    loss.recovery.app.workflow = BreaksOff()
    first = loss.minute()
    loss.recovery.app.workflow = whole

    assert first.invocations == 1
    assert first.made["DescribeExecution"] >= first.restarted > 0
    recovered(loss, most=3)
    assert generations(loss) == {2}


def test_four_threads_go_on_with_each_session_once() -> None:
    loss = MassLoss(600, REGION, most=3, share=200)
    loss.recovery.threads = THREADS

    minutes = recovered(loss, most=2)

    assert sum(minute.restarted for minute in minutes) == 600
    assert generations(loss) == {2}
    assert sum(loss.workflow.executions.values()) == 600


def test_few_lost_sessions_are_the_scan_s_own_and_each_execution_is_asked_for() -> None:
    loss = MassLoss(ASKED_ONE_BY_ONE, REGION, most=3)

    minute = loss.minute()

    assert (minute.invocations, minute.restarted, minute.made["DescribeExecution"]) == (
        1,
        ASKED_ONE_BY_ONE,
        ASKED_ONE_BY_ONE,
    )


def test_what_the_workers_of_a_region_restart_in_a_minute_is_two_thirds_of_the_starts_it_allows() -> None:
    for region, most in (("us-east-1", 12), ("eu-central-1", 6), (None, 6)):
        assert recovery_workers(region, SHARE) == most
        assert most * SHARE <= QUOTAS["StartExecution"].of(region) * 60 * 2 / 3


def test_names_that_are_too_long_for_one_event_come_in_several() -> None:
    function = Function()
    names = [SessionName("t" * 500, f"ses_{n:026d}") for n in range(SHARE)]
    now = MassLoss(0, REGION, most=0).house.clock.now()

    InvokedWorkers("acta-test-recover:live", 3, function).hand_over(LostSessions(names, now, now))

    told = [name for event in function.events for name in json.loads(event)["lost"]]
    assert told == [list(name) for name in names]
    assert len(function.events) > 1
    assert all(len(event) <= MOST_BYTES for event in function.events)


def test_places_that_are_paid_for_are_told_as_they_are_and_fit_in_one_event() -> None:
    function = Function()
    now = MassLoss(0, REGION, most=0).house.clock.now()
    places = [
        QueuePlace("anthropic", "t" * 500, f"ses_{n:026d}", now + timedelta(microseconds=n), 4_096)
        for n in range(Sharing().batch_size)
    ]
    paid = PaidPlaces(places, now + timedelta(seconds=10))

    InvokedWorkers("acta-test-recover:live", 3, function).admit(paid)

    (event,) = function.events
    assert len(event) <= MOST_BYTES
    assert Paid.model_validate(json.loads(event)).places == paid


def test_an_invocation_that_is_denied_is_told_as_such() -> None:
    now = MassLoss(0, REGION, most=0).house.clock.now()
    with pytest.raises(AwsDenied):
        InvokedWorkers("gone", 3, Function("ResourceNotFoundException")).hand_over(
            LostSessions([SessionName("t", "s")], now, now)
        )


def test_an_event_of_another_form_is_refused() -> None:
    loss = MassLoss(0, REGION, most=0)
    with pytest.raises(Refused):
        loss.recovery.handle({"lost": [["t"]], "until": "soon"}, _Endless())
    with pytest.raises(Refused):
        loss.recovery.handle({"paid": [["p", "t"]], "until": "soon"}, _Endless())


def test_a_dispatcher_says_how_many_wait_for_each_provider_and_another_one_admits_what_is_paid_for() -> None:
    loss, line = MassLoss(0, REGION, most=1), DynamoAdmission("t", SqliteTable(None))
    limits = {"scripted": {"requests_per_minute": 60}}
    loss.house.settings = loss.house.settings.but(provider_limits=limits)
    recovery = loss.house.recovery(lines=line)
    now = loss.house.clock.now()
    for number in range(3):  # of sessions that are deleted by now
        line.join(QueuePlace("scripted", "acme", f"ses_{number}", now, 10), now, now + timedelta(minutes=3))
    first = line.first_after("scripted", "")
    assert first is not None

    paid = recovery.handle(paid_event(PaidPlaces([first], now + timedelta(seconds=10))), _Endless())
    with written() as lines:
        found = recovery.handle({"admit": True}, _Endless())

    assert paid == {"admitted": 0, "dropped": 1, "unanswered": 0, "shared": 0}
    assert found["dropped"] == 2
    (told,) = [each for each in lines if "SessionsInLine" in each]
    assert (told["SessionsInLine"], told["provider"]) == (2, "scripted")


@contextmanager
def written() -> Iterator[list[dict[str, Any]]]:
    """What `recover` writes meanwhile."""
    lines: list[dict[str, Any]] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(vars(record))

    logger, kept, level = logging.getLogger(RECOVER.logger.name), Kept(), RECOVER.logger.log_level
    logger.addHandler(kept)
    RECOVER.logger.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        logger.removeHandler(kept)
        RECOVER.logger.setLevel(level)


class Function:
    """A botocore Lambda client."""

    def __init__(self, refuses: str = "") -> None:
        self.refuses = refuses
        self.events: list[bytes] = []

    def invoke(self, FunctionName: str, InvocationType: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803
        from botocore.exceptions import ClientError

        if self.refuses:
            raise ClientError({"Error": {"Code": self.refuses, "Message": ""}}, "Invoke")
        assert InvocationType == "Event"
        self.events.append(Payload)
        return {"StatusCode": 202}


class _Endless:
    def get_remaining_time_in_millis(self) -> int:
        return 60_000
