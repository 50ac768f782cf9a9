"""One model call: the request's size, the call itself, and what of its failures the turn has to commit (design §9)."""

from shared.agent.budget.session_budget import SizedRequest, unanswered_calls
from shared.agent.model_call.turn_context import Turn, TurnContext
from shared.domain.errors import ProviderOverloaded, SessionError, TransientError
from shared.domain.session.conversation import AssistantEntry, Entry
from shared.ports.model import ModelReply, ModelRequest, StreamOptions


def sized(request: ModelRequest) -> SizedRequest:
    """The request and the bytes that its tokens are estimated from. Walks over the whole conversation."""
    tools = sum(len(tool.description) + len(str(tool.input_schema)) for tool in request.tools)
    entries = sum(map(_entry_bytes, request.entries))
    return SizedRequest(request, len(request.system) + tools + entries + len(request.suffix))


def _entry_bytes(entry: Entry) -> int:
    calls = sum(len(str(call.input)) for call in entry.calls) if isinstance(entry, AssistantEntry) else 0
    return entry.content.bytes + calls


def ask_model(turn: Turn, request: ModelRequest) -> ModelReply | SessionError | ProviderOverloaded:
    """The reply, or the error that this turn has to commit. What the engine retries by itself is raised."""
    context = turn.context
    if context.deps.running_text is not None:
        on_text = context.deps.running_text.listener(turn.at, turn.key)
        request = request._replace(stream_options=StreamOptions(on_text=on_text))
    try:
        return context.model.complete(request, timeout=min(turn.seconds_left, context.seconds_for(request)))
    except SessionError as error:
        return error
    except TransientError as error:
        return wait_asked_for(context, turn.key, error)


def wait_asked_for(context: TurnContext, key: str, error: TransientError) -> ProviderOverloaded:
    """The error itself, where its provider names a time to wait. Every other one is raised for the engine's retries.

    `key`: the turn's commit key. An attempt that certainly cost nothing is noted under it.
    """
    if not unanswered_calls(error):
        context.deps.attempts.ended(key)
    if isinstance(error, ProviderOverloaded) and error.retry_after is not None:
        return error
    raise error
