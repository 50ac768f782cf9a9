"""What `traces` does with the messages of its queue, and what becomes of spans that cannot be sent."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from acta.embedded.table import SqliteTable
from acta.engine.errors import SchemaUnknown, StoreUnavailable
from acta.engine.log.commit import Commit
from acta.engine.store.keys import key_part, tenant_part
from acta.engine.telemetry import Telemetry
from acta.engine.traces import export
from acta.engine.traces.export import BEGINS_WITHIN, TraceExport
from acta.engine.traces.queue import MAX_COMMITS, TraceQueue
from acta.engine.traces.spans import CommitName, Span, SpansNotDelivered, TracedCommit, spans_of
from acta.engine.usage.store import UsagePartition
from acta.engine.usage.usage_count import UsageCount
from acta.testing.clock import FakeClock
from tests.doubles.audit import PlainPseudonyms
from tests.doubles.usage import MemoryUsage
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, plans
from tests.traces.scripts import finishes


class FakeSqs:
    """A botocore SQS client of one queue. Messages are as Lambda brings them."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.messages: list[dict[str, Any]] = []

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> Mapping[str, Any]:  # noqa: N803
        assert len(MessageBody.encode()) <= 262_144
        sent = str(int(self.clock.now().timestamp() * 1_000))
        name = f"m{len(self.messages)}"
        self.messages.append(
            {
                "messageId": name,
                "body": MessageBody,
                "attributes": {"SentTimestamp": sent},
                "eventSource": "aws:sqs",
            }
        )
        return {}


