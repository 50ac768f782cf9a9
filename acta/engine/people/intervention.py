"""Interventions: questions that wait for a person, and the one decision that each gets (docs/design/people.md)."""

from collections.abc import Container, Iterable, Sequence, Set
from datetime import datetime
from typing import Any, Literal

from acta.engine.audit.record import Via
from acta.engine.errors import ApproverMustDiffer, NotYours, RoleMissing
from acta.engine.people.policies import InterventionType, has_one_of
from acta.engine.store.schema import StoredModel

InterventionState = Literal["pending", "resolved", "expired", "withdrawn"]


class SeenFile(StoredModel):
    """A file as it was when a person was asked whether a call may replace or delete it. `etag`: the tag of its bytes;
    empty: there was no file.
    """

    path: str
    etag: str


class PendingCall(StoredModel):
    """The call that a person decides on. `input`: as it would run; where it is `shortened`, only the beginning.
    `input_hash`: made from the complete input, so that the decision is valid for this input only. `seen_file`: the file
    that it would replace or delete.
    """

    call_id: str
    name: str
    input: dict[str, Any]
    input_hash: str
    shortened: bool = False
    seen_file: SeenFile | None = None


class Asker(StoredModel):
    """A session in whose name another one works."""

    session_id: str
    agent_id: str
    agent_name: str
    goal: str
    """The beginning."""
    run_id: str = ""
    """The run whose call it is."""


class Intervention(StoredModel):
    """`context`: what the person is shown, by type. `default_action`: what happens at `timeout_at`; None: it waits
    until somebody decides. `warned`: the warning before the timeout was given. `role`: the role that may decide; None:
    any member of the tenant. `also_roles`: further ones that whoever decides needs as well, because agents of sessions
    above name them. `chain`: the sessions above, in whose name this one works, the first of all first. State
    `withdrawn`: the session ended before anybody decided. `private_to`: the owner of the private session that asks;
    None: it is the tenant's. `agent_name`: what the agent that asks is called. `via`: the way by which the decision
    came; None: no person has chosen an option.
    """

    intervention_id: str
    session_id: str
    type: InterventionType
    context: dict[str, Any]
    tool_call: PendingCall | None = None
    options: tuple[str, ...]
    default_action: str
    timeout_at: datetime | None = None
    warned: bool = False
    role: str | None = None
    also_roles: tuple[str, ...] = ()
    chain: tuple[Asker, ...] = ()
    state: InterventionState = "pending"
    resolution: str | None = None
    input: dict[str, Any] | None = None
    comment: str | None = None
    resolved_by: str | None = None
    via: Via | None = None
    resolved_at: datetime | None = None
    created_at: datetime
    private_to: str | None = None
    agent_name: str = ""

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of which whoever decides needs each one."""
        return () if self.role is None else (self.role, *self.also_roles)

    def is_due(self, now: datetime) -> bool:
        """Whether the time to decide is over."""
        return self.timeout_at is not None and self.timeout_at <= now


def is_pause(one: Intervention) -> bool:
    """Whether a person paused the session. Every other review comes from the session's `review_every`."""
    return one.type == "checkpoint_review" and "requested_by" in one.context


HELD_BY = "held_by"


def is_hold(one: Intervention) -> bool:
    """Whether the session is paused because a session above it is. Nobody is asked about it: it is in no listing, and
    ends with the pause above.
    """
    return HELD_BY in one.context


def holder(pause: Intervention) -> str:
    """The session that people have paused: this one, or the one above whose pause holds it."""
    return str(pause.context.get(HELD_BY, pause.session_id))


def is_clarification(one: Intervention) -> bool:
    """Whether the agent asks, so that a message answers it. What the server of a tool asks has fields of its own."""
    return one.type == "clarification_needed" and one.tool_call is None


def with_outage(context: dict[str, Any], reason: str, code: str, since: datetime) -> dict[str, Any]:
    """Marks the context of a question about an outage."""
    return context | {"outage": {"reason": reason, "code": code, "since": since.isoformat()}}


def is_about_outage(one: Intervention) -> bool:
    """Whether `with_outage` has marked the question: it asks whether to try on, not what to do otherwise."""
    return "outage" in one.context


def with_restored_to(at: str) -> dict[str, Any]:
    """What marks the context of a question about a session whose log was restored to that time."""
    return {"restored_to": at}


