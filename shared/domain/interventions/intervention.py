"""What waits for a person, and the one decision it gets (design §8)."""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from shared.domain.errors import RoleMissing
from shared.domain.value import Value

InterventionType = Literal[
    "approval_required", "clarification_needed", "error_recovery", "checkpoint_review", "budget_exceeded"
]
InterventionState = Literal["pending", "resolved", "expired", "withdrawn"]

OPTIONS: dict[InterventionType, tuple[str, ...]] = {
    "approval_required": ("approve", "reject", "modify"),
    "clarification_needed": ("answer", "cancel"),
    "error_recovery": ("retry", "record", "skip", "cancel"),
    "checkpoint_review": ("continue", "cancel"),
    "budget_exceeded": ("raise", "finish", "cancel"),
}

STUCK_OPTIONS = ("retry", "cancel")
"""Of an `error_recovery` that is about the session, not about a call."""

HOURLY_OPTIONS = ("continue", "finish", "cancel")
"""Of a `budget_exceeded` that is about the tenant's hour; it expires into `continue` when the next hour begins."""

DEFAULTS: dict[InterventionType, str] = {
    "approval_required": "reject",
    "clarification_needed": "cancel",
    "error_recovery": "cancel",
    "checkpoint_review": "cancel",
    "budget_exceeded": "finish",
}

NEEDS_INPUT = frozenset({"answer", "modify", "raise", "record"})
"""Options that mean nothing without what a person gives along."""

MAX_TIMEOUT_SECONDS = 2_592_000
"""30 days."""
ROLE_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$"


class Policy(Value):
    """What an agent wants of one type: how long it waits (None: as long as it does by itself), what happens when
    nobody decides, and the role that may decide (None: any member of the tenant).
    """

    timeout_seconds: Annotated[int, Field(ge=1, le=MAX_TIMEOUT_SECONDS)] | None = None
    default_action: Annotated[str, Field(min_length=1, max_length=32)] | None = None
    role: Annotated[str, Field(pattern=ROLE_PATTERN)] | None = None

    def default_for(self, type: InterventionType, options: Sequence[str], *, of_call: bool) -> str:
        """One of `options`, whatever is stored. A call that may have happened is never repeated by itself."""
        wanted = self.default_action
        if wanted is None or wanted not in options or wrong_default(type, wanted) is not None:
            return DEFAULTS[type]
        return DEFAULTS[type] if of_call and wanted == "retry" else wanted


Policies = Mapping[InterventionType, Policy]
NO_POLICIES: Policies = {}


def wrong_default(type: InterventionType, option: str) -> str | None:
    """Why the option cannot be what happens when nobody decides; None: it can."""
    by_itself = [one for one in OPTIONS[type] if one not in NEEDS_INPUT and one != "approve"]
    instead = f"A default is one of: {', '.join(by_itself)}."
    if type == "approval_required" and option in ("approve", "modify"):
        return f"A default never approves a high-stakes call: only a person does. {instead}"
    if option not in OPTIONS[type]:
        return f"{type} has no such option. {instead}"
    if option in NEEDS_INPUT:
        return f"{option} needs what a person gives along. {instead}"
    return None


class PendingCall(Value):
    """The call a person decides on. `input` as it would run, or its beginning where it is `shortened`; `input_hash`,
    over the whole of it, binds the decision to it.
    """

    call_id: str
    name: str
    input: dict[str, Any]
    input_hash: str
    shortened: bool = False


class Intervention(Value):
    """`timeout_at` None: waits for ever. `withdrawn`: the session was cancelled first. `role`: what the token of who
    decides has to have; None: any member's will do.
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
    state: InterventionState = "pending"
    resolution: str | None = None
    input: dict[str, Any] | None = None
    comment: str | None = None
    resolved_by: str | None = None
    resolved_at: datetime | None = None
    created_at: datetime

    def is_due(self, now: datetime) -> bool:
        """Nobody has decided in time."""
        return self.timeout_at is not None and self.timeout_at <= now


def is_pause(one: Intervention) -> bool:
    """A person's own pause, which is nobody's policy; every other review is one that the agent asked for."""
    return one.type == "checkpoint_review" and "requested_by" in one.context


def outlasting(review: Intervention) -> Intervention:
    """The review, open still when a pause beside it was lifted: only a decision on itself ends it from now on, so that
    lifting a pause twice is lifting it once.
    """
    return review.model_copy(update={"context": {**review.context, "pause_lifted": True}})


def has_outlasted(review: Intervention) -> bool:
    return "pause_lifted" in review.context


def reviewed_calls(one: Intervention) -> tuple[PendingCall, ...]:
    """Of a review: the calls that run when it is answered `continue`. An earlier release stored their names alone."""
    calls = one.context.get("calls")
    stored = calls if isinstance(calls, list | tuple) else ()
    return tuple(PendingCall.model_validate(call) for call in stored if isinstance(call, dict))


def is_shortened(one: Intervention, call: PendingCall) -> bool:
    """What an earlier release stored says so in the context."""
    return call.shortened or one.context.get("shortened") is True


NOBODY: Set[str] = frozenset()
"""The roles of somebody who has none."""


def require_role(one: Intervention, roles: Set[str]) -> None:
    """Checks that a person may decide: any member of the tenant, or those with the role the agent's policy names.

    `roles`: those of the person's token. An admin is a member; no other role includes another one (design §8). Raises
    RoleMissing.
    """
    needed = one.role
    if needed is None or needed in roles or (needed == "member" and "admin" in roles):
        return
    raise RoleMissing(needed, one.session_id, one.intervention_id)
