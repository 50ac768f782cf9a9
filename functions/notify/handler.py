"""Notifies the outside of interventions that wait for a person, and of sessions that have ended.

The table's stream brings each change once. A change whose notification could not be delivered is put into a queue and
comes again from there, so that it holds up no other change.
"""

from collections.abc import Mapping
from typing import Any

from functions.notify.dependencies import Dependencies, dependencies
from shared.domain.notifications.notification import (
    Addresses,
    Notification,
    QuestionNotification,
    end_notification,
    question_notification,
)
from shared.ports.notifier import (
    InterventionChange,
    NotDelivered,
    NotificationRefused,
    Notifier,
    SessionChange,
)
from shared.telemetry import Telemetry

telemetry = Telemetry("notify")


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return notify_all(dependencies(), event)


def notify_all(deps: Dependencies, event: Mapping[str, Any]) -> dict[str, Any]:
    """Handles the records of the stream or of the queue. The answer names the messages that stay in the queue.

    Raises what the queue raises where a change could be neither delivered nor put into the queue. The stream then
    brings it again.
    """
    if deps.notifier is None:
        return {"batchItemFailures": []}
    staying = []
    for record in event.get("Records", ()):
        postponed = deps.later.parse(record)
        if postponed is None:
            if not _is_handled(deps, deps.notifier, record):
                deps.later.put(record)
        elif not _is_handled(deps, deps.notifier, postponed.change):
            staying.append({"itemIdentifier": postponed.message_id})
    return {"batchItemFailures": staying}


def _is_handled(deps: Dependencies, notifier: Notifier, change: Mapping[str, Any]) -> bool:
    """True: the notification was delivered or refused for good, or there is none to send. False: try again later."""
    try:
        for changed in deps.changes.changed_by({"Records": [change]}):
            notification = _notification(changed, deps.addresses)
            if notification is not None and notification.may_be_told("deployment"):
                _send(notifier, notification)
    except NotDelivered:
        return False
    except Exception as error:  # it concerns this change alone, so the others go on
        telemetry.failure(error)
        return False
    return True


def _notification(changed: InterventionChange | SessionChange, addresses: Addresses) -> Notification | None:
    match changed:
        case InterventionChange(tenant, intervention, is_new) if intervention is not None:
            return question_notification(tenant, intervention, addresses, is_new=is_new)
        case SessionChange(head) if head is not None:
            return end_notification(head, addresses)
        case _:
            return None


def _send(notifier: Notifier, notification: Notification) -> None:
    """Raises NotDelivered."""
    ids = {
        "notification_id": notification.notification_id,
        "notification": notification.event,
        "session_id": notification.session_id,
    }
    if isinstance(notification, QuestionNotification):
        ids["intervention_id"] = notification.intervention_id
    try:
        notifier.send(notification)
    except NotDelivered as failed:
        telemetry.logger.warning("not delivered", extra={**ids, "why": str(failed)})
        raise
    except NotificationRefused as refused:
        telemetry.logger.error("notification refused", extra={**ids, "why": str(refused)})
    else:
        telemetry.logger.info("notified", extra=ids)


handler = telemetry.watch(handle)
