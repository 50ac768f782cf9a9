"""What waits for a person, and the one decision it gets (design §8)."""

import hashlib
import json
from datetime import datetime
from typing import Any, Literal

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


class PendingCall(Value):
    """The call a person decides on. `input` as it would run; `input_hash` binds the decision to it."""

    call_id: str
    name: str
    input: dict[str, Any]
    input_hash: str


class Intervention(Value):
    """`timeout_at` None: waits for ever. `withdrawn`: the session was cancelled first."""

    intervention_id: str
    session_id: str
    type: InterventionType
    context: dict[str, Any]
    tool_call: PendingCall | None = None
    options: tuple[str, ...]
    default_action: str
    timeout_at: datetime | None = None
    warned: bool = False
    state: InterventionState = "pending"
    resolution: str | None = None
    input: dict[str, Any] | None = None
    comment: str | None = None
    resolved_by: str | None = None
    resolved_at: datetime | None = None
    created_at: datetime


def input_hash(arguments: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of a call's input, 32 hex digits."""
    canonical = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]
