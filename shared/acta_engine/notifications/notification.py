"""What is told outside: that a person is needed, and that a session has ended (docs/design/people.md 31, ADR 68).

A notification has ids, types, states, names of roles and times, and no text that anybody wrote.
"""

import hashlib
import json
from datetime import UTC, datetime
from typing import Literal, NamedTuple
from urllib.parse import quote

from acta_engine.log.head import Head, SessionState
from acta_engine.people.intervention import Intervention
from acta_engine.people.options_and_defaults import InterventionType
from acta_engine.store.schema import FrozenModel

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
    """`notification_id`: made from what happened, so that a repeated notification has the same id. `private_to`: the
    owner of the session, where it is private; it is not sent.
    """

    notification_id: str
    event: NotificationEvent
    tenant: str
    session_id: str
    private_to: str | None = None

    def may_be_told(self, to: ReceiverName) -> bool:
        """What a private session does is told where its owner said (ADR 50, 68)."""
        return self.private_to is None or to == "session"

    def to_body(self) -> bytes:
        """The notification as JSON; the same notification gives the same bytes. Times are written as in the API."""
        fields = self.model_dump(exclude={"private_to"})
        for name, each in fields.items():
            if isinstance(each, datetime):
                fields[name] = each.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


class QuestionNotification(Notification):
    """An intervention waits for somebody. `role`: who may decide; None: whoever may in this session."""

    event: Literal["intervention.opened", "intervention.warned"]
    intervention_id: str
    type: InterventionType
    role: str | None
    created_at: datetime
    timeout_at: datetime | None
    links: dict[str, str]

    def may_be_told(self, to: ReceiverName) -> bool:
        """Who has the role sees the question of a private session, too. The operator is told of every question."""
        return super().may_be_told(to) or to == "deployment" or self.role is not None


class EndNotification(Notification):
    """A run is over. `run_id` None: the session never ran. `reason`: the code of the result, of the error or of the
    cancellation. `goal_met` None: it did not complete. `updated_at`: of the session's last commit.
    """

    event: Literal["session.ended"]
    run_id: str | None
    state: SessionState
    reason: str | None
    goal_met: bool | None
    updated_at: datetime
    links: dict[str, str]


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
        created_at=intervention.created_at,
        timeout_at=intervention.timeout_at,
        links=addresses.links(session_id, intervention_id),
        private_to=intervention.private_to,
    )


def end_notification(head: Head, addresses: Addresses = NO_ADDRESSES) -> EndNotification | None:
    """The notification after a change of a session's listing. `head`: the newest one.

    None: the session is not over, or not any more, or deleted. A run that an operator repaired ends anew, in a later
    generation, and is told anew.
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
