"""What is told outside, and to whom: that a person is needed, and that a session has ended (docs/design/people.md 31,
ADR 68). A notification has ids, types, states, names of roles and times, and no text that anybody wrote.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, Protocol
from urllib.parse import quote

from acta.engine.log.head import Head, SessionState
from acta.engine.notifications.receiver import TenantReceiver
from acta.engine.people.intervention import Intervention
from acta.engine.people.policies import InterventionType
from acta.engine.store.schema import FrozenModel

NotificationEvent = Literal["intervention.opened", "intervention.warned", "session.ended"]


OWN_PAGE = "/console"
"""Where every deployment has its page for people, below the API's base URL (ADR 103)."""


class Addresses(NamedTuple):
    """Where people find what a notification is about. `api`: the API's base URL; empty: not known, and a link is the
    path alone. `console`: the base URL of a console of the operator's; empty: it is the deployment's own page.
    """

    api: str = ""
    console: str = ""

    def links(self, session_id: str, intervention_id: str | None = None) -> dict[str, str]:
        """By what they lead to: `api` and, where an address is known, `console`, where a person sees it."""
        session, api = quote(session_id, safe=""), self.api.rstrip("/")
        path, page = f"/sessions/{session}", f"{OWN_PAGE}/sessions/{session}"
        if intervention_id is not None:
            intervention = quote(intervention_id, safe="")
            path += f"/interventions/{intervention}"
            page = f"{OWN_PAGE}/inbox/{session}/{intervention}"
        links = {"api": f"{api}/v1{path}"}
        if self.console:
            return links | {"console": self.console.rstrip("/") + path}
        return links | ({"console": api + page} if api else {})


NO_ADDRESSES = Addresses()

ReceiverName = Literal["deployment", "tenant", "session"]
"""Who is told: the webhook or topic that the operator named, the tenant's webhook, that of the session."""


class Notification(FrozenModel):
    """The texts under the fields stand in the API's document."""

    notification_id: str
    """The same for each repeat, and the same as the header `webhook-id`."""  # it is made from what happened
    event: NotificationEvent
    """What has happened."""
    tenant: str
    """Your tenant."""
    session_id: str
    """The session that it is about."""
    private_to: str | None = None
    """The owner of the session, where it is private. It is not sent."""

    def may_be_told(self, to: ReceiverName) -> bool:
        """Whether this receiver may be told. News of a private session go only where its owner said (ADR 50, 68)."""
        return self.private_to is None or to == "session"

    def to_body(self) -> bytes:
        """The notification as JSON; the same notification gives the same bytes. Times are written as in the API."""
        fields = self.model_dump(exclude={"private_to"})
        for name, each in fields.items():
            if isinstance(each, datetime):
                fields[name] = each.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


class QuestionNotification(Notification):
    """A person has to decide. The question itself is not sent: read the intervention."""

    event: Literal["intervention.opened", "intervention.warned"]
    intervention_id: str
    """Read it, and decide it with `…/resolve`."""
    type: InterventionType
    """What is asked."""
    role: str | None
    """Who may decide. null: whoever may write to the session."""
    also_roles: tuple[str, ...] = ()
    """Further roles that whoever decides needs as well."""
    asked_for: tuple[str, ...] = ()
    """The ids of the sessions above, for which this one works, the first of all first."""
    created_at: datetime
    """When it opened."""
    timeout_at: datetime | None
    """When its default decides. null: it waits for a person."""
    links: dict[str, str]
    """`api`: where the API has it. `console`: the page where a person sees it and decides."""

    def may_be_told(self, to: ReceiverName) -> bool:
        """Whoever has the role also sees the question of a private session. The operator is told of every question."""
        return super().may_be_told(to) or to == "deployment" or self.role is not None


class EndNotification(Notification):
    """A run has ended. The answer is not sent: read the session."""

    event: Literal["session.ended"]
    run_id: str | None
    """The run. null: the session was cancelled before it ran."""
    state: SessionState
    """How it ended. `completed` alone is no success: look at `goal_met`."""
    reason: str | None
    """`result.reason`, else the code of `error` or of the cancellation, in lower case."""
    goal_met: bool | None
    """Whether the goal is met. null: the run did not complete."""
    updated_at: datetime
    """When it ended."""
    links: dict[str, str]
    """`api`: where the API has it. `console`: the page where a person sees it and decides."""


def question_notification(
    tenant: str, intervention: Intervention, addresses: Addresses = NO_ADDRESSES, *, is_new: bool
) -> QuestionNotification | None:
    """The notification after a change of an intervention. `is_new`: the change was its opening.

    None: there is nothing to send, because it is no longer open, or because the change was neither the opening nor the
    warning.
    """
    if intervention.state != "pending" or not (is_new or intervention.warned):
        return None
    session_id, intervention_id = intervention.session_id, intervention.intervention_id
    event: Literal["intervention.opened", "intervention.warned"] = (
        "intervention.opened" if is_new else "intervention.warned"
    )
    return QuestionNotification(
        notification_id=_id_of(tenant, session_id, intervention_id, event),
        event=event,
        tenant=tenant,
        session_id=session_id,
        intervention_id=intervention_id,
        type=intervention.type,
        role=intervention.role,
        also_roles=intervention.also_roles,
        asked_for=tuple(each.session_id for each in intervention.chain),
        created_at=intervention.created_at,
        timeout_at=intervention.timeout_at,
        links=addresses.links(session_id, intervention_id),
        private_to=intervention.private_to,
    )


def end_notification(head: Head, addresses: Addresses = NO_ADDRESSES) -> EndNotification | None:
    """The notification after a change of a session's listing. `head`: the newest one.

    None: the session is not over, no longer over, or deleted. A run that an operator repaired ends a second time, in a
    later generation, and that end is told, too.
    """
    if not head.is_over or head.deleted:
        return None
    run = head.run
    ended = ("", "0") if run is None else (run.run_id, str(run.generation))
    return EndNotification(
        notification_id=_id_of(head.tenant, head.session_id, *ended, "session.ended"),
        event="session.ended",
        tenant=head.tenant,
        session_id=head.session_id,
        run_id=None if run is None else run.run_id,
        state=head.state,
        reason=head.state_reason,
        goal_met=head.result.goal_met if head.state == "completed" and head.result is not None else None,
        updated_at=head.updated_at,
        links=addresses.links(head.session_id),
        private_to=head.private_to,
    )


def _id_of(*happened: str) -> str:
    return f"ntf_{hashlib.sha256(chr(0).join(happened).encode()).hexdigest()[:32]}"


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