def is_about_restore(one: Intervention) -> bool:
    return "restored_to" in one.context


def with_pause_lifted(review: Intervention) -> Intervention:
    """Marks a review that was open while a pause was lifted. A second resume does not end such a review: so a client
    may repeat its resume, and still somebody has to decide on the review.
    """
    return review.model_copy(update={"context": {**review.context, "pause_lifted": True}})


def is_pause_lifted(review: Intervention) -> bool:
    """Whether `with_pause_lifted` has marked the review."""
    return "pause_lifted" in review.context


OTHERS_ONLY = "approver_must_differ"
"""The mark in an intervention's context: it stands there because every release stores all of a context."""


def with_others_only(context: dict[str, Any]) -> dict[str, Any]:
    """Marks the context of a question about a call that nobody who asked for it may let run."""
    return context | {OTHERS_ONLY: True}


def is_for_others_only(one: Intervention) -> bool:
    """Whether `with_others_only` has marked the question."""
    return one.context.get(OTHERS_ONLY) is True


def reviewed_calls(one: Intervention) -> tuple[PendingCall, ...]:
    """The calls that run when a review is answered with `continue`."""
    return tuple(PendingCall.model_validate(call) for call in one.context.get("calls") or ())


def deciding(roles: Iterable[str]) -> dict[str, Any]:
    """The fields of a question that whoever has all these roles decides."""
    role, *others = dict.fromkeys(roles) or (None,)
    return {"role": role, "also_roles": tuple(others)}


NO_ROLES: Set[str] = frozenset()


def require_role(one: Intervention, roles: Set[str], start_roles: Sequence[tuple[str, ...]]) -> None:
    """Raises RoleMissing where the person may not decide. `roles`: those in the person's token. `start_roles`: who may
    start sessions of the agent, as `AgentDefinition.wanted_roles`.

    Where the question names no role, whoever may start the session may decide. A pause is nobody's question: any member
    ends it.
    """
    named = [(role,) for role in one.roles]
    for wanted in named or (() if is_pause(one) else start_roles):
        if not has_one_of(wanted, roles):
            raise RoleMissing(wanted, one.session_id, one.intervention_id)


def as_asked_now(one: Intervention, roles: Sequence[str], *, others_only: bool) -> Intervention:
    """The question as it was asked, and as it would be asked now. `roles`, `others_only`: who would decide now."""
    update: dict[str, Any] = deciding((*one.roles, *roles))
    if others_only and not is_for_others_only(one):
        options = tuple(option for option in one.options if option != "modify")
        update |= {"context": with_others_only(one.context), "options": options}
    return one.model_copy(update=update)


ENDS_WORK = frozenset({"reject", "skip", "cancel", "finish"})
"""Options after which nothing runs that the question was about."""
LETS_RUN = frozenset({"approve", "modify", "retry"})
"""Options after which a call runs."""


def lets_run(one: Intervention, option: str) -> bool:
    """Whether a call that others have to decide on runs after this option, or goes on with an answer to its server.
    Everybody may refuse it.
    """
    goes_on = option == "answer" and one.tool_call is not None
    return is_for_others_only(one) and (goes_on or option in LETS_RUN)


PERSON_DECIDES = (
    "A person has to decide this, and no model for them. Over MCP the tool decide asks the person, or says where they "
    "decide."
)


def require_person(one: Intervention, option: str, via: Via) -> None:
    """Raises NotYours where a client's model has called a tool for a decision that its person has to make.

    A model may refuse, because then nothing runs that the question was about. It may answer the agent's own question,
    because that is a message like any other, unless the question names a role. Every other option lets something run,
    go on or be recorded.
    """
    is_message = option == "answer" and is_clarification(one) and one.role is None
    if via == "mcp" and option not in ENDS_WORK and not is_message:
        raise NotYours(PERSON_DECIDES, None, one.session_id, one.intervention_id)


def require_another(one: Intervention, option: str, user: str, askers: Container[str]) -> None:
    """Raises ApproverMustDiffer where the person has asked for the call that the option lets run. `askers`: the
    subjects of those who asked (`Head.askers`).
    """
    if lets_run(one, option) and user in askers:
        alone = one.private_to is not None and one.role is None
        raise ApproverMustDiffer(one.role, one.session_id, one.intervention_id, alone=alone)
