"""Opens interventions: what a person is asked, and where the session goes once every one is decided."""

from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from shared.agent.thread import position
from shared.domain.change import Change
from shared.domain.commit import Decision
from shared.domain.content import Content
from shared.domain.conversation import ToolCall
from shared.domain.ids import INTERVENTION
from shared.domain.intervention import (
    DEFAULTS,
    HOURLY_OPTIONS,
    OPTIONS,
    STUCK_OPTIONS,
    Intervention,
    InterventionType,
    PendingCall,
    input_hash,
)
from shared.domain.session import Head, OpenCall
from shared.ports.clock import Clock

MAX_QUESTION_CHARS = 2_000
"""The head quotes so much of a question; the whole of it is in the conversation."""
MAX_SHOWN_INPUT_BYTES = 2_048


class Timeouts(NamedTuple):
    """Seconds: how long an approval waits, and how long before its expiry the warning comes."""

    approval: float
    warn: float


def open_approval(change: Change, call: ToolCall, timeouts: Timeouts, clock: Clock) -> None:
    """Withholds the call and asks for it; the decision will be bound to the hash of the input."""
    change.set(
        calls=tuple(
            OpenCall(call_id=c.call_id, name=c.name, state="withheld") if c.call_id == call.call_id else c
            for c in change.head.calls
        )
    )
    shown = _shown(call)
    _open(
        change, "approval_required", {"shortened": shown.input != call.input}, clock, shown, timeouts.approval
    )


def open_doubt(change: Change, call: ToolCall, clock: Clock) -> None:
    """Did it happen? The call started and nobody knows how it ended."""
    said = f"{call.name} was started and its end is unknown. Look whether it happened."
    _open(change, "error_recovery", {"question": said, "effect_id": call.effect_id}, clock, _shown(call))


def _shown(call: ToolCall) -> PendingCall:
    arguments = call.input or {}
    large = len(str(arguments).encode()) > MAX_SHOWN_INPUT_BYTES
    return PendingCall(
        call_id=call.call_id,
        name=call.name,
        input=_shortened(arguments) if large else arguments,
        input_hash=input_hash(arguments),
    )


def open_question(
    change: Change,
    type: Literal["clarification_needed", "budget_exceeded", "checkpoint_review", "error_recovery"],
    text: str,
    clock: Clock,
    **context: Any,
) -> None:
    """Asks a person without a deadline. `error_recovery`: of a session that is stuck, not of a call."""
    _open(change, type, {"question": text[:MAX_QUESTION_CHARS], **context}, clock)


def open_hourly_limit(change: Change, until: datetime, limit: int, clock: Clock) -> None:
    """The tenant's tokens of this hour are used up: goes on by itself when the next one begins."""
    said = "The tenant's tokens of this hour are used up."
    context = {"question": said, "scope": "tenant", "tokens_per_hour": limit}
    change.open_intervention(
        Intervention(
            intervention_id=clock.new_id(INTERVENTION),
            session_id=change.head.session_id,
            type="budget_exceeded",
            context=context,
            options=HOURLY_OPTIONS,
            default_action="continue",
            timeout_at=until,
            warned=True,
            created_at=change.now,
        )
    )


def _open(
    change: Change,
    type: InterventionType,
    context: dict[str, Any],
    clock: Clock,
    call: PendingCall | None = None,
    timeout: float | None = None,
) -> None:
    change.open_intervention(
        Intervention(
            intervention_id=clock.new_id(INTERVENTION),
            session_id=change.head.session_id,
            type=type,
            context=context,
            tool_call=call,
            options=STUCK_OPTIONS if type == "error_recovery" and call is None else OPTIONS[type],
            default_action=DEFAULTS[type],
            timeout_at=change.now + timedelta(seconds=timeout) if timeout is not None else None,
            created_at=change.now,
        )
    )


def _shortened(arguments: dict[str, Any]) -> dict[str, Any]:
    """Long texts cut for showing; the conversation has the whole, the hash is over the whole."""
    return {
        key: f"{value[:200]}… ({Content.of(value).bytes} bytes)"
        if isinstance(value, str) and len(value) > 200
        else value
        for key, value in arguments.items()
    }


def asking(head: Head, timeouts: Timeouts) -> Decision:
    """The engine waits; `wake_at` are the times at which it looks again: each warning, each expiry."""
    times = []
    for one in head.interventions:
        if one.timeout_at is not None:
            expiry = one.timeout_at.timestamp()
            times += [expiry] if one.warned else [expiry - timeouts.warn, expiry]
    return Decision(next="ask", at=position(head), wake_at=tuple(sorted(int(t) + 1 for t in times)))


def resumed(head: Head) -> Decision:
    """Where the engine goes on: open calls first, then the next turn, which waits if a person is asked."""
    at = position(head)
    if head.is_over:
        return Decision(next="failed" if head.state == "failed" else "done", at=at)
    ready = tuple(call.call_id for call in head.unfinished_calls)
    if ready and not head.interventions:
        return Decision(next="act", at=at, calls=ready)
    return Decision(next="think" if head.plan is not None and head.plan.is_live else "plan", at=at)
