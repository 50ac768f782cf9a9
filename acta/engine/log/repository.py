"""The log as the code works with it: `Session` is a session as a process holds it, folded from its commits, and
`SessionRepository` reads sessions and appends to them, in the one loop in which commits are made
(docs/design/log.md 10).
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from acta.engine.clock import Clock
from acta.engine.errors import CommitContention, Fenced, PoisonedSession, SessionNotFound
from acta.engine.limits.shares import LeaseChange, count_shares_of, day_of, hour_of, shares_in_turn
from acta.engine.limits.tenant_limits import LimitsByTenant, Start, minute_of
from acta.engine.log.beside import (
    SEGMENT_COMMITS,
    SEGMENTS_AT_ONCE,
    BlobMissing,
    BlobStore,
    E,
    Segment,
    covered_before,
    has_large,
    in_version,
    keep_segments,
    load_call,
    load_entry,
    offloaded,
    offloaded_entries,
    pointers,
    read_compacted,
    read_segments,
    stored,
)
from acta.engine.log.commit import Change, Commit, Decision, IdempotencyKey, IdempotencyRecord, Position
from acta.engine.log.conversation import (
    AssistantEntry,
    Compacted,
    Content,
    EndedTurns,
    Entry,
    ToolCall,
    ToolEntry,
    UserEntry,
)
from acta.engine.log.head import Head
from acta.engine.log.store import (
    ChildRow,
    Erasure,
    NumberTaken,
    Places,
    SessionLog,
    SessionReceiver,
    TransactionItems,
    listed,
)
from acta.engine.store.schema import CURRENT

ORPHANED = "Error: this call was not finished, because the run was ended before. Whether it had an effect is unknown."


class KeyedCommit(NamedTuple):
    """A commit that has a given key."""

    number: int
    decision: Decision | None
    """What it decided."""
    attempt: int = 0
    """The engine's retry count of the worker that made it."""
    own: bool = False
    """Whether this process stored it and got the answer."""


class _SegmentEnd(NamedTuple):
    """A segment whose entries are those of `Session.entries` from `begin` to `end`, because their texts are loaded
    later."""

    segment: Segment
    begin: int
    end: int


