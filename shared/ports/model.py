"""A language model: one request, one reply.

Adapters translate to a provider's wire format and back, and raise the errors of `shared.domain.errors`:
`ProviderOverloaded`, `ProviderTimeout`, `ProviderUnavailable`, `StreamBroken` (the engine tries again),
`ProviderRejected`, `ProviderKeyRefused`, `ProviderQuotaExceeded` (the run ends). They never retry by themselves:
retries are the engine's, so that attempts × time stays inside the step's deadline.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

from shared.domain.session.conversation import Entry

StopReason = Literal["end", "tools", "max_tokens", "pause", "refusal"]


class ToolDefinition(NamedTuple):
    """What a model is told of a tool; `input_schema` is a JSON Schema of type object."""

    name: str
    description: str
    input_schema: dict[str, Any]


class StreamOptions(NamedTuple):
    """Who listens while an answer comes. `begins_within`: seconds by which its first byte has to be there, None: any
    time; `on_text`: is given the answer's text piece by piece, must come back at once and raise nothing. An adapter
    that has the answer only when it is whole may ignore both.
    """

    begins_within: float | None = None
    on_text: Callable[[str], None] | None = None


class ModelRequest(NamedTuple):
    """`system`, `tools` and `entries` only ever grow at the end from one turn to the next (prompt caching);
    `suffix` (plan status, memories, hints) changes each turn and is rendered last. All contents are loaded.
    `tool_choice`: `auto`, or the name of the one tool the model has to call. `stream_options`: not part of
    the question.
    """

    model: str
    system: str
    tools: tuple[ToolDefinition, ...]
    entries: tuple[Entry, ...]
    suffix: str
    max_tokens: int
    tool_choice: str = "auto"
    stream_options: StreamOptions = StreamOptions()


class TokenUsage(NamedTuple):
    """Tokens of one call; `input` includes those read from the provider's cache and those written to it."""

    input: int = 0
    output: int = 0
    cached_input: int = 0
    cache_write: int = 0


class RequestedCall(NamedTuple):
    """A tool call as the model wrote it. `input` None: not a JSON object; `malformed` says what was wrong."""

    name: str
    input: dict[str, Any] | None
    malformed: str | None = None


class FailedModel(NamedTuple):
    """A model that was asked before, in vain. `code`: as events tell it; `lost`: it may have to be paid for."""

    provider: str
    model: str
    code: str
    lost: bool = False


class ModelReply(NamedTuple):
    """`calls` in the model's order. `stop` `max_tokens`: cut off; its last call may be malformed; `pause`: unfinished,
    and the provider wants to be asked again. `provider`, `model`: who answered, empty: who was asked. `raw`: that
    provider's own parts.
    """

    text: str
    calls: tuple[RequestedCall, ...]
    stop: StopReason
    usage: TokenUsage
    thinking: str = ""
    raw: Any = None
    provider: str = ""
    model: str = ""
    failed_models: tuple[FailedModel, ...] = ()


class Model(Protocol):
    @property
    def provider(self) -> str:
        """`anthropic`, `openai`, `bedrock` or `offline`."""
        ...

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """One call, done or given up within `timeout` seconds."""
        ...