class Commits:
    """A CommitReader of a house. `gone`: numbers that were deleted. `newer`: those that a later release wrote."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.gone: set[int] = set()
        self.newer: set[int] = set()
        self.error: Exception | None = None
        self.asked: list[int] = []

    def read(self, names: Sequence[CommitName]) -> Sequence[TracedCommit]:
        self.asked.append(len(names))
        if self.error is not None:
            raise self.error
        if any(name.number in self.newer for name in names):
            raise SchemaUnknown("newer")
        return [
            TracedCommit(name, commit)
            for name in sorted(names)
            for commit in self.house.log.read(TENANT, name.partition.session, 1).commits
            if name.number == commit.number and name.number not in self.gone
        ]


class Receiver:
    def __init__(self) -> None:
        self.taken: list[Span] = []
        self.is_away = False
        self.refuses = 0
        self.asked = 0

    def send(self, spans: Sequence[Span]) -> int:
        self.asked += 1
        if self.is_away:
            raise SpansNotDelivered("answered with status 503")
        self.taken += spans
        return self.refuses


USAGE = Telemetry("usage")


class Place:
    """A house with a session that is over, the queue, and what was counted as lost."""

    def __init__(self) -> None:
        self.house = House(ScriptedModel([plans("one"), finishes()]))
        self.session_id = self.house.start("Go").session_id
        self.house.run()
        self.numbers = [each.number for each in self.house.repository.commits(TENANT, self.session_id, 1)]
        self.clock = self.house.clock
        self.sqs = FakeSqs(self.clock)
        self.queue = TraceQueue("queue", self.sqs)
        self.commits = Commits(self.house)
        self.receiver = Receiver()
        self.export = TraceExport(self.queue, self.commits, self.receiver, self.clock, Telemetry("traces"))

    @property
    def names(self) -> list[CommitName]:
        partition = UsagePartition(tenant_part(TENANT), key_part(self.session_id))
        return [CommitName(partition, number) for number in self.numbers]

    def deliver(self) -> list[str]:
        """Brings all messages, and keeps those that stay."""
        answer = self.export.handle({"Records": self.sqs.messages})
        staying = [each["itemIdentifier"] for each in answer["batchItemFailures"]]
        self.sqs.messages = [each for each in self.sqs.messages if each["messageId"] in staying]
        return staying


@pytest.fixture
def place() -> Place:
    return Place()


@pytest.fixture
def lost(caplog: pytest.LogCaptureFixture) -> Callable[[], list[int]]:
    """What was logged as lost so far."""
    return lambda: [each.__dict__["spans"] for each in caplog.records if each.message == "spans lost"]


def test_commits_that_are_handed_over_become_spans_once(place: Place, lost: Callable[[], list[int]]) -> None:
    place.queue.put(place.names)
    assert place.deliver() == []
    assert len({span.span_id for span in place.receiver.taken}) == len(place.receiver.taken) > 3
    assert lost() == []


def test_what_is_handed_over_twice_has_the_same_ids(place: Place) -> None:
    place.queue.put([*place.names, *place.names])
    place.queue.put(place.names)
    place.deliver()
    taken = place.receiver.taken
    half = len(taken) // 2
    assert taken[:half] == taken[half:]


def test_a_receiver_that_is_away_is_tried_once_and_everything_stays(
    place: Place, lost: Callable[[], list[int]]
) -> None:
    place.receiver.is_away = True
    for name in place.names:
        place.queue.put([name])
    place.deliver()
    assert place.receiver.asked == 1
    assert place.receiver.taken == []
    place.receiver.is_away = False
    assert place.deliver() == []
    roots = [span for span in place.receiver.taken if not span.parent_id]
    assert len(roots) == 1
    assert lost() == []


def test_after_a_day_away_spans_are_given_up_and_counted(place: Place, lost: Callable[[], list[int]]) -> None:
    place.queue.put(place.names)
    place.receiver.is_away = True
    place.clock.advance(timedelta(hours=23).total_seconds())
    assert len(place.deliver()) == 1
    assert lost() == []
    place.clock.advance(timedelta(hours=2).total_seconds())
    assert place.deliver() == []
    assert lost() == [len(place.names)]


def test_a_receiver_that_comes_back_after_a_day_gets_what_is_still_there(
    place: Place, lost: Callable[[], list[int]]
) -> None:
    place.queue.put(place.names)
    place.clock.advance(timedelta(hours=30).total_seconds())
    assert place.deliver() == []
    assert place.receiver.taken
    assert lost() == []


def test_commits_that_were_deleted_before_are_counted(place: Place, lost: Callable[[], list[int]]) -> None:
    place.queue.put(place.names)
    place.commits.gone = set(place.numbers[:2])
    assert place.deliver() == []
    assert lost() == [2]


def test_what_the_receiver_refuses_is_counted(place: Place, lost: Callable[[], list[int]]) -> None:
    place.queue.put(place.names)
    place.receiver.refuses = 3
    assert place.deliver() == []
    assert lost() == [3]


def test_a_commit_that_makes_no_spans_is_lost_alone(
    place: Place, lost: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def spans(commit: Commit, *, with_content: bool) -> Sequence[Span]:
        if commit.number == place.numbers[1]:
            raise OverflowError("date value out of range")
        return spans_of(commit, with_content=with_content)

    monkeypatch.setattr(export, "spans_of", spans)
    place.queue.put(place.names)
    assert place.deliver() == []
    assert lost() == [1]
    assert [span for span in place.receiver.taken if not span.parent_id]


def test_a_commit_of_a_later_release_waits_and_holds_up_no_other(
    place: Place, lost: Callable[[], list[int]]
) -> None:
    place.commits.newer = {place.numbers[1]}
    place.queue.put(place.names)
    assert len(place.deliver()) == 1
    assert [span for span in place.receiver.taken if not span.parent_id], "the run's own span was sent"
    place.clock.advance(timedelta(hours=25).total_seconds())
    assert place.deliver() == []
    assert lost() == [1]


def test_a_message_has_few_commits_and_fewer_are_read_at_once(place: Place) -> None:
    partition = UsagePartition(TENANT, "ses_many")
    place.queue.put([*(CommitName(partition, number) for number in range(120)), *place.names])
    assert [len(place.queue.parse(each).commits) for each in place.sqs.messages[:2]] == [MAX_COMMITS] * 2
    place.deliver()
    assert max(place.commits.asked) == export.AT_ONCE < MAX_COMMITS


def test_a_message_that_ends_its_worker_each_time_is_counted_in_the_end(
    place: Place, lost: Callable[[], list[int]]
) -> None:
    """What ends a worker, such as too little memory, is not seen by it. The queue counts."""
    place.queue.put(place.names)
    place.clock.advance((export.UNTRIED_AFTER + timedelta(minutes=1)).total_seconds())
    place.sqs.messages[0]["attributes"]["ApproximateReceiveCount"] = str(export.TRIED + 1)
    assert place.deliver() == []
    assert place.receiver.asked == 0
    assert lost() == [len(place.names)]


@pytest.mark.parametrize("error", [StoreUnavailable("away"), SchemaUnknown("newer")])
def test_commits_that_cannot_be_read_now_stay_and_hold_up_nothing(place: Place, error: Exception) -> None:
    place.queue.put(place.names)
    place.commits.error = error
    assert len(place.deliver()) == 1
    place.commits.error = None
    assert place.deliver() == []
    assert place.receiver.taken


def test_a_slow_receiver_does_not_use_up_the_invocation(place: Place) -> None:
    for name in place.names:
        place.queue.put([name])
    slow = place.receiver.send

    def send(spans: Sequence[Span]) -> int:
        place.clock.advance(BEGINS_WITHIN.total_seconds() + 1)
        return slow(spans)

    place.receiver.send = send  # type: ignore[method-assign]
    staying = place.deliver()
    assert 0 < len(staying) < len(place.names)


def test_a_message_is_no_larger_than_the_queue_takes(place: Place) -> None:
    long = "x" * 200
    names = [CommitName(UsagePartition(long, f"{long}{n}"), 1_000_000 + n) for n in range(3_000)]
    place.queue.put(names)
    assert len(place.sqs.messages) > 1
    assert all(len(each["body"]) <= 201_000 for each in place.sqs.messages)
    found = [name for each in place.sqs.messages for name in place.queue.parse(each).commits]
    assert sorted(found) == sorted(names)


def stream_of(names: Sequence[CommitName]) -> dict[str, Any]:
    return {
        "Records": [
            {
                "eventName": "INSERT",
                "dynamodb": {
                    "ApproximateCreationDateTime": 1_700_000_000,
                    "Keys": {
                        "pk": {"S": f"T#{partition.tenant}#S#{partition.session}"},
                        "sk": {"S": f"C#{number:010d}"},
                    },
                },
            }
            for partition, number in names
        ]
    }


def test_usage_hands_over_what_the_stream_tells_of_in_one_message(place: Place) -> None:
    usage = UsageCount(MemoryUsage(SqliteTable(None)), PlainPseudonyms(), place.queue, USAGE)
    usage.handle(stream_of(place.names))
    (message,) = place.sqs.messages
    assert sorted(place.queue.parse(message).commits) == sorted(place.names)


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "SendMessage")


@pytest.mark.parametrize(
    "error",
    [
        refused("AWS.SimpleQueueService.NonExistentQueue"),
        refused("AccessDenied"),
        refused("RequestThrottled"),
        refused("ServiceUnavailable"),
        EndpointConnectionError(endpoint_url="https://queue"),
    ],
    ids=["deleted", "denied", "throttled", "unavailable", "unreachable"],
)
def test_a_queue_that_takes_nothing_costs_spans_and_holds_up_no_usage(
    place: Place, lost: Callable[[], list[int]], error: Exception
) -> None:
    class Away(FakeSqs):
        def send_message(self, **_: Any) -> Mapping[str, Any]:
            raise error

    store = MemoryUsage(place.house.table)
    usage = UsageCount(store, PlainPseudonyms(), TraceQueue("queue", Away(place.clock)), USAGE)
    usage.handle(stream_of(place.names))
    assert store.counted([place.names[0].partition])
    assert lost() == [len(place.names)]


def test_usage_hands_nothing_over_where_nothing_is_exported(place: Place) -> None:
    usage = UsageCount(MemoryUsage(SqliteTable(None)), PlainPseudonyms(), None, USAGE)
    usage.handle(stream_of(place.names))
    assert place.sqs.messages == []