class Session:
    """The head, the conversation in delivery order, and the keys already committed. It is folded from commits in order,
    beginning at any number: what came before is not in `entries`.

    A user's entry waits in `waiting` until a commit delivers it. Tool entries join the conversation together with the
    next assistant entry, in the order of the calls that they answer. So the conversation is the same whatever the order
    of parallel commits was.

    `holds_conversation`: the entries are what a model is shown, so a compaction replaces them. Readers of a single turn
    or of a session's history leave it False.
    """

    def __init__(
        self,
        first: Commit,
        compacted: Compacted | None = None,
        *,
        before: Sequence[Segment] = (),
        segment_commits: int = 0,
    ) -> None:
        """`before`: the conversation before `first`. `segment_commits`: how many commits make a segment; 0: no segments
        are made."""
        self.holds_conversation = False
        self._segment_commits = segment_commits
        self._segment_ends: list[_SegmentEnd] = []
        # the index in `entries`; None: nobody knows what came before
        self._segment_begin = 0 if first.number == 1 else None
        self._segment_is_whole = True
        self.entries: list[Entry] = []
        self.ended_turns = EndedTurns()
        self.waiting: dict[str, UserEntry] = {}
        self.results: dict[str, ToolEntry] = {}
        self._calls: tuple[ToolCall, ...] = ()
        self._keys: dict[str, KeyedCommit] = {}
        self._loaded = 0
        self.has_waited = False
        """Whether people were asked, or the world was waited for, since the last reply was committed."""
        self.number = first.number - 1
        self.head: Head = first.head
        if before:
            self._go_on_from(before)
        self.fold(first, compacted)

    def fold(self, commit: Commit, compacted: Compacted | None = None, *, own: bool = False) -> None:
        """Takes in the next commit. `compacted`: the conversation that the commit replaces the entries with, if it
        does. `own`: as in `KeyedCommit`.
        """
        if commit.number != self.number + 1:
            raise ValueError(f"commit {commit.number} does not follow {self.number}")
        for entry in commit.entries:
            match entry:
                case UserEntry():
                    self.waiting[entry.message_id] = entry
                case ToolEntry():
                    self.results[entry.call_id] = entry
                case AssistantEntry():
                    self._deliver(commit.delivered)
                    self.entries.append(entry)
                    self._calls = entry.calls
                    self.has_waited = False
        if compacted is not None:
            self._take_over(compacted)
        attempt = commit.step.attempt if commit.step is not None else 0
        self._keys[commit.key] = KeyedCommit(commit.number, commit.decision, attempt, own)
        self.number = commit.number
        self.head = commit.head
        head = commit.head  # a state has a reason while the session waits for something
        self.has_waited |= bool(head.interventions or head.delay or head.state_reason)
        if self._segment_commits and self.number % self._segment_commits == 0:
            self._end_segment()

    def _go_on_from(self, segments: Sequence[Segment]) -> None:
        last = segments[-1]
        entries = tuple(entry for segment in segments for entry in segment.entries)
        self._take_over(Compacted(entries=entries, waiting=last.waiting, results=last.results))
        self.has_waited = last.has_waited
        self._segment_begin, self._segment_is_whole = len(self.entries), False

    def _end_segment(self) -> None:
        if self._segment_begin is not None:
            segment = Segment(
                since=self.number - self._segment_commits + 1,
                through=self.number,
                is_whole=self._segment_is_whole,
                entries=(),
                waiting=tuple(self.waiting.values()),
                results=tuple(self.results.values()),
                has_waited=self.has_waited,
            )
            self._segment_ends.append(_SegmentEnd(segment, self._segment_begin, len(self.entries)))
            self._segment_begin, self._segment_is_whole = len(self.entries), False

    def take_segments(self, most: int) -> list[Segment]:
        """The first `most` of the segments that have ended here and were not taken before. The texts are loaded."""
        taken, self._segment_ends = self._segment_ends[:most], self._segment_ends[most:]
        return [
            one.segment.model_copy(update={"entries": tuple(self.entries[one.begin : one.end])})
            for one in taken
        ]

    def _take_over(self, compacted: Compacted) -> None:
        self.entries = list(compacted.entries)
        self.ended_turns = EndedTurns()
        self.waiting = {entry.message_id: entry for entry in compacted.waiting}
        self.results = {entry.call_id: entry for entry in compacted.results}
        self._calls = _last_calls(self.entries)
        self._loaded = 0
        self._segment_ends.clear()
        self._segment_begin, self._segment_is_whole = 0, True

    def recorded(self, key: str) -> KeyedCommit | None:
        return self._keys.get(key)

    def decided(self, key: str) -> Decision:
        """What the commit with that key decided. Raises Fenced where there is none, or it decided nothing."""
        done = self._keys.get(key)
        if done is None or done.decision is None:
            raise Fenced("the turn was committed without a decision")
        return done.decision

    def forget_keys_before(self, number: int) -> None:
        """Drops the keys of turns that are over: nobody asks for them again."""
        self._keys = {key: done for key, done in self._keys.items() if done.number >= number}

    @property
    def last_reply(self) -> str | None:
        """The id of the newest reply's message."""
        replies = (entry.message_id for entry in reversed(self.entries) if isinstance(entry, AssistantEntry))
        return next(replies, None)

    def call(self, call_id: str) -> ToolCall | None:
        """A call of the last reply."""
        return next((call for call in self._calls if call.call_id == call_id), None)

    def take_calls(self, reply: Commit) -> None:
        """Takes the calls of the last reply from its commit, which was not folded."""
        self._calls = _last_calls(reply.entries)

    def orphans(self) -> tuple[ToolEntry, ...]:
        """Results for calls of the last reply that have none and will get none, because the run ended or was overtaken.

        Every call gets exactly one result. These go into the commit of the next reply.
        """
        return tuple(
            ToolEntry(call_id=call.call_id, name=call.name, content=Content.of(ORPHANED), ok=False)
            for call in self._calls
            if call.call_id not in self.results
        )

    def outcomes(self) -> tuple[tuple[ToolCall, ToolEntry | None], ...]:
        """The last reply's calls with their results. None: the result is not there yet."""
        return tuple((call, self.results.get(call.call_id)) for call in self._calls)

    def pending(self, orphans: tuple[ToolEntry, ...] = ()) -> tuple[Entry, ...]:
        """What the next request adds after `entries`: results in call order, then the users' messages."""
        results = self.results | {orphan.call_id: orphan for orphan in orphans}
        ordered = (results[call.call_id] for call in self._calls if call.call_id in results)
        return (*ordered, *self.waiting.values())

    def unloaded(self) -> list[Entry]:
        """Entries that came since the last `load`: their texts may not be loaded."""
        return [*self.entries[self._loaded :], *self.results.values(), *self.waiting.values()]

    def load(self, texts: Mapping[str, str]) -> None:
        """Puts the texts in place of the pointers. `texts`: blob name -> text, for every pointer."""
        fresh = self.entries[self._loaded :]
        self.entries[self._loaded :] = [load_entry(entry, texts) for entry in fresh]
        self._loaded = len(self.entries)
        self.results = {id_: load_entry(entry, texts) for id_, entry in self.results.items()}
        self.waiting = {id_: load_entry(entry, texts) for id_, entry in self.waiting.items()}
        self._calls = _last_calls(self.entries)

    def _deliver(self, message_ids: tuple[str, ...]) -> None:
        self.entries.extend(
            self.results[call.call_id] for call in self._calls if call.call_id in self.results
        )
        self.results.clear()
        self.entries.extend(self.waiting.pop(id_) for id_ in message_ids if id_ in self.waiting)


