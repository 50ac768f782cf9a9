"""Interventions: questions that wait for a person, and the one decision that each gets (design §8)."""

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
"""The options of an `error_recovery` because the run is stuck. The ones above are for a call."""

HOURLY_OPTIONS = ("continue", "finish", "cancel")
"""The options of a `budget_exceeded` about the tenant's hour. When the next hour begins, it expires and the run goes
on."""

DEFAULTS: dict[InterventionType, str] = {
    "approval_required": "reject",
    "clarification_needed": "cancel",
    "error_recovery": "cancel",
    "checkpoint_review": "cancel",
    "budget_exceeded": "finish",
}

NEEDS_INPUT = frozenset({"answer", "modify", "raise", "record"})
"""Options that need an input from the person who decides."""

MAX_TIMEOUT_SECONDS = 2_592_000
"""30 days."""
ROLE_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$"


class Policy(Value):
    """An agent's rules for interventions of one type.

    `timeout_seconds` None: the usual time of the type. `default_action`: what happens when nobody decides in time;
    None: the usual option of the type. `role`: who may decide; None: any member of the tenant.
    """

    timeout_seconds: Annotated[int, Field(ge=1, le=MAX_TIMEOUT_SECONDS)] | None = None
    default_action: Annotated[str, Field(min_length=1, max_length=32)] | None = None
    role: Annotated[str, Field(pattern=ROLE_PATTERN)] | None = None

    def default_for(self, type: InterventionType, options: Sequence[str], *, is_about_call: bool) -> str:
        """What happens when nobody decides: the policy's action where it is allowed, else the usual one of the type.

        A call that may have had its effect is never repeated without a person.
        """
        wanted = self.default_action
        if wanted is None or wanted not in options or default_problem(type, wanted) is not None:
            return DEFAULTS[type]
        return DEFAULTS[type] if is_about_call and wanted == "retry" else wanted


Policies = Mapping[InterventionType, Policy]
NO_POLICIES: Policies = {}


def default_problem(type: InterventionType, option: str) -> str | None:
    """A sentence that says why `option` cannot be a default action; None: it can."""
    allowed = [one for one in OPTIONS[type] if one not in NEEDS_INPUT and one != "approve"]
    instead = f"A default is one of: {', '.join(allowed)}."
    if type == "approval_required" and option in ("approve", "modify"):
        return f"A default never approves a high-stakes call: only a person does. {instead}"
    if option not in OPTIONS[type]:
        return f"{type} has no such option. {instead}"
    if option in NEEDS_INPUT:
        return f"{option} needs an input that only a person can give. {instead}"
    return None


class PendingCall(Value):
    """The call that a person decides on. `input`: as it would run; where it is `shortened`, only the beginning.
    `input_hash`: made from the complete input, so that the decision is valid for this input only.
    """

    call_id: str
    name: str
    input: dict[str, Any]
    input_hash: str
    shortened: bool = False


class Intervention(Value):
    """`context`: what the person is shown, by type. `default_action`: what happens at `timeout_at`; None: it waits
    until somebody decides. `warned`: the warning before the timeout was given. `role`: the role that may decide; None:
    any member of the tenant. State `withdrawn`: the session ended before anybody decided.
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
        """Whether the time to decide is over."""
        return self.timeout_at is not None and self.timeout_at <= now


def is_pause(one: Intervention) -> bool:
    """Whether a person paused the session. Every other review comes from the session's `review_every`."""
    return one.type == "checkpoint_review" and "requested_by" in one.context


def with_pause_lifted(review: Intervention) -> Intervention:
    """Marks a review that was open while a pause was lifted. A second resume does not end such a review: so a client
    may repeat its resume, and still somebody has to decide on the review.
    """
    return review.model_copy(update={"context": {**review.context, "pause_lifted": True}})


def is_pause_lifted(review: Intervention) -> bool:
    """Whether `with_pause_lifted` has marked the review."""
    return "pause_lifted" in review.context


def reviewed_calls(one: Intervention) -> tuple[PendingCall, ...]:
    """The calls that run when a review is answered with `continue`. Empty where an earlier release stored the review:
    it kept the names only.
    """
    calls = one.context.get("calls")
    stored = calls if isinstance(calls, list | tuple) else ()
    return tuple(PendingCall.model_validate(call) for call in stored if isinstance(call, dict))


def is_shortened(one: Intervention, call: PendingCall) -> bool:
    """Whether `call.input` is only the beginning. An earlier release stored that in the intervention's context."""
    return call.shortened or one.context.get("shortened") is True


NO_ROLES: Set[str] = frozenset()


def require_role(one: Intervention, roles: Set[str]) -> None:
    """Raises RoleMissing where the person may not decide. `roles`: those in the person's token.

    Without a policy, any member of the tenant may decide. An admin counts as a member; apart from that, no role
    includes another one (design §8).
    """
    needed = one.role
    if needed is None or needed in roles or (needed == "member" and "admin" in roles):
        return
    raise RoleMissing(needed, one.session_id, one.intervention_id)
