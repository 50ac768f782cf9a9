"""The session log and the rare items that share a transaction with it (design §6.1).

A session is commits 1, 2, 3, …; each is put once, on the condition that its number is free. That put is the step:
whoever wins the number has moved the session, everyone else reads again.

All of them raise StoreThrottled, StoreUnavailable and, where a stored document has a version this release does not
know, SchemaUnknown.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, Protocol

from shared.domain.interventions.intervention import Intervention, InterventionState
from shared.domain.session.commit import Commit
from shared.domain.session.head import CoarseState

TOMBSTONE_LIFE = timedelta(hours=1)
"""Longer than any Lambda runs."""
KEY_LIFE = timedelta(hours=24)
"""Of an idempotency key."""


class NumberTaken(Exception):
    """Another commit has the number, perhaps one's own whose answer was lost: read again and look for the key."""


class KeyTaken(Exception):
    """The idempotency key was used by another request meanwhile; nothing was written."""


class LeaseMoved(Exception):
    """Another session was granted tokens of the hour meanwhile; nothing was written."""


LiveKind = Literal["active", "waiting", "parked"]
"""What recovery has to look at: sessions with work to do, waits that end by themselves, waits that do not."""


class Live(NamedTuple):
    """`at`: since when a session is active or parked; of one that is waiting, when its earliest wait ends."""

    kind: LiveKind
    at: datetime


class IndexEntry(NamedTuple):
    """A session in its tenant's listing; written only when its coarse state or the end of its wait changes.

    `live` None: nothing has to go on (or, of an entry of the first release, nobody wrote it down).
    """

    tenant: str
    session_id: str
    agent_id: str
    state: CoarseState
    live: Live | None = None


class IdempotencyRecord(NamedTuple):
    """How a POST with this key was answered, and the hash of the body it came with.

    `commit`: the number of the commit that the request made. A repeat is answered from that commit, in the session that
    `answer` names, and with `answer` alone once the session is deleted. None: `answer` is the whole answer, of a
    request about a definition, or of any request that a release before this field answered.
    """

    tenant: str
    route: str
    key: str
    body_hash: str
    status: int
    answer: Mapping[str, Any]
    expires_at: datetime
    commit: int | None = None


class IdempotencyKey(NamedTuple):
    """A POST that may be sent again. `route` names method and concrete path: one key used on two sessions is two
    requests. `body_hash`: SHA-256 of the raw bytes, so `{"a":1}` and `{ "a": 1 }` are two bodies. `status`: what the
    request is answered with where it succeeds.
    """

    tenant: str
    route: str
    key: str
    body_hash: str
    status: int

    def record(
        self, answer: Mapping[str, Any], now: datetime, commit: int | None = None
    ) -> IdempotencyRecord:
        return IdempotencyRecord(*self, answer, now + KEY_LIFE, commit)


class LeaseGrant(NamedTuple):
    """Tokens granted of a tenant's hour, in all: `before` is what it has to be still, `after` what it becomes."""

    tenant: str
    hour: int
    before: int
    after: int


class TransactionItems(NamedTuple):
    """What is written in one transaction with a commit; all empty: a plain put."""

    listing: IndexEntry | None = None
    interventions: Sequence[Intervention] = ()
    idempotency: IdempotencyRecord | None = None
    lease: LeaseGrant | None = None


NO_ITEMS = TransactionItems()


class Tail(NamedTuple):
    """Commits from a number on, ascending; `complete` False: there are more behind the last one."""

    commits: tuple[Commit, ...]
    complete: bool


class SessionPage(NamedTuple):
    """Index entries, newest first; `cursor` None: no more."""

    entries: tuple[IndexEntry, ...]
    cursor: str | None


class LiveSession(NamedTuple):
    """`at` as in `Live`, when the index was written last."""

    tenant: str
    session_id: str
    at: datetime


class LivePage(NamedTuple):
    """Of all tenants, oldest first; `cursor` None: no more."""

    sessions: tuple[LiveSession, ...]
    cursor: str | None


class InterventionPage(NamedTuple):
    items: tuple[Intervention, ...]
    cursor: str | None


class SessionLog(Protocol):
    def tail(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> Tail:
        """Commits numbered `since` and up, strongly consistent; all of them unless `limit` says fewer."""
        ...

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        """The newest commit, which has the head; None: no such session."""
        ...

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        """Puts the commit, with `extra_items` in the same transaction. Raises NumberTaken, KeyTaken, LeaseMoved."""
        ...

    def delete(self, tenant: str, session_id: str) -> None:
        """Removes the session's content, index entry and interventions; it may be repeated.

        The commits' numbers stay taken for `TOMBSTONE_LIFE`, without content: a worker that was late finds its
        number gone instead of bringing the session back. To every reader the session is not there.
        """
        ...


class SessionIndex(Protocol):
    def sessions(
        self,
        tenant: str,
        *,
        states: Sequence[CoarseState],
        agent_id: str | None,
        limit: int,
        cursor: str | None,
    ) -> SessionPage:
        """`states` empty: any. A page may be short of `limit` and still have a cursor. ValueError: bad cursor."""
        ...

    def live(self, kind: LiveKind, *, before: datetime | None, limit: int, cursor: str | None) -> LivePage:
        """Sessions of every tenant whose `at` is earlier than `before`; None: all. Eventually consistent.
        ValueError: bad cursor.
        """
        ...

    def interventions(
        self,
        tenant: str,
        *,
        state: InterventionState | None,
        limit: int,
        cursor: str | None,
        session_id: str | None = None,
    ) -> InterventionPage:
        """None: of any state, of every session. Newest first; a page may be short of `limit` and still have a
        cursor. ValueError: bad cursor.
        """
        ...

    def cursor_after_session(self, tenant: str, session_id: str) -> str:
        """The cursor of a page of sessions that ends with this one, where the reader ends it early. Reads nothing."""
        ...

    def cursor_after_intervention(self, tenant: str, intervention_id: str) -> str: ...

    def intervention(self, tenant: str, intervention_id: str) -> Intervention | None: ...

    def granted(self, tenant: str, hour: int) -> int:
        """Tokens granted of that hour so far."""
        ...

    def idempotency(self, tenant: str, route: str, key: str) -> IdempotencyRecord | None: ...
