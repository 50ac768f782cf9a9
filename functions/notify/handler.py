"""Tells the outside what waits for a person: fed by the table's stream, which brings again what was not taken."""

from typing import Any

from functions.notify.root import Root, root
from shared.api.telemetry import Telemetry
from shared.domain.notification import Notification, notification_of
from shared.ports.notifier import NotDelivered, NotificationRefused, Notifier

telemetry = Telemetry("notify")


def handle(event: dict[str, Any], context: Any) -> None:
    tell_all(root(), event)


def tell_all(its: Root, event: dict[str, Any]) -> None:
    """Raises what keeps a change from being told: Lambda comes again with it, later ones wait behind it."""
    if its.notifier is None:
        return
    for changed in its.changes.told_by(event):
        if changed.intervention is not None:
            told = notification_of(changed.tenant, changed.intervention, is_new=changed.is_new)
            if told is not None:
                _tell(its.notifier, told)


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
