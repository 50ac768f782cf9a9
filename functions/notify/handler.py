"""Tells the outside what waits for a person. The table's stream brings each change once; one that is not told then
waits in a queue of its own and comes again from there, so that it holds nobody up."""

from collections.abc import Mapping
from typing import Any

from functions.notify.root import Root, root
from shared.api.telemetry import Telemetry
from shared.domain.interventions.notification import Notification, notification_of
from shared.ports.notifier import NotDelivered, NotificationRefused, Notifier

telemetry = Telemetry("notify")


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return tell_all(root(), event)


def tell_all(its: Root, event: Mapping[str, Any]) -> dict[str, Any]:
    """The answer names the messages that stay in the queue. Raises where a change can be neither told nor put there:
    the stream comes again with it.
    """
    staying = []
    for record in event.get("Records", ()) if its.notifier is not None else ():
        postponed = its.later.opened(record)
        if postponed is None:
            if not _is_done(its, record):
                its.later.put(record)
        elif not _is_done(its, postponed.change):
            staying.append({"itemIdentifier": postponed.message_id})
    return {"batchItemFailures": staying}


def _is_done(its: Root, change: Mapping[str, Any]) -> bool:
    """Told, refused for good, or nothing to tell (any more)."""
    try:
        for changed in its.changes.told_by({"Records": [change]}):
            if its.notifier is not None and changed.intervention is not None:
                told = notification_of(changed.tenant, changed.intervention, is_new=changed.is_new)
                if told is not None:
                    _tell(its.notifier, told)
    except NotDelivered:
        return False
    except Exception as error:  # whatever it is, it is this change's alone
        telemetry.failure(error)
        return False
    return True


def _tell(notifier: Notifier, notification: Notification) -> None:
    ids = {
        "notification_id": notification.notification_id,
        "notification": notification.event,
        "session_id": notification.session_id,
        "intervention_id": notification.intervention_id,
    }
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
