"""The session log, its index, and the items that may be written in one transaction with a commit (docs/design/log.md
14).

A session is a list of commits with the numbers 1, 2, 3, …. A commit is written only if its number is free. So of
several workers that write at once one succeeds; the others read the log again.

All methods raise StoreThrottled and StoreUnavailable, and SchemaUnknown where a stored document has a version that this
release does not know.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, Protocol
from zlib import crc32

from acta.engine.limits.shares import LeaseChange
from acta.engine.limits.tenant_limits import Start, TenantCounts
from acta.engine.log.commit import Commit, IdempotencyRecord
from acta.engine.log.head import CoarseState, Head
from acta.engine.people.intervention import Intervention, InterventionState

TOMBSTONE_LIFE = timedelta(hours=1)
"""How long the numbers of a deleted session stay taken: longer than any Lambda runs."""


class NumberTaken(Exception):
    """A commit with this number exists. It may be the caller's own, if an answer was lost: read the log and look for
    the commit key. This call wrote nothing.
    """


class Occupied(Exception):
    """What a restore would bring back stands in the place of something that is there. This call wrote nothing."""


class KeyTaken(Exception):
    """Another request has used the idempotency key. Nothing was written."""


class GrantChanged(Exception):
    """The hour, or its share, no longer has the tokens that were to be granted. Nothing was written."""


LiveKind = Literal["active", "woken", "waiting", "parked"]
"""Sessions that recovery looks at. `active`: with work to do. `woken`: all questions are decided, and the execution
that waited for them has not made its next turn yet. `waiting`: the wait for people ends at a time. `parked`: it ends
only when a person decides."""
LIVE_SHARDS = 16
"""Each kind of live session is stored in this many parts, because one key takes only a limited number of writes a
second."""


def live_shard(session_id: str) -> int:
    """The part that a session's entry is in, from 0 on."""
    return crc32(session_id.encode()) % LIVE_SHARDS


LISTED_GOAL_CHARS = 200
"""A goal is found by words in its beginning: the listing is read for every page, so it stays small."""
MARK_CHARS = 24


class ListingEntry(NamedTuple):
    """What a session's listing keeps of it, so that sessions are found by it."""

    created_by: str = ""
    goal: str = ""
    """Its beginning, case-folded."""
    metadata: frozenset[str] = frozenset()
    """A mark for each pair (`mark`), because the pairs themselves may be long."""
    is_child: bool = False
    """A call of another session has started it."""

    @classmethod
    def of(cls, head: Head) -> "ListingEntry":
        marks = frozenset(mark(name, value) for name, value in head.metadata.items())
        goal = head.goal[:LISTED_GOAL_CHARS].casefold()
        return cls(head.created_by, goal, marks, head.parent is not None)


class ListingFilter(NamedTuple):
    """What a listing is searched for. A field that is None excludes nothing."""

    created_by: str | None = None
    goal: str | None = None
    """Words in the beginning of the goal."""
    metadata: tuple[str, str] | None = None
    """A name and its value."""
    children: bool = True
    """Whether sessions that calls of other sessions have started are listed, too."""

    def fits(self, listed: ListingEntry) -> bool:
        return (
            self.created_by in (None, listed.created_by)
            and (self.goal is None or self.goal.casefold() in listed.goal)
            and (self.metadata is None or mark(*self.metadata) in listed.metadata)
            and (self.children or not listed.is_child)
        )


WHATEVER = ListingFilter()


def mark(name: str, value: str) -> str:
    return hashlib.sha256(f"{len(name)}:{name}{value}".encode()).hexdigest()[:MARK_CHARS]


class LiveEntry(NamedTuple):
    """How recovery finds a session in the index."""

    kind: LiveKind
    at: datetime
    """When the session became active, woken or parked, or when the wait of a waiting session ends. An active session
    without an execution (`Run.parked`) goes on by itself at this time, which lies in the future.
    """


class IndexEntry(NamedTuple):
    """A session in its tenant's listing. Written only when its coarse state or what recovery looks for changes."""

    tenant: str
    session_id: str
    agent_id: str
    state: CoarseState
    live: LiveEntry | None = None
    """None if recovery has nothing to look at."""
    private_to: str | None = None
    """The owner of a private session."""
    counted: bool = False
    """The session is one of its tenant's open sessions (`Places`)."""
    listed: ListingEntry = ListingEntry()


def listed(before: Head | None, commit: Commit) -> IndexEntry | None:
    """The index item, where it has to be written: the coarse state, what recovery looks for or whether the session
    counts as open has changed. Otherwise None: a plain put is cheaper than a transaction (docs/design/log.md 14).
    """
    head = commit.head
    sought = _sought(head)
    now = (head.coarse_state, sought, head.counted)
    if (
        before is not None
        and commit.number > 1
        and (before.coarse_state, _sought(before), before.counted) == now
    ):
        return None
    live = None if sought is None else LiveEntry(sought[0], sought[1] or commit.at)
    return IndexEntry(
        head.tenant,
        head.session_id,
        head.agent_id,
        head.coarse_state,
        live,
        head.private_to,
        head.counted,
        ListingEntry.of(head),
    )


