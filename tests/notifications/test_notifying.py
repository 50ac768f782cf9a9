"""What `notify` does with the changes the stream brings it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from acta.engine.errors import SchemaUnknown, StoreThrottled, StoreUnavailable
from acta.engine.notifications.notification import (
    Addresses,
    EndNotification,
    InterventionChange,
    NotDelivered,
    Notification,
    NotificationRefused,
    QuestionNotification,
    QueuedChange,
    ReceiverName,
    SessionChange,
)
from acta.engine.notifications.notifications import Notifications
from acta.engine.telemetry import Telemetry
from tests.stores.documents import make_head, make_intervention


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
        self.kept: list[tuple[int, ReceiverName | None]] = []
        self.at_once: list[bool] = []

    def put(
        self, change: Mapping[str, Any], to: ReceiverName | None = None, *, at_once: bool = False
    ) -> None:
        if not self.is_there:
            raise StoreUnavailable("no queue")
        self.kept.append((change["change"], to))
        self.at_once.append(at_once)

    def parse(self, record: Mapping[str, Any]) -> QueuedChange | None:
        return QueuedChange(record["message"], record, record["to"]) if "message" in record else None


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


class Own:
    """Webhooks of a tenant and of a session, `named` ones of them. `unreadable`: who they are cannot be read."""

    def __init__(
        self, *named: ReceiverName, errors: Sequence[Exception] = (), unreadable: Exception | None = None
    ) -> None:
        self.named = named
        self.errors = list(errors)
        self.unreadable = unreadable
        self.taken: list[tuple[ReceiverName, Notification]] = []

    def of(self, notification: Notification, partition: str) -> tuple[ReceiverName, ...]:
        assert partition == "T#acme"
        if self.unreadable is not None:
            raise self.unreadable
        return self.named

    def send(self, to: ReceiverName, notification: Notification, partition: str) -> None:
        assert partition == "T#acme"
        if self.errors:
            raise self.errors.pop(0)
        self.taken.append((to, notification))


def root_of(
    changes: FakeChanges, later: FakeQueue, notifier: Receiver | None, own: Own | None = None
) -> Notifications:
    addresses = Addresses("https://api.example.com")
    return Notifications(changes, later, notifier, own, addresses, Telemetry("notify"))


def ended(**fields: Any) -> SessionChange:
    return SessionChange(make_head("acme", "ses_1", **{"state": "completed", **fields}), "T#acme")


def opened(name: str, **fields: Any) -> InterventionChange:
    return InterventionChange(
        "acme", make_intervention("ses_1", name, **fields), is_new=True, partition="T#acme"
    )


def stream(count: int) -> dict[str, Any]:
    return {"Records": [{"change": number} for number in range(count)]}


def queue(count: int, to: ReceiverName | None = "deployment") -> dict[str, Any]:
    """`to` None: a message of the release before, or of a change that could not be read."""
    return {"Records": [{"change": number, "message": f"m{number}", "to": to} for number in range(count)]}


def staying(answer: Mapping[str, Any]) -> list[str]:
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


def test_interventions_that_wait_are_notified_in_order() -> None:
    receiver = Receiver()
    changes = FakeChanges(opened("int_1"), opened("int_2", state="resolved"), opened("int_3"))
    root_of(changes, FakeQueue(), receiver).handle(stream(3))
    assert receiver.ids == ["int_1", "int_3"]


def test_what_was_deleted_meanwhile_is_passed_over() -> None:
    receiver, later = Receiver(), FakeQueue()
    changes = FakeChanges(InterventionChange("acme", None, is_new=True), opened("int_1"))
    root_of(changes, later, receiver).handle(stream(2))
    assert (receiver.ids, later.kept) == (["int_1"], [])


def test_a_notification_that_is_not_delivered_waits_in_the_queue_and_the_next_are_sent() -> None:
    receiver, later = Receiver(NotDelivered("answered with status 500")), FakeQueue()
    root_of(FakeChanges(opened("int_1"), opened("int_2")), later, receiver).handle(stream(2))
    assert receiver.ids == ["int_2"]
    assert later.kept == [(0, "deployment")]


@pytest.mark.parametrize("error", [SchemaUnknown("version 9"), StoreThrottled("get_item"), KeyError("pk")])
def test_a_change_that_cannot_be_read_waits_there_too(error: Exception) -> None:
    receiver, later = Receiver(), FakeQueue()
    root_of(FakeChanges(error, opened("int_2")), later, receiver).handle(stream(2))
    assert receiver.ids == ["int_2"]
    assert later.kept == [(0, None)]


def test_what_cannot_even_be_put_there_comes_again_by_the_stream() -> None:
    root = root_of(
        FakeChanges(opened("int_1")), FakeQueue(is_there=False), Receiver(NotDelivered("no answer"))
    )
    with pytest.raises(StoreUnavailable):
        root.handle(stream(1))


def test_a_message_stays_in_the_queue_until_it_is_delivered_under_the_same_id() -> None:
    receiver, later = Receiver(NotDelivered("answered with status 500")), FakeQueue()
    root = root_of(FakeChanges(opened("int_1"), opened("int_2")), later, receiver)
    assert staying(root.handle(queue(2))) == ["m0"]
    assert later.kept == [], "it is not put there a second time"
    assert staying(root.handle(queue(1))) == []
    root.handle(stream(1))
    assert receiver.ids == ["int_2", "int_1", "int_1"]
    assert receiver.taken[1] == receiver.taken[2]


def test_what_is_decided_while_it_waits_in_the_queue_is_not_notified() -> None:
    receiver = Receiver()
    root = root_of(FakeChanges(opened("int_1", state="resolved")), FakeQueue(), receiver)
    assert staying(root.handle(queue(1))) == []
    assert receiver.taken == []


@pytest.mark.parametrize("brought", [stream, queue])
def test_what_the_receiver_refuses_is_not_tried_again(brought: Callable[[int], dict[str, Any]]) -> None:
    receiver, later = Receiver(NotificationRefused("answered with status 422")), FakeQueue()
    answer = root_of(FakeChanges(opened("int_1"), opened("int_2")), later, receiver).handle(brought(2))
    assert receiver.ids == ["int_2"]
    assert (staying(answer), later.kept) == ([], [])


@pytest.mark.parametrize("brought", [stream, queue])
def test_without_a_notifier_nothing_is_even_read(brought: Callable[[int], dict[str, Any]]) -> None:
    later = FakeQueue()
    answer = root_of(FakeChanges(AssertionError("it was read")), later, None).handle(brought(1))
    assert (staying(answer), later.kept) == ([], [])


def test_a_session_that_has_ended_is_told_with_the_address_of_the_api() -> None:
    receiver = Receiver()
    root_of(FakeChanges(ended(), SessionChange(None)), FakeQueue(), receiver).handle(stream(2))
    (told,) = receiver.taken
    assert isinstance(told, EndNotification)
    assert told.links == {
        "api": "https://api.example.com/v1/sessions/ses_1",
        "console": "https://api.example.com/console/sessions/ses_1",
    }


def test_of_a_private_session_the_operator_hears_its_questions_and_not_its_end() -> None:
    receiver = Receiver()
    changes = FakeChanges(ended(visibility="private"), opened("int_1", private_to="ann", role=None))
    root_of(changes, FakeQueue(), receiver).handle(stream(2))
    assert [each.event for each in receiver.taken] == ["intervention.opened"]


def test_what_tenants_and_sessions_named_is_not_tried_while_the_stream_waits() -> None:
    receiver, later, own = Receiver(), FakeQueue(), Own("tenant", "session")
    root_of(FakeChanges(opened("int_1"), ended()), later, receiver, own).handle(stream(2))
    assert len(receiver.taken) == 2
    assert own.taken == []
    assert later.kept == [(0, "tenant"), (0, "session"), (1, "tenant"), (1, "session")]
    assert all(later.at_once)


def test_each_receiver_has_a_message_of_its_own_so_none_hears_twice_because_another_was_away() -> None:
    receiver, later = Receiver(NotDelivered("answered with status 500")), FakeQueue()
    own = Own("tenant", errors=[NotDelivered("no answer: NoAnswer")])
    root = root_of(FakeChanges(opened("int_1")), later, receiver, own)
    root.handle(stream(1))
    assert later.kept == [(0, "tenant"), (0, "deployment")]
    assert later.at_once == [True, False]
    assert staying(root.handle(queue(1, "tenant"))) == ["m0"]
    assert staying(root.handle(queue(1, "tenant"))) == []
    assert receiver.taken == []
    assert staying(root.handle(queue(1, "deployment"))) == []
    assert ([to for to, _ in own.taken], receiver.ids) == (["tenant"], ["int_1"])
    assert own.taken[0][1] == receiver.taken[0]


def test_a_message_that_names_nobody_is_for_all_and_comes_again_for_each() -> None:
    receiver, later = Receiver(NotDelivered("answered with status 500")), FakeQueue()
    changes = FakeChanges(opened("int_1"), SchemaUnknown("version 9"))
    answer = root_of(changes, later, receiver, Own("tenant")).handle(queue(2, None))
    assert staying(answer) == ["m1"], "what cannot be read stays, whoever it is for"
    assert later.kept == [(0, "tenant"), (0, "deployment")]


@pytest.mark.parametrize("error", [NotificationRefused("answered with status 410"), None])
def test_what_a_tenant_s_webhook_refuses_or_takes_is_done(error: Exception | None) -> None:
    own = Own("tenant", errors=[error] if error else [])
    answer = root_of(FakeChanges(opened("int_1")), FakeQueue(), None, own).handle(queue(1, "tenant"))
    assert staying(answer) == []


def test_where_tenants_may_name_none_any_more_their_messages_end() -> None:
    receiver = Receiver()
    answer = root_of(FakeChanges(opened("int_1")), FakeQueue(), receiver).handle(queue(1, "tenant"))
    assert (staying(answer), receiver.taken) == ([], [])


def test_a_store_that_is_away_keeps_the_message() -> None:
    own = Own("tenant", errors=[StoreThrottled("get_item")])
    assert staying(root_of(FakeChanges(opened("int_1")), FakeQueue(), None, own).handle(queue(1, "tenant")))


@pytest.mark.parametrize("brought", [stream, lambda count: queue(count, None)])
def test_the_operator_is_told_though_it_cannot_be_read_whom_the_tenant_named(
    brought: Callable[[int], dict[str, Any]],
) -> None:
    receiver, later = Receiver(), FakeQueue()
    own = Own("tenant", errors=[SchemaUnknown("version 9")], unreadable=SchemaUnknown("version 9"))
    root = root_of(FakeChanges(opened("int_1")), later, receiver, own)
    assert staying(root.handle(brought(1))) == []
    assert receiver.ids == ["int_1"]
    assert later.kept == [(0, "tenant"), (0, "session")]
    assert all(later.at_once)
    assert staying(root.handle(queue(1, "tenant"))) == ["m0"], "until it can be read"
    assert staying(root.handle(queue(1, "tenant"))) == []
    assert receiver.ids == ["int_1"], "the operator is told once"


def test_the_tenant_is_told_though_telling_the_operator_fails_in_a_way_nobody_knows() -> None:
    receiver, later = Receiver(KeyError("secret")), FakeQueue()
    root = root_of(FakeChanges(opened("int_1")), later, receiver, Own("tenant"))
    assert staying(root.handle(queue(1, None))) == []
    assert later.kept == [(0, "tenant"), (0, "deployment")]
