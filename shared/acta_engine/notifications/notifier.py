"""Notifications to the outside: that a person is needed, that a session has ended."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from acta_engine.log.head import Head
from acta_engine.notifications.notification import Notification, ReceiverName
from acta_engine.notifications.receiver import TenantReceiver
from acta_engine.people.intervention import Intervention


class NotDelivered(Exception):
    """The receiver has not accepted the notification, as far as is known. It is sent again, with the same id."""


class NotificationRefused(Exception):
    """The receiver has refused this notification for good. It is not sent again."""


class Notifier(Protocol):
    def send(self, notification: Notification) -> None:
        """Returns when the receiver has accepted it. Raises NotDelivered, NotificationRefused."""


class InterventionChange(NamedTuple):
    """A question to people has changed."""

    tenant: str
    intervention: Intervention | None
    """As it is now. None: it was deleted."""
    is_new: bool
    """The change was its opening."""
    partition: str = ""
    """The key of the tenant's items, in which a long name is a hash."""


class SessionChange(NamedTuple):
    """A session's coarse state has changed, or what recovery looks for."""

    head: Head | None
    """The newest one. None: the session is not over, or was deleted."""
    partition: str = ""
    """As in `InterventionChange`."""


class QueuedChange(NamedTuple):
    """A change whose notification is sent again."""

    message_id: str
    """The queue's."""
    change: Mapping[str, Any]
    """The record of the table's stream, or the part of it that is needed."""
    to: ReceiverName | None = None
    """The receiver that has not been told yet. None: no receiver has, as far as is known."""


class RetryQueue(Protocol):
    """Changes whose notification was not delivered. They wait here, so that newer changes do not wait for them."""

    def put(
        self, change: Mapping[str, Any], to: ReceiverName | None = None, *, at_once: bool = False
    ) -> None:
        """Queues a record of the table's stream, for one receiver or for all. `at_once`: it was not tried yet. Raises
        if it is not certain that the record is in the queue.
        """

    def parse(self, record: Mapping[str, Any]) -> QueuedChange | None:
        """Reads a record of a Lambda event. None: it does not come from this queue."""


class ChangeReader(Protocol):
    def changed_by(self, event: Mapping[str, Any]) -> Iterator[InterventionChange | SessionChange]:
        """The changes of interventions and of sessions in an event of the table's stream, in order. Each is read from
        the table when its turn comes. Raises StoreThrottled, StoreUnavailable, SchemaUnknown.
        """


class OwnReceivers(Protocol):
    """The webhooks that tenants and sessions name. `partition`: as in `InterventionChange`."""

    def of(self, notification: Notification, partition: str) -> tuple[ReceiverName, ...]:
        """The receivers to tell, each address once. Raises StoreThrottled, StoreUnavailable, SchemaUnknown."""

    def send(self, to: ReceiverName, notification: Notification, partition: str) -> None:
        """Returns when the receiver has accepted it, or is no longer named. Raises NotDelivered, NotificationRefused,
        StoreThrottled, StoreUnavailable.
        """


class TenantReceivers(Protocol):
    """What admins set, without the secrets. Read strongly consistent. All methods raise StoreThrottled and
    StoreUnavailable.
    """

    def get(self, tenant: str) -> TenantReceiver | None: ...

    def put(self, receiver: TenantReceiver) -> None:
        """Adds it, or replaces the tenant's."""

    def delete(self, tenant: str) -> None:
        """Also where there is none."""
