"""Telling somebody outside that a person is needed."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from shared.domain.interventions.intervention import Intervention
from shared.domain.interventions.notification import Notification


class NotDelivered(Exception):
    """Nobody took it, as far as is known: it is told again, under the same id."""


class NotificationRefused(Exception):
    """The receiver says that this one is wrong, and would say so again."""


class Notifier(Protocol):
    def send(self, notification: Notification) -> None:
        """Returns when it was taken. Raises NotDelivered, NotificationRefused."""
        ...


class Changed(NamedTuple):
    """`intervention` as it is now, None where it was deleted; `is_new`: the change was its beginning."""

    tenant: str
    intervention: Intervention | None
    is_new: bool


class Postponed(NamedTuple):
    """`change`: what `Later.put` was given, as far as it is needed to tell it; `message_id` is the queue's."""

    message_id: str
    change: Mapping[str, Any]


class Later(Protocol):
    """Where a change waits to be told again, without those behind it."""

    def put(self, change: Mapping[str, Any]) -> None:
        """Raises what keeps it from being there for sure."""
        ...

    def opened(self, record: Mapping[str, Any]) -> Postponed | None:
        """None: `record` does not come from here."""
        ...


class Changes(Protocol):
    def changed_by(self, event: Mapping[str, Any]) -> Iterator[Changed]:
        """The interventions that the event's records changed, in order; each is read when it is asked for. Raises
        StoreThrottled, StoreUnavailable, SchemaUnknown.
        """
        ...
