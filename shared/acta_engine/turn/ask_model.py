"""One model call: the request's size, the call itself, and what of its failures the turn has to commit (design §9)."""

from typing import NamedTuple

from acta_engine.errors import ProviderOverloaded, SessionError, TransientError
from acta_engine.log.commit import Decision
from acta_engine.log.conversation import EndedTurns
from acta_engine.models.model import ModelReply, ModelRequest
from acta_engine.turn.background import begin, calls_of
from acta_engine.turn.compaction import total_bytes
from acta_engine.turn.marked_call import MarkedCall, complete
from acta_engine.turn.session_budget import Bill, SizedRequest
from acta_engine.turn.turn_context import Turn


def sized(request: ModelRequest) -> SizedRequest:
    """The request and the bytes that its tokens are estimated from."""
    tools = sum(len(tool.description) + len(str(tool.input_schema)) for tool in request.tools)
    entries = (request.ended_turns or EndedTurns()).made(
        "bytes", request.entries, 0, lambda before, turns: before + sum(map(total_bytes, turns))
    )
    return SizedRequest(request, len(request.system) + tools + entries + len(request.suffix))


class Asked(NamedTuple):
    """What came of the call and has to be committed by this turn, and its bill."""

    result: ModelReply | SessionError | ProviderOverloaded
    bill: Bill


def ask_model(turn: Turn, call: MarkedCall, delivered: tuple[str, ...]) -> Asked | Decision:
    """Asks the turn's model. A decision: it answers in the background, and the engine waits. What the engine retries by
    itself is raised. `delivered`: ids of the users' messages that the request shows.
    """
    context, in_background = turn.context, calls_of(turn)
    if in_background is not None:
        begun = begin(turn, in_background, call, delivered)
        if isinstance(begun, Decision):
            return begun
        answer, bill = begun
        return Asked(wait_asked_for(answer) if isinstance(answer, TransientError) else answer, bill)
    if context.deps.running_text is not None:
        on_text = context.deps.running_text.listener(turn.at, turn.key)
        options = call.request.stream_options._replace(on_text=on_text)
        request = call.request._replace(stream_options=options)
        call = call._replace(request=request)
    answer, bill = complete(turn, context, call, turn.seconds_left)
    return Asked(wait_asked_for(answer) if isinstance(answer, TransientError) else answer, bill)


def wait_asked_for(error: TransientError) -> ProviderOverloaded:
    """The error itself, where its provider names a time to wait. Every other one is raised for the engine's retries."""
    if isinstance(error, ProviderOverloaded) and error.retry_after is not None:
        return error
    raise error
