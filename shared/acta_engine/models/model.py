"""A language model: one request, one reply.

Adapters translate to a provider's wire format and back. They raise errors of `acta_engine.errors`:
`ProviderOverloaded`, `ProviderTimeout`, `ProviderUnavailable` and `StreamBroken`, after which the engine retries
(`infra/acta_infra/engine/retries.py`) or waits as long as the provider asks
(`shared/acta_engine/recovery/wait_out.py`); `ProviderKeyRefused` and `ProviderQuotaExceeded`, which end the run, or
are waited for once it has had a reply; `ProviderRejected` and `ContextTooLong`, which end it. Adapters never retry by
themselves. Only the engine does, so that all attempts together keep the step's deadline.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

from acta_engine.agents.agent import AgentDefinition, Purpose
from acta_engine.errors import ActaError, SessionError, TransientError
from acta_engine.log.conversation import EndedTurns, Entry
from acta_engine.queue.places import ProviderLimits

StopReason = Literal["end", "tools", "max_tokens", "pause", "refusal"]


class ToolDefinition(NamedTuple):
    """A tool as a model sees it. `input_schema`: a JSON Schema of type object."""

    name: str
    description: str
    input_schema: dict[str, Any]


class StreamOptions(NamedTuple):
    """What happens while an answer arrives. `begins_within`: seconds in which its first byte must arrive; None: no such
    limit; only `FallbackModel` (`shared/acta_engine/models/fallback.py`) sets one. `on_text`: is called with each new
    piece of the text. `on_limits`: is called with the provider and what its answer says that it takes. Both must
    return at once and must not raise.

    An adapter that gets the whole answer at once may ignore them.
    """

    begins_within: float | None = None
    on_text: Callable[[str], None] | None = None
    on_limits: Callable[[str, ProviderLimits], None] | None = None


class Fallbacks(Protocol):
    """Who makes a request decides whether further models are asked, and hears how each one went. Only `FallbackModel`
    (`shared/acta_engine/models/fallback.py`) calls it, from the caller's own thread.
    """

    def ended(self, error: SessionError | TransientError) -> None:
        """The model that was asked last has raised this, and another one may answer."""

    def may_ask(self, provider: str, model: str) -> bool:
        """Whether this one may be asked now. If so, it counts as asked, and the caller asks it."""


class ModelRequest(NamedTuple):
    """`system`, `tools` and `entries`: from one turn to the next they only grow at the end, so that the provider can
    cache them. All contents are loaded. `suffix`: plan status, memories and hints; it changes each turn, so it comes
    last. `max_tokens`: of the answer: the turn's (`Turn.max_output_tokens`) or a summary's, cut to what the
    budget carries (`mark_call` in `shared/acta_engine/turn/model_call.py`). `tool_choice`: `auto`, or the name of the
    one tool that the model must call. `fallbacks`: None: every further model may be asked. `ended_turns`: keeps what
    is made of the turns that have ended for the conversation's next request; None: nothing is kept.
    """

    model: str
    system: str
    tools: tuple[ToolDefinition, ...]
    entries: tuple[Entry, ...]
    suffix: str
    max_tokens: int
    tool_choice: str = "auto"
    stream_options: StreamOptions = StreamOptions()
    fallbacks: Fallbacks | None = None
    ended_turns: EndedTurns | None = None


class TokenUsage(NamedTuple):
    """Tokens of one call. `input` includes `cached_input` (read from the provider's cache) and `cache_write` (written
    to it).
    """

    input: int = 0
    output: int = 0
    cached_input: int = 0
    cache_write: int = 0


class RequestedCall(NamedTuple):
    """A tool call as the model wrote it. `input` None: it is no JSON object, and `malformed` says what is wrong; the
    model is told so by `apply_reply` (`shared/acta_engine/turn/reply.py`).
    """

    name: str
    input: dict[str, Any] | None
    malformed: str | None = None


class FailedModel(NamedTuple):
    """A model that was asked earlier in the same turn and failed. `code`: as in events."""

    provider: str
    model: str
    code: str


class ModelReply(NamedTuple):
    """`calls`: in the model's order. `stop` `max_tokens`: the reply is cut off, and its last call may be malformed.
    `stop` `pause`: the reply is unfinished, and the provider wants to be asked again. `provider`, `model`: who
    answered; empty: the one that was asked. `raw`: parts that only this provider understands. `failed_models`: those
    that were asked before.
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


class BackgroundResponse(NamedTuple):
    """An answer that a provider makes while nobody waits for it. `response_id`: the provider's. `model`, `bytes`: of
    its request.
    """

    response_id: str
    model: str
    bytes: int


class BackgroundCalls(Protocol):
    """Model calls that the provider makes by itself and keeps for whoever asks for them later. Every method ends within
    `timeout` seconds and raises the errors named above where the provider cannot be asked.
    """

    def start(self, request: ModelRequest, *, timeout: float) -> str | ModelReply:
        """Makes the request. The response's id; a reply where it is there at once."""

    def result(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        """The reply; None: it is not there yet. An error is returned where the response has ended without a reply, or
        is kept no longer: StreamBroken where it may have to be paid for.
        """

    def cancel(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        """Ends a response that is no longer wanted, and may be repeated. Returns what `result` does: an answer that was
        faster, or an error.
        """

    def forget(self, response: BackgroundResponse, *, timeout: float) -> None:
        """Has the provider delete what it keeps of a response that has ended."""


def in_background(model: "Model") -> BackgroundCalls | None:
    """The model's way to answer while nobody waits; None: it has none."""
    found: BackgroundCalls | None = getattr(model, "in_background", None)
    return found


class Model(Protocol):
    """One that also answers in the background has a property `in_background` (`BackgroundCalls`)."""

    @property
    def provider(self) -> str:
        """`anthropic`, `openai`, `bedrock` or `offline`."""

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """Makes one call. It ends within `timeout` seconds: `Turn.seconds_left`, or a part of it. Raises the errors
        named above.
        """


class Models(Protocol):
    """The models of a deployment's agents."""

    def choose(self, agent: AgentDefinition, purpose: Purpose) -> tuple[Model, str]:
        """The model of this agent for this purpose, and the name to ask it by. It raises nothing: a model that cannot
        be asked raises at its first call.
        """

    def context_window(self, model: str) -> int:
        """The most tokens that a request and its answer may have together; 0: no limit is known."""