def _last_calls(entries: Sequence[Entry]) -> tuple[ToolCall, ...]:
    last = next((entry for entry in reversed(entries) if isinstance(entry, AssistantEntry)), None)
    return last.calls if last is not None else ()


ATTEMPTS = 12
"""Lost races for a commit number in a row before the engine is asked to try again later."""
PAUSE_SECONDS = 0.05
WARM_SESSIONS = 8
"""Conversations that a warm process keeps. A Lambda serves one session at a time, so few are of use."""

UNLIMITED = LimitsByTenant()


def child_row(head: Head) -> ChildRow | None:
    """None: no other session has started this one."""
    of = head.parent
    if of is None:
        return None
    return ChildRow(head.tenant, of.session_id, head.session_id, f"{of.call_id}/{of.item:04d}")


class SessionRepository:
    """Sessions, read from their logs and moved by commits. Conversations are cached as long as the process lives.

    `write_version`: the schema version of its commits (`acta.engine.store.schema`). `segment_commits`: as in `Session`;
    it is the same in every worker. `limits`: the tenants' limits.
    """

    def __init__(
        self,
        log: SessionLog,
        blobs: BlobStore,
        clock: Clock,
        *,
        write_version: int = CURRENT,
        limits: LimitsByTenant = UNLIMITED,
        segment_commits: int = SEGMENT_COMMITS,
    ) -> None:
        self.write_version = write_version
        self.limits = limits
        self._segment_commits = segment_commits
        self._log = log
        self._blobs = blobs
        self.clock = clock
        self._warm: OrderedDict[tuple[str, str], Session] = OrderedDict()

    def conversation(self, at: Position) -> Session:
        """The session with all that a model is shown of it, texts loaded.

        A warm process reads only the newest commits, a cold one the segments since the last compaction and the commits
        since the last segment. Raises Fenced where there is no commit that this turn began with.
        """
        name = (at.tenant, at.session_id)
        session = self._warm.pop(name, None)
        if session is None:
            session = self._cold(at)
        else:
            self.refresh(session)
        self._warm[name] = session
        while len(self._warm) > WARM_SESSIONS:
            self._warm.popitem(last=False)
        session.forget_keys_before(at.first)
        self.load(session)
        if not session.head.deleted:
            keep_segments(self._blobs, session.head, session.take_segments(SEGMENTS_AT_ONCE))
        return session

    def turn(self, at: Position) -> Session:
        """The session from the current turn's first commit on: all that a call or a wait needs, in one read."""
        commits = self._since(at, at.first)
        session = Session(commits[0])
        for commit in commits[1:]:
            session.fold(commit)
        return session

    def newest(self, tenant: str, session_id: str) -> Session:
        """The head alone. Raises SessionNotFound."""
        commit = self._log.latest(tenant, session_id)
        if commit is None or commit.head.deleted:
            raise SessionNotFound("There is no such session.")
        return Session(commit)

    def with_calls(self, at: Position) -> Session:
        """The session at its newest commit, with the calls of the reply that this turn began with. These are two reads,
        however many commits came in between: a call of an agent may have hundreds. `results` stays empty, so only the
        head says which calls have ended. Raises SessionNotFound, and Fenced where there is no such reply.
        """
        reply = self._log.read(at.tenant, at.session_id, at.first, limit=1).commits
        if not reply:
            raise Fenced("the session has no commit where this turn began")
        session = self.newest(at.tenant, at.session_id)
        session.take_calls(reply[0])
        return session

    def refresh(self, session: Session) -> None:
        head = session.head
        for commit in self._log.read(head.tenant, head.session_id, since=session.number + 1).commits:
            self._fold(session, commit)

    def attempts(self, session: Session, key: str) -> Iterator[Change]:
        """The loop in which every commit but the first is made. It yields a change of the newest head, stores what the
        body has made of it under the next free number, and yields a new one when another worker has taken that number:

            for change in repository.attempts(session, key):
                check_run(change.head, at)
                change.set(...)
                change.commit(decision)
            return session.decided(key)

        `change.commit` is the last thing that the body does. A body that ends without it, or leaves the loop, writes
        nothing. Since the body is repeated for each lost race, it has no effects: it reads, and makes ids.

        A `key` is committed once. If the log has it already, from an earlier attempt or from this one after a lost
        answer, the loop ends. `session` is then at the newest commit, and `session.recorded(key)` says what the commit
        with that key decided; None: there is none.

        Raises CommitContention, Fenced (the session was deleted), LimitReached for a start, and what the stores raise.
        """
        for attempt in range(ATTEMPTS):
            if session.recorded(key) is not None:
                return
            if session.head.deleted:
                raise Fenced("the session was deleted")
            change = Change(session.head, session.number + 1, self.clock.now())
            yield change
            if not change.is_wanted or self._stored(session, key, change):
                return
            self.clock.back_off(PAUSE_SECONDS * (attempt + 1))
            self._refresh_or_leave(session)
        raise CommitContention(f"lost {ATTEMPTS} races for a commit number")

    def _stored(self, session: Session, key: str, change: Change) -> bool:
        """Stores the change, and moves the session to it. False: another worker has taken its number."""
        given_back: tuple[LeaseChange, ...] = ()
        if _gives_back(session.head, change.head):
            given_back = tuple(_unused(change.head, change.now))
            change.set(lease=None, day_lease=None)
        commit = self._as_stored(change.as_commit(key))
        head = commit.head
        extra_items = TransactionItems(
            listing=listed(session.head, commit),
            interventions=change.interventions,
            idempotency=_record(change.idempotency, commit),
            leases=change.leases or given_back,
            erasure=Erasure(head.tenant, head.session_id, commit.at) if head.deleted else None,
            places=self._places(session.head, head, change.starts),
        )
        stored_commit = offloaded(commit, self._blobs)
        try:
            self._log.append(stored_commit, extra_items)
        except NumberTaken:
            return False
        self._fold(session, commit, own=True)
        return True

    def _refresh_or_leave(self, session: Session) -> None:
        """Reads what others committed. Raises Fenced where the number is taken by the rest of a deleted session."""
        before = session.number
        self.refresh(session)
        head = session.head
        if session.number == before and self._log.latest(head.tenant, head.session_id) is None:
            # What was stored for this commit may have come after the deletion. It is erased with the rest (ADR 44).
            raise Fenced("the session was deleted")

    def commits(
        self, tenant: str, session_id: str, since: int, limit: int | None = None
    ) -> tuple[Commit, ...]:
        """The commits as they are in the log, from number `since` on. `limit` None: all of them."""
        return self._log.read(tenant, session_id, since, limit=limit).commits

    def replayed(self, commits: Sequence[Commit]) -> Session:
        """The session as it stood after the last of these commits, with all that a model is shown of it, texts loaded.
        `commits`: they begin with the last compaction, or with commit 1 if there was none."""
        session = self.unloaded(commits[0])
        for commit in commits[1:]:
            self._fold(session, commit)
        self.load(session)
        return session

    def unloaded(self, commit: Commit) -> Session:
        """The session at this commit, which holds the whole conversation. Texts are not loaded."""
        session = Session(commit, self._compacted(commit))
        session.holds_conversation = True
        return session

    def begin_texts(self, head: Head, *, starts: bool = True) -> Erasure:
        """Called before texts of a new session are stored, because its first commit may be refused or never be made.

        Raises LimitReached if the commit would be refused now. Returns a note that tells recovery to remove the texts;
        the commit has to lift the note. `starts`: as of the commit.
        """
        counted = head.model_copy(update={"counted": self._is_counted(head)})
        places = self._places(None, counted, starts)
        if places is not None:
            self._log.check_places(places)
        note = Erasure(head.tenant, head.session_id, self.clock.now())
        self._log.note_erasure(note)
        return note

    def create(
        self,
        key: str,
        change: Change,
        *,
        receiver: SessionReceiver | None = None,
        lifted: Erasure | None = None,
    ) -> Commit:
        """Commit 1 of a new session. Nobody else knows the session, so a number that is taken means that this commit is
        there and its answer was lost, or that another request used the same idempotency key at that moment.

        `receiver`: the webhook of the session. `lifted`: the note of `begin_texts`, where it was called. Raises
        KeyTaken, CommitContention, LimitReached, and what the stores raise.
        """
        commit = self._as_stored(change.as_commit(key))
        extra_items = TransactionItems(
            listing=listed(None, commit),
            idempotency=_record(change.idempotency, commit),
            places=self._places(None, commit.head, change.starts),
            receiver=receiver,
            lifted=lifted
            or (self.begin_texts(commit.head, starts=change.starts) if has_large(commit) else None),
            child=child_row(commit.head),
        )
        stored_commit = offloaded(commit, self._blobs)
        for attempt in range(ATTEMPTS):
            try:
                self._log.append(stored_commit, extra_items)
            except NumberTaken:
                self.clock.back_off(PAUSE_SECONDS * (attempt + 1))
                there = self._log.read(commit.head.tenant, commit.head.session_id, since=1, limit=1).commits
                if not there:
                    continue
            return commit
        raise CommitContention(f"met other transactions {ATTEMPTS} times")

    def _as_stored(self, commit: Commit) -> Commit:
        """The commit in the form that readers see, with `counted` set. This is computed again for every commit: a
        session that was open before its tenant had a limit is counted by its next commit (ADR 65).
        """
        head, counted = commit.head, self._is_counted(commit.head)
        if head.counted != counted:
            commit = commit.model_copy(update={"head": head.model_copy(update={"counted": counted})})
        return in_version(commit, self.write_version)

    def _is_counted(self, head: Head) -> bool:
        """A session whose children work gives its place to them (ADR 223)."""
        has_place = head.is_open and not head.children_at_work
        return has_place and self.limits.of(head.tenant).open_sessions is not None

    def _places(self, before: Head | None, head: Head, starts: bool) -> Places | None:
        """What the commit with this head changes in its tenant's counts. None: nothing, so that no transaction is
        needed.

        The count of open sessions is the number of sessions whose newest head says `counted`, because every commit
        changes both or neither. So two stored values are compared here.
        """
        opened = int(head.counted) - int(before is not None and before.counted)
        start, limits = None, self.limits.of(head.tenant)
        if starts:
            most_starts = limits.starts_per_minute if head.parent is None else None
            start = Start(minute_of(self.clock.now()), most_starts, limits.open_sessions)
        if not opened and (start is None or start.most_starts is None):
            return None
        shares = count_shares_of(limits)
        return Places(head.tenant, opened, start, next(shares_in_turn(head.session_id, shares)), shares)

    def _cold(self, at: Position) -> Session:
        """Reads the session without a cache. The commits that have no segment yet come first: the newest head says how
        far back the conversation goes."""
        every = self._segment_commits
        covered = covered_before(at.first, every)
        commits = self._since(at, covered + 1)
        head = commits[-1].head
        begin = max(1, head.compacted_at)
        before = read_segments(self._blobs, head, begin, covered, every) if begin <= covered else ()
        if before is None:
            older = self._log.read(at.tenant, at.session_id, begin, limit=covered + 1 - begin)
            commits = (*older.commits, *commits)
        commits = commits[max(0, min(begin, at.first) - commits[0].number) :]
        compacted = self._compacted(commits[0])
        session = Session(commits[0], compacted, before=before or (), segment_commits=every)
        session.holds_conversation = True
        for commit in commits[1:]:
            self._fold(session, commit)
        return session

    def _since(self, at: Position, number: int) -> tuple[Commit, ...]:
        commits = self._log.read(at.tenant, at.session_id, number).commits
        if not commits:
            raise Fenced("the session has no commit where this turn began")
        return commits

    def _fold(self, session: Session, commit: Commit, *, own: bool = False) -> None:
        session.fold(commit, self._compacted(commit) if session.holds_conversation else None, own=own)

    def _compacted(self, commit: Commit) -> Compacted | None:
        if commit.compacted is None:
            return None
        pointer, head = commit.compacted, commit.head
        if pointer.text is not None:
            return read_compacted(pointer.text)
        name = pointer.blob or ""
        return read_compacted(self._texts(head, [name])[name])

    def load(self, session: Session) -> None:
        """Loads every text that the session's entries point to."""
        names = pointers(session.unloaded())
        session.load(self._texts(session.head, names))

    def load_input(self, session: Session, call: ToolCall) -> ToolCall:
        """The call with its input loaded."""
        if call.input_content is None or call.input_content.blob is None:
            return call
        return load_call(call, self._texts(session.head, [call.input_content.blob]))

    def text(self, head: Head, name: str) -> str:
        """The text of a blob of this session. Raises BlobMissing."""
        return self._blobs.get(head.tenant, head.session_id, (name,))[name]

    def keep(self, head: Head, content: Content) -> Content:
        """Stores a text of any size and returns the pointer to it."""
        return stored(content, head, self._blobs)

    def keep_named(self, at: Position, name: str, text: str) -> None:
        """Stores a text under a name of the caller's."""
        self._blobs.put_named(at.tenant, at.session_id, name, text)

    def as_stored(self, head: Head, entries: Iterable[E]) -> tuple[E, ...]:
        """Stores the entries' large texts and returns the entries with pointers to them."""
        return offloaded_entries(entries, head, self._blobs)

    def _texts(self, head: Head, names: list[str]) -> Mapping[str, str]:
        """Raises PoisonedSession. A blob is stored before its pointer, so a missing one has been taken away."""
        try:
            return self._blobs.get(head.tenant, head.session_id, names) if names else {}
        except BlobMissing:
            raise PoisonedSession("a text of the conversation is missing") from None


def _gives_back(before: Head, head: Head) -> bool:
    """Whether the session gives back what is left of its leases of the tenant's hour and day with this commit.

    A commit that ends a run or parks it does, unless calls may still have to be charged to the leases: those of an
    outage, which the reply that ends the outage charges, and a call whose answer is made in the background.
    """
    run = head.run
    # `parked` stays after the execution has begun, until its first turn
    is_parked_now = (
        run is not None and run.parked and run.generation != (before.run and before.run.generation)
    )
    may_be_charged = head.outage is not None or head.background is not None
    return (head.is_over or is_parked_now) and not may_be_charged


def _unused(head: Head, now: datetime) -> Iterator[LeaseChange]:
    for lease, hour, of_day in ((head.lease, hour_of(now), False), (head.day_lease, day_of(now), True)):
        if lease is not None and lease.left > 0 and lease.hour == hour:
            yield LeaseChange(head.tenant, hour, -lease.left, share=lease.share, of_day=of_day)


def _record(key: IdempotencyKey | None, commit: Commit) -> IdempotencyRecord | None:
    """Holds ids only: what the request was answered is read from the commit, so nothing outlives the session."""
    return (
        None if key is None else key.record({"session_id": commit.head.session_id}, commit.at, commit.number)
    )