def _sought(head: Head) -> tuple[LiveKind, datetime | None] | None:
    """The kind under which recovery looks for the session when its execution or its wake-up is lost
    (docs/design/recovery.md 18), and when its wait ends by itself; an active session has such a time only while it is
    parked. None: the session is at rest.

    Only a session whose execution waits for a token is `woken`: the list of running executions has it whether or not it
    was woken, so a scan has to ask for its state. If a start was lost, the list has no execution, so such a session is
    `active`. A session whose family has yet to follow it is looked for as if it were at work, whatever its state.
    """
    if head.owes_family:
        return ("active" if head.wait is None or head.is_over else "woken"), None
    match head.coarse_state:
        case "active":
            is_parked = head.run is not None and head.run.parked
            wait = head.present_wait
            if is_parked and wait is not None and wait.until is not None:
                return "active", wait.until
            return ("active" if head.wait is None else "woken"), None
        case "waiting_for_user":
            times = (one.timeout_at for one in head.interventions if one.timeout_at is not None)
            first = min(times, default=None)
            return ("parked" if first is None else "waiting"), first
        case _:
            return None


class Places(NamedTuple):
    """How a commit changes the counts of its tenant (ADR 65). They are changed with it or not at all."""

    tenant: str
    opened: int = 0
    """1 if the session counts as open from this commit on, -1 if it no longer does, otherwise 0."""
    start: Start | None = None
    """The limits that a start may meet. None if the commit starts nothing, so that no limit stops it."""
    share: int = 0
    """The session's own share."""
    shares: int = 1
    """In how many shares the tenant is counted (`count_shares_of`)."""


class Erasure(NamedTuple):
    """A note that a session was deleted `at` this time and is to be erased once more. It stays until that is done
    (ADR 44).
    """

    tenant: str
    session_id: str
    at: datetime


class SessionReceiver(NamedTuple):
    """The webhook that a session was started with. It is erased with the session."""

    tenant: str
    session_id: str
    url: str


class ChildRow(NamedTuple):
    """Whose child a session is. The row stands with the parent's items, so that all children of a session are found,
    and goes with them.
    """

    tenant: str
    parent_id: str
    session_id: str
    place: str = ""
    """By which it is ordered among those whose calls were made at the same time: the call's id and the item."""


class TransactionItems(NamedTuple):
    """What is written in one transaction with a commit. If all of it is empty, the commit needs no transaction."""

    listing: IndexEntry | None = None
    interventions: Sequence[Intervention] = ()
    idempotency: IdempotencyRecord | None = None
    leases: tuple[LeaseChange, ...] = ()
    erasure: Erasure | None = None
    places: Places | None = None
    receiver: SessionReceiver | None = None
    lifted: Erasure | None = None
    """The note of an erasure that is no longer wanted, because the session was created after all."""
    child: ChildRow | None = None
    restored: bool = False
    """Marks the commit as one that a restore brought back. Its listing, receiver and interventions are written only
    where there are none of that name, else Occupied is raised."""


NO_ITEMS = TransactionItems()


class LogPage(NamedTuple):
    """Commits in the order of their numbers."""

    commits: tuple[Commit, ...]
    complete: bool
    """Whether these are the last ones."""


class SessionPage(NamedTuple):
    """Index entries, newest first. `cursor` None: this is the last page."""

    entries: tuple[IndexEntry, ...]
    cursor: str | None


class LiveSession(NamedTuple):
    """`at`: as in `LiveEntry`, at the time when the entry was written."""

    tenant: str
    session_id: str
    at: datetime


class LivePage(NamedTuple):
    """Sessions of all tenants, oldest first. `cursor` None: this is the last page. `damaged`: entries of the page that
    cannot be read.
    """

    sessions: tuple[LiveSession, ...]
    cursor: str | None
    damaged: int = 0


class SessionName(NamedTuple):
    tenant: str
    session_id: str


class FailedPage(NamedTuple):
    """Sessions of all tenants, in no particular order. `cursor` None: this is the last page. `damaged`: entries of the
    page that cannot be read."""

    sessions: tuple[SessionName, ...]
    cursor: str | None
    damaged: int = 0


class InterventionPage(NamedTuple):
    """Newest first. `cursor` None: this is the last page."""

    items: tuple[Intervention, ...]
    cursor: str | None


