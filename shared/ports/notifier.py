"""Notifications to the outside: that a person is needed, that a session has ended."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from shared.domain.interventions.intervention import Intervention
from shared.domain.notifications.notification import Notification
from shared.domain.session.head import Head


class NotDelivered(Exception):
    """The receiver has not accepted the notification, as far as is known. It is sent again, with the same id."""


class NotificationRefused(Exception):
    """The receiver has refused this notification for good. It is not sent again."""


class Notifier(Protocol):
    def send(self, notification: Notification) -> None:
        """Returns when the receiver has accepted it. Raises NotDelivered, NotificationRefused."""
        ...


class InterventionChange(NamedTuple):
    """`intervention`: as it is now; None: it was deleted. `is_new`: the change was its opening."""

    tenant: str
    intervention: Intervention | None
    is_new: bool


class SessionChange(NamedTuple):
    """A session's coarse state has changed, or what recovery looks for. `head`: the newest one; None: the session is
    not over, or was deleted.
    """

    head: Head | None


class QueuedChange(NamedTuple):
    """`message_id`: the queue's. `change`: the record of the table's stream, or the part of it that is needed."""

    message_id: str
    change: Mapping[str, Any]


class RetryQueue(Protocol):
    """Changes whose notification was not delivered. They wait here, so that newer changes do not wait for them."""

    def put(self, change: Mapping[str, Any]) -> None:
        """Queues a record of the table's stream. Raises where it is not certain that the record is in the queue."""
        ...

    def parse(self, record: Mapping[str, Any]) -> QueuedChange | None:
        """Reads a record of a Lambda event. None: it does not come from this queue."""
        ...


class ChangeReader(Protocol):
    def changed_by(self, event: Mapping[str, Any]) -> Iterator[InterventionChange | SessionChange]:
        """The changes of interventions and of sessions in an event of the table's stream, in order. Each is read from
        the table when its turn comes. Raises StoreThrottled, StoreUnavailable, SchemaUnknown.
        """
        ...
