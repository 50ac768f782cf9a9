"""Notifies the outside of interventions that wait for a person, and of sessions that have ended.

The table's stream brings each change once. A change whose notification could not be delivered is put into a queue and
comes again from there, so that it holds up no other change. What goes to the webhooks of tenants and sessions is put
there before it is tried at all: a server that a tenant chose must not hold up the stream, which brings everybody's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from acta.engine.bound_tenant import tenant_hash
from acta.engine.notifications.notification import (
    Addresses,
    ChangeReader,
    InterventionChange,
    NotDelivered,
    Notification,
    NotificationRefused,
    Notifier,
    OwnReceivers,
    QuestionNotification,
    ReceiverName,
    RetryQueue,
    SessionChange,
    end_notification,
    question_notification,
)
from acta.engine.store.keys import TENANT, part_text
from acta.engine.telemetry import Telemetry


@dataclass(eq=False, repr=False)
class Notifications:
    """Answers the events of the function `notify`: records of the table's stream, or of its own queue."""

    changes: ChangeReader
    later: RetryQueue
    notifier: Notifier | None
    """The deployment's receiver. None: it names none, as a local stack without a URL."""
    own: OwnReceivers | None
    """The receivers of tenants and sessions. None: they may name none."""
    addresses: Addresses
    telemetry: Telemetry

    def handle(self, event: Mapping[str, Any], context: Any = None) -> dict[str, Any]:
        """Handles the records of the stream or of the queue. The answer names the messages that stay in the queue.

        Raises what the queue raises where a change could be neither delivered nor put into the queue. The stream then
        brings it again.
        """
        if self.notifier is None and self.own is None:
            return {"batchItemFailures": []}
        staying = []
        for record in event.get("Records", ()):
            postponed = self.later.parse(record)
            change, to = (record, None) if postponed is None else (postponed.change, postponed.to)
            untold = self._untold(change, to)
            if postponed is not None and to in untold:
                staying.append({"itemIdentifier": postponed.message_id})
                continue
            for each in untold:
                self.later.put(change, each, at_once=each in ("tenant", "session"))
        return {"batchItemFailures": staying}

    def _untold(self, change: Mapping[str, Any], to: ReceiverName | None) -> tuple[ReceiverName | None, ...]:
        """Tells `to`, or the deployment's receiver where it is None. Returns the receivers that have to be told later;
        None in it: all of them, because the change could not be read. Each receiver fails alone.
        """
        untold: list[ReceiverName | None] = []
        try:
            for changed in self.changes.changed_by({"Records": [change]}):
                notification = _notification(changed, self.addresses)
                if notification is None:
                    continue
                if to is None and self.own is not None:
                    untold += self._own_of(self.own, notification, changed.partition)
                if not self._is_told(to or "deployment", notification, changed.partition):
                    untold.append(to or "deployment")
        except Exception as error:  # it concerns this change alone, so the others go on
            self.telemetry.failure(error)
            return (to,)
        return tuple(untold)

    def _own_of(
        self, own: OwnReceivers, notification: Notification, partition: str
    ) -> tuple[ReceiverName, ...]:
        """The receivers that the tenant and the session named. If this cannot be read now, returns both: one that was
        not named is told nothing later, and an address that both named may be told twice, under the same id.
        """
        try:
            return own.of(notification, partition)
        except Exception as error:  # it concerns these receivers alone: the operator is told all the same
            self.telemetry.failure(error)
            return ("tenant", "session")

    def _is_told(self, to: ReceiverName, notification: Notification, partition: str) -> bool:
        """True: it was delivered or refused for good, or is not for this receiver. False: try again later."""
        is_there = self.notifier if to == "deployment" else self.own
        if is_there is None or not notification.may_be_told(to):
            return True
        part = partition.removeprefix(TENANT).partition("#")[0]
        ids = {
            "notification_id": notification.notification_id,
            "notification": notification.event,
            "session_id": notification.session_id,
            "tenant_hash": tenant_hash(part_text(part) or part),
            "to": to,
        }
        if isinstance(notification, QuestionNotification):
            ids["intervention_id"] = notification.intervention_id
        try:
            if to != "deployment" and self.own is not None:
                self.own.send(to, notification, partition)
            elif self.notifier is not None:
                self.notifier.send(notification)
        except NotDelivered as failed:
            self.telemetry.logger.warning("not delivered", extra={**ids, "why": str(failed)})
            return False
        except NotificationRefused as refused:
            self.telemetry.logger.error("notification refused", extra={**ids, "why": str(refused)})
        except Exception as error:  # it concerns this receiver alone
            self.telemetry.failure(error)
            return False
        else:
            self.telemetry.logger.info("notified", extra=ids)
        return True


def _notification(changed: InterventionChange | SessionChange, addresses: Addresses) -> Notification | None:
    match changed:
        case InterventionChange(tenant, intervention, is_new) if intervention is not None:
            return question_notification(tenant, intervention, addresses, is_new=is_new)
        case SessionChange(head) if head is not None:
            return end_notification(head, addresses)
        case _:
            return None
