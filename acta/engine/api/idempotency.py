"""`Idempotency-Key`: a POST that is sent again does nothing again and gets the same answer (docs/design/api.md 18).

A record of the first request is written in one transaction with what the request did. For a request about a session the
record holds the number of its commit, and a repeat is answered from that commit. For a request about a definition it
holds the answer. It is known for 24 hours (`KEY_LIFE` in `acta/engine/log/commit.py`).

A key belongs to the person who sent it. The same text from somebody else is another key, so nobody learns of another
person's request or gets its answer.
"""

import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from acta.engine.api.incoming import Request
from acta.engine.errors import (
    Conflict,
    IdempotencyMismatch,
    PreconditionFailed,
    Unauthorized,
    ValidationFailed,
)
from acta.engine.log.commit import IdempotencyKey, IdempotencyRecord
from acta.engine.log.head import Head
from acta.engine.log.store import KeyTaken, SessionIndex, SessionLog
from acta.engine.people.requester import Requester

MAX_KEY_CHARS = 255
_THEN = "\n"
"""Separates the person from the key that they sent; neither contains it. Stores keep a hash of both."""

Json = Mapping[str, Any]


def requester_of(request: Request, status: int = 202) -> Requester:
    """`status`: what the request is answered with where it succeeds. Raises ValidationFailed for an unusable key."""
    if request.caller is None:
        raise Unauthorized("This needs a bearer token.")
    return Requester(*request.caller, key=idempotency_key(request, status), via=request.via)


def idempotency_key(request: Request, status: int) -> IdempotencyKey | None:
    """None without the header. Raises ValidationFailed unless the key is 1-255 printable ASCII characters."""
    key = request.headers.get("idempotency-key")
    if key is None or request.caller is None:
        return None
    if not 1 <= len(key) <= MAX_KEY_CHARS or not key.isascii() or not key.isprintable():
        message = f"Use 1 to {MAX_KEY_CHARS} printable ASCII characters."
        raise ValidationFailed("The Idempotency-Key is not usable.", {"Idempotency-Key": [message]})
    return IdempotencyKey(
        tenant=request.caller.tenant,
        route=f"{request.route.method} {request.path}",
        key=f"{request.caller.user}{_THEN}{key}",
        body_hash=hashlib.sha256(request.body).hexdigest(),
        status=status,
    )


def record_of(key: IdempotencyKey | None, answer: Json, now: datetime) -> IdempotencyRecord | None:
    """A record with the whole answer, for a request about a definition. None: the request has no key."""
    return None if key is None else key.record(answer, now)


def stored_answer(record: IdempotencyRecord) -> Json:
    return dict(record.answer)


def answer_from_commit(log: SessionLog, record: IdempotencyRecord, view: Callable[[Head], Json]) -> Json:
    """The answer that the request got: its commit's head, seen through `view`. Once the session is deleted, its id
    alone. `record`: of a request that made a commit.
    """
    if record.commit is None:
        raise ValueError("the record names no commit")
    session_id = record.answer["session_id"]
    newest = log.latest(record.tenant, session_id)
    if newest is None or newest.head.deleted:
        return stored_answer(record)
    commits = log.read(record.tenant, session_id, since=record.commit, limit=1).commits
    return view(commits[0].head) if commits else stored_answer(record)


class IdempotencyGuard:
    """Answers repeated requests. `index` has the records."""

    def __init__(self, index: SessionIndex) -> None:
        self._index = index

    def is_repeat(self, request: Request) -> bool:
        """Whether a start or a fork with this request's key has succeeded."""
        key = idempotency_key(request, 202)
        return key is not None and self._index.idempotency_record(key.tenant, key.route, key.key) is not None

    def answer(
        self,
        key: IdempotencyKey | None,
        act: Callable[[], Json],
        repeat: Callable[[IdempotencyRecord], Json] = stored_answer,
    ) -> Json:
        """The answer of `act`; for a request that succeeded before, what `repeat` makes of its record.

        `act` writes the record together with what it does. Raises IdempotencyMismatch where the key came with another
        body, and what `act` raises.
        """
        if key is None:
            return act()
        earlier = self._earlier(key)
        if earlier is None:
            try:
                return act()
            except (KeyTaken, Conflict, PreconditionFailed) as lost:
                # The faster request may have had this very key. Then its answer is the answer to this one, too.
                earlier = self._earlier(key)
                if earlier is None and not isinstance(lost, KeyTaken):
                    raise
                if earlier is None:
                    raise Conflict(
                        "The Idempotency-Key is being used by another request. Try again."
                    ) from None
        return repeat(earlier)

    def _earlier(self, key: IdempotencyKey) -> IdempotencyRecord | None:
        found = self._index.idempotency_record(key.tenant, key.route, key.key)
        if found is not None and found.body_hash != key.body_hash:
            raise IdempotencyMismatch("This Idempotency-Key was used with another body. Use a new key.")
        return found