class SessionLog(Protocol):
    """`read` and `latest` raise SessionHidden if the caller may not see the session
    (`acta/engine/people/visibility.py`)."""

    def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
        """The commits with the numbers from `since` on, at most `limit`. Strongly consistent."""

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        """The newest commit, which has the head. None: there is no such session."""

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        """Writes the commit, and `extra_items` in the same transaction. Raises NumberTaken, KeyTaken, GrantChanged, and
        LimitReached for a start that the tenant's limits do not allow.
        """

    def children(self, tenant: str, session_id: str) -> tuple[str, ...]:
        """The ids of the sessions that calls of this one have started: oldest call first, by their items."""

    def check_places(self, places: Places) -> None:
        """Raises LimitReached if the tenant's limits do not allow such a commit now. A commit that is made later may
        still be refused."""

    def delete(self, tenant: str, session_id: str) -> None:
        """Removes the session's content, index entry and interventions. It may be repeated. A session that still counts
        as open, because its log cannot be read, no longer does.

        Readers do not find the session any more. Its commit numbers stay taken for `TOMBSTONE_LIFE`, without content:
        otherwise a late worker could bring the session back. A note of its erasure stays.
        """

    def note_erasure(self, erasure: Erasure) -> None:
        """Notes that the session is to be erased once more, when no commit can carry the note. For a session that does
        not exist yet, the note says that its texts are to be erased unless it is created."""

    def end_erasure(self, tenant: str, session_id: str) -> None:
        """Removes the note of the session's erasure."""


class SessionIndex(Protocol):
    """`limit`: the size of one page: the query parameter of a route in `acta/functions/status`, or `PAGE` of the sweep.

    A tenant's listings show only what the caller may see (`acta/engine/people/visibility.py`), as if nothing
    else existed. A page is short only if very many other items lie in between, and still has a cursor then.
    """

    def sessions(
        self,
        tenant: str,
        *,
        states: Sequence[CoarseState],
        agent_id: str | None,
        limit: int,
        cursor: str | None,
        wanted: ListingFilter = WHATEVER,
    ) -> SessionPage:
        """`states` empty: all states. An entry without `listed` is shown whatever is `wanted`. Sessions in a single
        state of `idle`, `active` and `waiting_for_user` are found by key. Otherwise a page may have fewer than `limit`
        and still have a cursor: it looks at 1,000 entries at most, or 10,000 while it has found nothing. Raises
        ValueError where the cursor is not valid.
        """

    def searched_to(self, cursor: str) -> datetime | None:
        """How far back the page with this cursor has looked: when the item was made at which the next page goes on.
        None: the cursor's position is no id that says when."""

    def check_listed(self, tenant: str, session_id: str) -> None:
        """For a session whose log cannot be read: its listing says whose it is. Raises SessionHidden if the caller may
        not use it, and, if it is not listed either, for everybody but admins."""

    def live(
        self, kind: LiveKind, shard: int, *, before: datetime | None, limit: int, cursor: str | None
    ) -> LivePage:
        """Sessions of all tenants whose `at` is earlier than `before`; None: all. Eventually consistent. Raises
        ValueError where the cursor is not valid. `shard`: see `live_shard`.
        """

    def erasures(self, *, before: datetime | None, limit: int, cursor: str | None) -> LivePage:
        """Deleted sessions of all tenants that are to be erased once more, deleted before this time; None: all.
        Eventually consistent. Raises ValueError where the cursor is not valid.
        """

    def failed(self, *, limit: int, cursor: str | None) -> FailedPage:
        """Sessions whose run ended `failed`, whenever that was. Looks at everything that is stored, `limit` items for a
        page, so it is for an operator's rare use (ADR 46). Eventually consistent. Raises ValueError where the cursor is
        not valid.
        """

    def ended(self, *, part: int, parts: int, limit: int, cursor: str | None) -> FailedPage:
        """Sessions whose run is over, however it ended. `part`: which of the `parts` of the table is looked through,
        from 0 on. `limit`: items that one page looks at. Eventually consistent. Raises ValueError where the cursor is
        not valid."""

    def cursor_after_failed(self, session: SessionName) -> str:
        """The cursor for what comes after this session, for callers that use only a part of a page. Reads nothing."""

    def interventions(
        self,
        tenant: str,
        *,
        state: InterventionState | None,
        limit: int,
        cursor: str | None,
        session_id: str | None = None,
    ) -> InterventionPage:
        """`state` None: all states. `session_id` None: all sessions. Pending interventions are found by key. Otherwise
        a page may have fewer than `limit` and still have a cursor, like a page of sessions. Raises ValueError where the
        cursor is not valid."""

    def cursor_after_session(self, tenant: str, session_id: str) -> str:
        """The cursor for the page after this session, for callers that use only a part of a page. Reads nothing."""

    def cursor_after_intervention(self, tenant: str, intervention_id: str) -> str:
        """The cursor for the page after this intervention. Reads nothing."""

    def intervention(self, tenant: str, intervention_id: str) -> Intervention | None:
        """None: there is no such intervention, or the caller may not see it."""

    def granted_tokens(self, tenant: str, hour: int, *, of_day: bool = False) -> int:
        """The tokens of this hour that the tenant's sessions hold or have used, and that its shares were given.
        `of_day`: the parts of a dollar of the day that begins with the hour. Strongly consistent.
        """

    def free_tokens_of_share(self, tenant: str, hour: int, number: int, *, of_day: bool = False) -> int:
        """The tokens of this hour that the share has and no session holds. Strongly consistent."""

    def counts(self, tenant: str) -> TenantCounts:
        """What the tenant has open and has started. Strongly consistent."""

    def idempotency_record(self, tenant: str, route: str, key: str) -> IdempotencyRecord | None:
        """None: no request with this key was answered, or its record has expired."""
