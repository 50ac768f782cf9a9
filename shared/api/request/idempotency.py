"""`Idempotency-Key`: the same key and body get the same answer, written with the commit it protects (design §3)."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple, TypeVar

from shared.domain.errors import Conflict, IdempotencyMismatch, ValidationFailed
from shared.domain.session.commit import Commit
from shared.ports.clock import Clock
from shared.ports.log import IdempotencyRecord, KeyTaken, SessionIndex

KEY_LIFE = timedelta(hours=24)
MAX_KEY_CHARS = 255

Json = dict[str, Any]
Record = Callable[[Commit], IdempotencyRecord]
"""What a use case makes the record with, from the commit it goes along with."""

_Written = TypeVar("_Written")


class IdempotencyKey(NamedTuple):
    """`route` names method and concrete path: one key used on two sessions is two requests. `body_hash`: SHA-256 of
    the raw bytes, so `{"a":1}` and `{ "a": 1 }` are two bodies.
    """

    route: str
    key: str
    body_hash: str


def idempotency_key(method: str, path: str, key: str, body: bytes) -> IdempotencyKey:
    """Raises ValidationFailed unless the key is 1-255 printable ASCII characters."""
    if not 1 <= len(key) <= MAX_KEY_CHARS or not key.isascii() or not key.isprintable():
        message = f"Use 1 to {MAX_KEY_CHARS} printable ASCII characters."
        raise ValidationFailed("The Idempotency-Key is not usable.", {"Idempotency-Key": [message]})
    return IdempotencyKey(f"{method} {path}", key, hashlib.sha256(body).hexdigest())


class IdempotencyGuard:
    def __init__(self, directory: SessionIndex, clock: Clock) -> None:
        self._directory = directory
        self._clock = clock

    def answer(
        self,
        key: IdempotencyKey | None,
        tenant: str,
        view: Callable[[_Written], Json],
        act: Callable[[Callable[[_Written], IdempotencyRecord] | None], Json],
        status: int = 202,
    ) -> tuple[Json, bool]:
        """What `act` answers, or what it answered before (then True).

        `act` passes the record on with what it writes; `view` is the answer that is kept with it. Raises
        IdempotencyMismatch where the key came with another body.
        """
        if key is None:
            return act(None), False
        earlier = self._earlier(tenant, key)
        if earlier is not None:
            return earlier, True

        def record(written: _Written) -> IdempotencyRecord:
            return IdempotencyRecord(
                tenant=tenant,
                route=key.route,
                key=key.key,
                body_hash=key.body_hash,
                status=status,
                answer=view(written),
                expires_at=self._clock.now() + KEY_LIFE,
            )

        try:
            return act(record), False
        except (KeyTaken, Conflict) as lost:
            # Who decided meanwhile may have come with this very key, and is to be answered the same.
            earlier = self._earlier(tenant, key)
            if earlier is None and isinstance(lost, Conflict):
                raise
            if earlier is None:
                raise Conflict("The Idempotency-Key is being used by another request. Try again.") from None
            return earlier, True

    def _earlier(self, tenant: str, key: IdempotencyKey) -> Json | None:
        found = self._directory.idempotency(tenant, key.route, key.key)
        if found is None:
            return None
        if found.body_hash != key.body_hash:
            raise IdempotencyMismatch("This Idempotency-Key was used with another body. Use a new key.")
        return dict(found.answer)
