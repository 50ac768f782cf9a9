"""A model's reply that could not be committed is kept, so that the next attempt at its turn does not buy it again.

It is kept as an object of the session, or in the marker of its model calls where it is small: while one store is away
the other one may be there.
"""

import hashlib
from contextlib import suppress
from datetime import datetime

from pydantic import ValidationError

from acta_engine.errors import EngineError, PoisonedSession
from acta_engine.log.attempt import Attempt, AttemptsChanged, AttemptStore, Marker
from acta_engine.log.commit import Position
from acta_engine.log.head import Head
from acta_engine.log.repository import SessionRepository
from acta_engine.log.texts import BlobMissing
from acta_engine.models.model import ModelReply
from acta_engine.store.schema import StoredModel

SUMMARY = "compact"
"""The kind of a summary."""
MOST_BYTES_IN_MARKER = 200_000
"""DynamoDB's items have at most 400 KB."""


class KeptReply(StoredModel):
    """`place`: as of `place_of`. `attempt`: the one that it answered, as it began. `ended`: when it was answered.
    `delivered`: ids of the users' messages that its request showed.
    """

    place: str
    attempt: Attempt
    ended: datetime
    delivered: tuple[str, ...]
    reply: ModelReply


def place_of(head: Head, kind: str) -> str:
    """Where in the session a reply belongs: behind all that were committed before. Waits and restarts come between
    without changing it. `kind`: what the commit key of the reply ends with.
    """
    run_id = head.run.run_id if head.run is not None else ""
    return f"{run_id}/{head.usage.llm_calls}/{kind}"


def keep(
    repository: SessionRepository,
    attempts: AttemptStore,
    at: Position,
    reply: KeptReply,
    open_ones: tuple[Attempt, ...],
) -> bool:
    """Whether one of the stores took it. `open_ones`: what the marker holds, the reply's own attempt the last."""
    text = reply.model_dump_json()
    with suppress(EngineError):
        repository.keep_named(at, _name(reply.place), text)
        return True
    if len(text.encode()) > MOST_BYTES_IN_MARKER:
        return False
    marker = Marker(attempts=open_ones, reply=text)
    with suppress(EngineError, AttemptsChanged):
        attempts.write(at.tenant, at.session_id, marker, after=marker.last_id)
        return True
    return False


def kept(repository: SessionRepository, head: Head, kind: str, marker: Marker) -> KeptReply | None:
    """The session's next reply, where it was kept; None: there is none. `marker`: as it is now. Raises what the blob
    store raises; it is not asked where the marker has the reply, or where every attempt is known to have failed.
    """
    place = place_of(head, kind)
    if not any(place.startswith(f"{one.run_id}/") and not one.outcome for one in marker.attempts):
        return None
    found = _read(marker.reply) if marker.reply else None
    if found is not None and found.place == place:
        return found
    with suppress(BlobMissing, PoisonedSession):  # a damaged one is bought again, too
        return _read(repository.text(head, _name(place)))
    return None


def is_next(head: Head, reply: KeptReply) -> bool:
    """Whether the run still waits for this reply: no other one was committed in its place."""
    is_live = head.run is not None and not head.is_over and not head.deleted
    return is_live and reply.place == place_of(head, reply.place.rpartition("/")[2])


def _read(text: str) -> KeptReply | None:
    """None: it is damaged, or of another release. The model is asked again."""
    try:
        return KeptReply.model_validate_json(text)
    except ValidationError:
        return None


def _name(place: str) -> str:
    return "reply-" + hashlib.sha256(place.encode()).hexdigest()
