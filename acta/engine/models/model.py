"""A language model: one request, one reply.

Adapters translate to a provider's wire format and back. They raise errors of `acta.engine.errors`:
`ProviderOverloaded`, `ProviderTimeout`, `ProviderUnavailable` and `StreamBroken`, after which the engine retries
(`acta/infra/engine/retries.py`) or waits as long as the provider asks
(`acta/engine/recovery/wait_out.py`); `ProviderKeyRefused` and `ProviderQuotaExceeded`, which end the run, or
are waited for once it has had a reply; `ProviderRejected` and `ContextTooLong`, which end it. Adapters never retry by
themselves. Only the engine does, so that all attempts together keep the step's deadline.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

from acta.engine.agents.agent import AgentDefinition, Purpose
from acta.engine.errors import ActaError, SessionError, TransientError
from acta.engine.log.conversation import EndedTurns, Entry
from acta.engine.models.providers import ModelParameters
from acta.engine.queue.places import ProviderLimits

StopReason = Literal["end", "tools", "max_tokens", "pause", "refusal"]
"""What each means for the run: `wire.py`."""


class OfferedTool(NamedTuple):
    """A tool as a model sees it."""

    name: str
    description: str
    input_schema: dict[str, Any]
    """A JSON Schema of type object."""


class StreamOptions(NamedTuple):
    """What happens while an answer arrives. A model that gets its answer at once may ignore this. The callbacks must
    return at once and must not raise.
    """

    begins_within: float | None = None
    """Seconds in which the first byte of the answer must arrive. None: there is no such limit. Only `ModelChain`
    (`fallback.py`) sets one.
    """
    on_text: Callable[[str], None] | None = None
    """Is called with each new piece of the text."""
    on_limits: Callable[[str, ProviderLimits], None] | None = None
    """Is called with the provider and the limits that its answer names."""


class Fallbacks(Protocol):
    """Decides for the caller whether further models are asked, and hears how each one went. Only `ModelChain`
    (`fallback.py`) calls it, from the caller's own thread.
    """

    def ended(self, error: SessionError | TransientError) -> None:
        """The model that was asked last has raised this, and another one may answer."""

    def may_ask(self, provider: str, model: str) -> bool:
        """Whether this model may be asked now. If so, it counts as asked, and the caller asks it."""


class ModelRequest(NamedTuple):
    """From one turn to the next, `system`, `tools` and `entries` only grow at their ends, so that the provider can
    cache them. All contents are loaded.
    """

    model: str
    system: str
    tools: tuple[OfferedTool, ...]
    entries: tuple[Entry, ...]
    suffix: str
    """Plan status, memories and hints. It changes each turn, so it comes last."""
    max_tokens: int
    """The most tokens of the answer: the turn's limit (`Turn.max_output_tokens`) or a summary's, cut to what the
    budget allows (`mark_call` in `acta/engine/turn/model_call.py`).
    """
    answer_schema: str = ""
    """The JSON Schema that the provider is to hold the reply's text to; calls stay free. A provider without structured
    outputs, or that takes no such schema, is asked without it. Empty: the text is free.
    """
    parameters: ModelParameters = ModelParameters()
    """Of an agent's turns. A model that does not take one of them is asked without it."""
    stream_options: StreamOptions = StreamOptions()
    fallbacks: Fallbacks | None = None
    """None: every further model may be asked."""
    ended_turns: EndedTurns | None = None
    """Keeps what is rendered of the turns that have ended, for the conversation's next request. None: nothing is kept.
    """


class TokenUsage(NamedTuple):
    """Tokens of one call."""

    input: int = 0
    """Including `cached_input` and `cache_write`."""
    output: int = 0
    cached_input: int = 0
    """Read from the provider's cache."""
    cache_write: int = 0
    """Written to the provider's cache."""


class RequestedCall(NamedTuple):
    """A tool call as the model wrote it."""

    name: str
    input: dict[str, Any] | None
    """None: it is no JSON object."""
    malformed: str | None = None
    """What is wrong with it. `apply_reply` (`acta/engine/turn/reply.py`) tells the model."""


class FailedModel(NamedTuple):
    """A model that was asked earlier in the same turn and failed."""

    provider: str
    model: str
    code: str
    """As in events."""
    category: str = ""
    """As of `ModelReply`."""


class ModelReply(NamedTuple):
    text: str
    calls: tuple[RequestedCall, ...]
    """In the model's order."""
    stop: StopReason
    """`max_tokens`: the reply is cut off, and its last call may be malformed. `pause`: the reply is unfinished, and the
    provider wants to be asked again.
    """
    usage: TokenUsage
    thinking: str = ""
    raw: Any = None
    """Parts that only this provider understands."""
    provider: str = ""
    """Who answered, as `model` is. Empty: the model that was asked."""
    model: str = ""
    failed_models: tuple[FailedModel, ...] = ()
    """The models that were asked before, and failed or declined."""
    category: str = ""
    """Why the model declined, in a word of the provider's. Empty: it named none, or nothing was declined."""
    response_id: str = ""
    """Of an answer in the background that was there at once: the id under which its provider keeps it."""


class BackgroundResponse(NamedTuple):
    """An answer that a provider makes while nobody waits for it."""

    response_id: str
    """The provider's id of the response."""
    model: str
    """Of its request, as `bytes` is."""
    bytes: int


class BackgroundCalls(Protocol):
    """Model calls whose answers the provider makes by itself and keeps until somebody asks for them. Every method ends
    within `timeout` seconds, and raises the errors named above where the provider cannot be asked.
    """

    def start(self, request: ModelRequest, *, timeout: float) -> str | ModelReply:
        """Makes the request. Returns the response's id, or the reply if it is there at once."""

    def result(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        """Returns the reply, or None if it is not there yet. Returns an error if the response has ended without a
        reply: StreamBroken if it may have to be paid for. Raises ProviderRejected where the provider does not hand the
        response over, StreamBroken where what it hands over cannot be read.
        """

    def cancel(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        """Ends a response that is no longer wanted. May be repeated. Returns what `result` does: a reply that came
        before the end, or an error.
        """

    def forget(self, response: BackgroundResponse, *, timeout: float) -> None:
        """Has the provider delete what it keeps of a response that has ended."""


def in_background(model: "Model") -> BackgroundCalls | None:
    """The model's way to answer while nobody waits; None: it has none."""
    found: BackgroundCalls | None = getattr(model, "in_background", None)
    return found


class Model(Protocol):
    """A model that can answer in the background has a property `in_background` (`BackgroundCalls`)."""

    @property
    def provider(self) -> str:
        """Its name in `providers.py`."""

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """Makes one call. It ends within `timeout` seconds: `Turn.seconds_left`, or a part of it. Raises the errors
        named above.
        """


class ModelChooser(Protocol):
    """The models of a deployment's agents."""

    def choose(self, agent: AgentDefinition, purpose: Purpose) -> tuple[Model, str]:
        """The model of this agent for this purpose, and the name to ask it by. It raises nothing: a model that cannot
        be asked raises at its first call.
        """

    def context_tokens(self, agent: AgentDefinition, provider: str, model: str) -> int:
        """The tokens that a request and its answer may have together before the agent's conversation is shortened; 0:
        there is no limit.
        """
