"""What happened, as anyone who polls sees it (design §3)."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from shared.domain.value import Value

EventType = Literal[
    "run.started", "run.finished", "state.changed", "message.user", "message.assistant", "thought",
    "plan.created", "plan.revised", "plan.step", "plan.closed", "plan.rejected",
    "tool.requested", "tool.started", "tool.finished",
    "intervention.opened", "intervention.warned", "intervention.resolved", "intervention.expired",
    "hint.injected", "budget.warning", "llm.retried", "context.compacted",
]  # fmt: skip


class EventDraft(Value):
    """An event before the commit that gives it its number. `message.*` and `thought` name a `message_id`; the
    text itself is the conversation entry's and is added when the event is read.
    """

    type: EventType
    data: dict[str, Any] = Field(default_factory=dict)


class Event(Value):
    """`seq` is dense from 1 over the session; `step_number` is the step log's, None outside a step."""

    seq: int
    at: datetime
    type: EventType
    step_number: int | None = None
    data: dict[str, Any] = Field(default_factory=dict)
