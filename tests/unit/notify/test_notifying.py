"""What `notify` does with the changes the stream brings it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from functions.notify.dependencies import Dependencies
from functions.notify.handler import notify_all
from shared.domain.errors import SchemaUnknown, StoreThrottled, StoreUnavailable
from shared.domain.notifications.notification import (
    Addresses,
    EndNotification,
    Notification,
    QuestionNotification,
)
from shared.ports.notifier import (
    InterventionChange,
    NotDelivered,
    NotificationRefused,
    QueuedChange,
    SessionChange,
)
from tests.contracts.store.documents import make_head, make_intervention


class FakeChanges:
    """Each record of an event names the intervention that changed."""

    def __init__(self, *changed: InterventionChange | SessionChange | Exception) -> None:
        self.changed = changed

    def changed_by(self, event: Mapping[str, Any]) -> Iterator[InterventionChange | SessionChange]:
        for record in event["Records"]:
            found = self.changed[record["change"]]
            if isinstance(found, Exception):
                raise found
            yield found


class FakeQueue:
    def __init__(self, is_there: bool = True) -> None:
        self.is_there = is_there
        self.kept: list[Mapping[str, Any]] = []

    def put(self, change: Mapping[str, Any]) -> None:
        if not self.is_there:
            raise StoreUnavailable("no queue")
        self.kept.append(change)

    def parse(self, record: Mapping[str, Any]) -> QueuedChange | None:
        return QueuedChange(record["message"], record) if "message" in record else None


class Receiver:
    """Takes what is sent, after failing with `errors`."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.taken: list[Notification] = []

    def send(self, notification: Notification) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.taken.append(notification)

    @property
    def ids(self) -> list[str]:
        return [each.intervention_id for each in self.taken if isinstance(each, QuestionNotification)]


def root_of(changes: FakeChanges, later: FakeQueue, notifier: Receiver | None) -> Dependencies:
    return Dependencies(changes, later, notifier, Addresses("https://api.example.com"))


def ended(**fields: Any) -> SessionChange:
    return SessionChange(make_head("acme", "ses_1", **{"state": "completed", **fields}))


def opened(name: str, **fields: Any) -> InterventionChange:
    return InterventionChange("acme", make_intervention("ses_1", name, **fields), is_new=True)


def stream(count: int) -> dict[str, Any]:
    return {"Records": [{"change": number} for number in range(count)]}


def queue(count: int) -> dict[str, Any]:
    return {"Records": [{"change": number, "message": f"m{number}"} for number in range(count)]}


def staying(answer: Mapping[str, Any]) -> list[str]:
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


def test_interventions_that_wait_are_notified_in_order() -> None:
    receiver = Receiver()
    changes = FakeChanges(opened("int_1"), opened("int_2", state="resolved"), opened("int_3"))
    notify_all(root_of(changes, FakeQueue(), receiver), stream(3))
    assert receiver.ids == ["int_1", "int_3"]


def test_what_was_deleted_meanwhile_is_passed_over() -> None:
    receiver, later = Receiver(), FakeQueue()
    changes = FakeChanges(InterventionChange("acme", None, is_new=True), opened("int_1"))
    notify_all(root_of(changes, later, receiver), stream(2))
    assert (receiver.ids, later.kept) == (["int_1"], [])


def test_a_notification_that_is_not_delivered_waits_in_the_queue_and_the_next_are_sent() -> None:
    receiver, later = Receiver(NotDelivered("answered with status 500")), FakeQueue()
    notify_all(root_of(FakeChanges(opened("int_1"), opened("int_2")), later, receiver), stream(2))
    assert receiver.ids == ["int_2"]
    assert later.kept == [{"change": 0}]


@pytest.mark.parametrize("error", [SchemaUnknown("version 9"), StoreThrottled("get_item"), KeyError("pk")])
def test_a_change_that_cannot_be_read_waits_there_too(error: Exception) -> None:
    receiver, later = Receiver(), FakeQueue()
    notify_all(root_of(FakeChanges(error, opened("int_2")), later, receiver), stream(2))
    assert receiver.ids == ["int_2"]
    assert later.kept == [{"change": 0}]


def test_what_cannot_even_be_put_there_comes_again_by_the_stream() -> None:
    root = root_of(
        FakeChanges(opened("int_1")), FakeQueue(is_there=False), Receiver(NotDelivered("no answer"))
    )
    with pytest.raises(StoreUnavailable):
        notify_all(root, stream(1))


def test_a_message_stays_in_the_queue_until_it_is_delivered_under_the_same_id() -> None:
    receiver, later = Receiver(NotDelivered("answered with status 500")), FakeQueue()
    root = root_of(FakeChanges(opened("int_1"), opened("int_2")), later, receiver)
    assert staying(notify_all(root, queue(2))) == ["m0"]
    assert later.kept == [], "it is not put there a second time"
    assert staying(notify_all(root, queue(1))) == []
    notify_all(root, stream(1))
    assert receiver.ids == ["int_2", "int_1", "int_1"]
    assert receiver.taken[1] == receiver.taken[2]


def test_what_is_decided_while_it_waits_in_the_queue_is_not_notified() -> None:
    receiver = Receiver()
    root = root_of(FakeChanges(opened("int_1", state="resolved")), FakeQueue(), receiver)
    assert staying(notify_all(root, queue(1))) == []
    assert receiver.taken == []


@pytest.mark.parametrize("brought", [stream, queue])
def test_what_the_receiver_refuses_is_not_tried_again(brought: Callable[[int], dict[str, Any]]) -> None:
    receiver, later = Receiver(NotificationRefused("answered with status 422")), FakeQueue()
    answer = notify_all(root_of(FakeChanges(opened("int_1"), opened("int_2")), later, receiver), brought(2))
    assert receiver.ids == ["int_2"]
    assert (staying(answer), later.kept) == ([], [])


@pytest.mark.parametrize("brought", [stream, queue])
def test_without_a_notifier_nothing_is_even_read(brought: Callable[[int], dict[str, Any]]) -> None:
    later = FakeQueue()
    answer = notify_all(root_of(FakeChanges(AssertionError("it was read")), later, None), brought(1))
    assert (staying(answer), later.kept) == ([], [])


def test_a_session_that_has_ended_is_told_with_the_address_of_the_api() -> None:
    receiver = Receiver()
    notify_all(root_of(FakeChanges(ended(), SessionChange(None)), FakeQueue(), receiver), stream(2))
    (told,) = receiver.taken
    assert isinstance(told, EndNotification)
    assert told.links == {"api": "https://api.example.com/v1/sessions/ses_1"}


def test_of_a_private_session_the_operator_hears_its_questions_and_not_its_end() -> None:
    receiver = Receiver()
    changes = FakeChanges(ended(visibility="private"), opened("int_1", private_to="ann", role=None))
    notify_all(root_of(changes, FakeQueue(), receiver), stream(2))
    assert [each.event for each in receiver.taken] == ["intervention.opened"]
