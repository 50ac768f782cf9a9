"""What `notify` does with the changes the stream brings it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from functions.notify.handler import tell_all
from functions.notify.root import Root
from shared.domain.notification import Notification
from shared.ports.notifier import Changed, NotDelivered, NotificationRefused
from tests.contracts.store.documents import make_intervention

EVENT: dict[str, Any] = {"Records": []}


class FakeChanges:
    def __init__(self, *changed: Changed) -> None:
        self.changed = changed

    def told_by(self, event: Mapping[str, Any]) -> Iterator[Changed]:
        yield from self.changed


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
        return [notification.intervention_id for notification in self.taken]


def opened(name: str, **fields: Any) -> Changed:
    return Changed("acme", make_intervention("ses_1", name, **fields), is_new=True)


def test_each_that_waits_is_told_in_order() -> None:
    receiver = Receiver()
    changes = FakeChanges(opened("int_1"), opened("int_2", state="resolved"), opened("int_3"))
    tell_all(Root(changes, receiver), EVENT)
    assert receiver.ids == ["int_1", "int_3"]


def test_what_was_deleted_meanwhile_is_passed_over() -> None:
    receiver = Receiver()
    tell_all(Root(FakeChanges(Changed("acme", None, is_new=True), opened("int_1")), receiver), EVENT)
    assert receiver.ids == ["int_1"]


def test_what_is_not_delivered_fails_the_invocation_and_nothing_behind_it_is_told() -> None:
    receiver = Receiver(NotDelivered("answered with status 500"))
    root = Root(FakeChanges(opened("int_1"), opened("int_2")), receiver)
    with pytest.raises(NotDelivered):
        tell_all(root, EVENT)
    assert receiver.taken == []
    tell_all(root, EVENT)
    assert receiver.ids == ["int_1", "int_2"]


def test_what_the_receiver_refuses_holds_nobody_up() -> None:
    receiver = Receiver(NotificationRefused("answered with status 422"))
    tell_all(Root(FakeChanges(opened("int_1"), opened("int_2")), receiver), EVENT)
    assert receiver.ids == ["int_2"]


def test_with_nobody_to_tell_nothing_is_even_read() -> None:
    class Unreadable(FakeChanges):
        def told_by(self, event: Mapping[str, Any]) -> Iterator[Changed]:
            raise AssertionError("it was read")

    tell_all(Root(Unreadable(), None), EVENT)
