"""A model is asked: what, made to fit its window, and what becomes of its answer (design §5, §9)."""

from collections.abc import Callable

from shared.agent.budget.session_budget import Sized, lost, sized
from shared.agent.model_call.context import Mind
from shared.agent.session.session import Session
from shared.agent.turn.reply import ReplyReader, beginning
from shared.domain.errors import ProviderOverloaded, SessionError, TransientError
from shared.domain.rules.compaction import most_bytes
from shared.domain.session.commit import Decision, Position
from shared.domain.session.conversation import Entry
from shared.domain.session.head import Head
from shared.ports.model import ModelReply, ModelRequest, StreamOptions

BuildRequest = Callable[[Mind, Head, tuple[Entry, ...]], ModelRequest]


def request_of(mind: Mind, build: BuildRequest, session: Session) -> Sized:
    return sized(build(mind, session.head, (*session.entries, *session.pending(session.orphans()))))


def make_room(
    mind: Mind,
    session: Session,
    at: Position,
    key: str,
    attempt: int,
    timeout: float,
    asked: Sized,
    *,
    refused: bool = False,
) -> Decision | ProviderOverloaded | None:
    """Compacts the conversation where the request would not fit the model's window (design §9)."""
    window, per_token = mind.context_window, session.head.budget.bytes_per_token
    fits = not refused and asked.bytes <= most_bytes(window, asked.request.max_tokens, per_token)
    if not window or fits:
        return None
    # Few turns need it, so a cold start does not bring it along.
    from shared.agent.compaction import compact
    from shared.agent.compaction.summarise import Turn

    return compact.make_room(Turn(mind, session, at, key, attempt, timeout), asked, refused=refused)


def ask(
    mind: Mind, at: Position, key: str, request: ModelRequest, timeout: float
) -> ModelReply | SessionError | ProviderOverloaded:
    """The reply, or the error this turn has to commit; what the engine retries by itself is raised."""
    listening = mind.worker.running_text
    if listening is not None:
        request = request._replace(stream_options=StreamOptions(on_text=listening.listener(at, key)))
    try:
        return mind.model.complete(request, timeout=timeout)
    except SessionError as error:
        return error
    except TransientError as error:
        return waited_out(mind, key, error)


def waited_out(mind: Mind, key: str, error: TransientError) -> ProviderOverloaded:
    """The error, where its provider names a time to wait; every other one is raised for the engine's own retries."""
    if not lost(error):
        mind.worker.attempts.ended(key)
    if isinstance(error, ProviderOverloaded) and error.retry_after is not None:
        return error
    raise error


def reader_of(mind: Mind, session: Session, reply: ModelReply) -> ReplyReader:
    first = beginning(session.head, session.entries)
    return ReplyReader(reply, reply.provider or mind.model.provider, mind.clock, first)
