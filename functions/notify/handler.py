"""Notifies the outside of interventions that wait for a person, and of sessions that have ended.

The table's stream brings each change once. A change whose notification could not be delivered is put into a queue and
comes again from there, so that it holds up no other change. What goes to the webhooks of tenants and sessions is put
there before it is tried at all: a server that a tenant chose must not hold up the stream, which brings everybody's.
"""

from collections.abc import Mapping
from typing import Any

from acta_engine.notifications.dependencies import Dependencies, dependencies
from acta_engine.notifications.notification import (
    Addresses,
    Notification,
    QuestionNotification,
    ReceiverName,
    end_notification,
    question_notification,
)
from acta_engine.notifications.notifier import (
    InterventionChange,
    NotDelivered,
    NotificationRefused,
    OwnReceivers,
    SessionChange,
)
from acta_engine.store.keys import TENANT, part_text
from acta_engine.telemetry import Telemetry
from acta_engine.tenant_hash import tenant_hash

telemetry = Telemetry("notify")


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return notify_all(dependencies(), event)


def notify_all(deps: Dependencies, event: Mapping[str, Any]) -> dict[str, Any]:
    """Handles the records of the stream or of the queue. The answer names the messages that stay in the queue.

    Raises what the queue raises where a change could be neither delivered nor put into the queue. The stream then
    brings it again.
    """
    if deps.notifier is None and deps.own is None:
        return {"batchItemFailures": []}
    staying = []
    for record in event.get("Records", ()):
        postponed = deps.later.parse(record)
        if postponed is None:
            for to in _untold(deps, record, None):
                deps.later.put(record, to, at_once=to in ("tenant", "session"))
        elif postponed.to is not None:
            if _untold(deps, postponed.change, postponed.to):
                staying.append({"itemIdentifier": postponed.message_id})
        else:
            untold = _untold(deps, postponed.change, None)
            if None in untold:
                staying.append({"itemIdentifier": postponed.message_id})
            else:
                for to in untold:
                    deps.later.put(postponed.change, to, at_once=to in ("tenant", "session"))
    return {"batchItemFailures": staying}


def _untold(
    deps: Dependencies, change: Mapping[str, Any], to: ReceiverName | None
) -> tuple[ReceiverName | None, ...]:
    """Tells `to`, or where it is None the deployment's receiver. Those who have to be told later; None: everybody,
    because the change could not be read. Each receiver fails alone.
    """
    untold: list[ReceiverName | None] = []
    try:
        for changed in deps.changes.changed_by({"Records": [change]}):
            notification = _notification(changed, deps.addresses)
            if notification is None:
                continue
            if to is None and deps.own is not None:
                untold += _own_of(deps.own, notification, changed.partition)
            if not _is_told(deps, to or "deployment", notification, changed.partition):
                untold.append(to or "deployment")
    except Exception as error:  # it concerns this change alone, so the others go on
        telemetry.failure(error)
        return (to,)
    return tuple(untold)


def _own_of(own: OwnReceivers, notification: Notification, partition: str) -> tuple[ReceiverName, ...]:
    """Those that the tenant and the session named. Where that cannot be read now, both: who named none is told nothing
    later, and one address that both named may be told twice under the same id.
    """
    try:
        return own.of(notification, partition)
    except Exception as error:  # it concerns these receivers alone: the operator is told all the same
        telemetry.failure(error)
        return ("tenant", "session")


def _notification(changed: InterventionChange | SessionChange, addresses: Addresses) -> Notification | None:
    match changed:
        case InterventionChange(tenant, intervention, is_new) if intervention is not None:
            return question_notification(tenant, intervention, addresses, is_new=is_new)
        case SessionChange(head) if head is not None:
            return end_notification(head, addresses)
        case _:
            return None


def _is_told(deps: Dependencies, to: ReceiverName, notification: Notification, partition: str) -> bool:
    """True: it was delivered or refused for good, or is not for this receiver. False: try again later."""
    is_there = deps.notifier if to == "deployment" else deps.own
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
        if to != "deployment" and deps.own is not None:
            deps.own.send(to, notification, partition)
        elif deps.notifier is not None:
            deps.notifier.send(notification)
    except NotDelivered as failed:
        telemetry.logger.warning("not delivered", extra={**ids, "why": str(failed)})
        return False
    except NotificationRefused as refused:
        telemetry.logger.error("notification refused", extra={**ids, "why": str(refused)})
    except Exception as error:  # it concerns this receiver alone
        telemetry.failure(error)
        return False
    else:
        telemetry.logger.info("notified", extra=ids)
    return True


handler = telemetry.watch(handle)
