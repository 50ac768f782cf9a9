"""What a session has said and done."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from acta_engine.api.formats import Counter, Instant
from acta_engine.plans.shapes import Plan


class MessageCall(TypedDict):
    """A tool call that the message asks for."""

    call_id: str
    name: str
    input: dict[str, Any] | None
    """As the model wrote it; null: it wrote no JSON object, and the call never ran."""
    amended: NotRequired[bool]
    amended_input: NotRequired[dict[str, Any]]
    """What ran instead, given by a person."""


class WholeText(TypedDict):
    """Where all of it is: `GET /v1/sessions/{session_id}/texts/{text_id}`."""

    text_id: str
    bytes: Counter


class TextPart(TypedDict):
    """A part of a long text, in whole characters."""

    text: str
    offset: Counter
    """Of its first byte."""
    bytes: Counter
    """Of the whole text, in UTF-8."""
    next_offset: Annotated[int, Field(ge=0)] | None
    """null: this is the end."""


class Message(TypedDict):
    """An entry of the conversation."""

    message_id: str
    seq: Counter
    """Of the event that told it."""
    at: Instant
    role: Literal["user", "assistant", "tool"]
    content: str
    tool_calls: NotRequired[list[MessageCall]]
    call_id: NotRequired[str]
    """Of role `tool`: the call that this is the result of."""
    whole: NotRequired[WholeText]
    """Of a result that was too long for the model: `content` is what it was shown."""
    continues: NotRequired[str]
    """The id of the message that was cut off and goes on here without a gap."""
    inherited: NotRequired[bool]
    """Of a fork: it was said in the session that this one was forked from."""
    truncated: NotRequired[bool]
    """Its texts were cut, because one page could not hold it."""


class Plans(TypedDict):
    """The plan as it is, and a page of its versions as they were made, the oldest first."""

    plan: Plan
    versions: list[Plan]
    next_cursor: str | None


class Scratchpad(TypedDict):
    """What the agent has noted for the rest of the session. It is shown its notes in every turn."""

    notes: list[str]
    """Oldest first, at most 20 of up to 500 characters."""


class Step(TypedDict):
    """A row of the step log: a model call, a tool call or a decision."""

    step_number: Annotated[int, Field(ge=1)]
    kind: Literal["plan", "llm", "tool", "intervention"]
    name: str | None
    started_at: Instant
    completed_at: Instant
    duration_ms: Counter
    attempt: Counter
    """0: the first one."""
    input_tokens: Counter
    output_tokens: Counter
    cached_input_tokens: Counter
    cost_usd: float | None
    """null: the model's price is not known."""
    error: str | None
    """The code of what failed."""
    estimated_tokens: int
    """Charged for an attempt that told no usage; below 0: taken back, because it has answered after all."""
    estimated_cost_usd: float
    fused: bool
    """The worker of the step before went on by itself."""
    truncated: NotRequired[bool]


class TraceRow(TypedDict):
    """Thought, action, input and observation of one call; the last row of a run has its final answer instead."""

    step_number: int | None
    thought: str | None
    action: NotRequired[str]
    action_input: NotRequired[dict[str, Any] | None]
    amended: NotRequired[bool]
    amended_input: NotRequired[dict[str, Any]]
    observation: NotRequired[str | None]
    """null: there is no result yet."""
    final_answer: NotRequired[str]
    truncated: NotRequired[bool]
