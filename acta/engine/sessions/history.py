"""A session's history, read from its log: messages, plan versions, steps, trace (docs/design/api.md).

The log is read piece by piece, from any commit on, so the longest session costs no more memory than one page.

A conversation consists of blocks. A block is what one reply of the model was made from, and the reply: the results of
the previous reply's calls, in the order of the calls; then people's messages; then the reply. Its number is that of the
commit that holds the reply.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from acta.engine.errors import (
    CursorInvalid,
    InterventionNotFound,
    NotFound,
    PoisonedSession,
    SessionNotFound,
    ValidationFailed,
)
from acta.engine.log.beside import (
    BlobMissing,
    BlobStore,
    load_call,
    load_entry,
    pointers,
    read_compacted,
)
from acta.engine.log.commit import Commit, StepRecord
from acta.engine.log.conversation import (
    AssistantEntry,
    Compacted,
    Content,
    Entry,
    ToolCall,
    ToolEntry,
    UserEntry,
    input_hash,
)
from acta.engine.log.head import MAX_ANSWER_CHARS, Head
from acta.engine.log.repository import Session
from acta.engine.log.store import SessionLog
from acta.engine.people.intervention import Intervention, PendingCall, reviewed_calls
from acta.engine.plans.plan import ExecutionPlan
from acta.engine.turn.final_answer import said, without_marker

NOTHING_AMENDED: Mapping[str, dict[str, Any]] = MappingProxyType({})


class HistoryCursor(NamedTuple):
    """Where the next page begins: `12.14.0.3`; `0` is the start.

    Commits are read from `number` on. Blocks before `block` are skipped, and so are the first `entry` entries of the
    next block; of the entry after these, the first `row` rows.
    """

    number: int = 1
    block: int = 1
    entry: int = 0
    row: int = 0

    def __str__(self) -> str:
        return ".".join(str(part) for part in self)

    @classmethod
    def parse(cls, text: str) -> "HistoryCursor":
        """Raises CursorInvalid naming `cursor`."""
        found = _CURSOR.fullmatch(text)
        if found is None:
            raise CursorInvalid
        return cls() if text == "0" else cls(*map(int, found.groups()))


_CURSOR = re.compile(r"0|([1-9][0-9]{0,9})\.([1-9][0-9]{0,9})\.([0-9]{1,6})\.([0-9]{1,4})")


class PositionedEntry(NamedTuple):
    """A conversation entry with the event it came with: the event's `seq` and time.

    `cursor` is where the entry itself begins, `cursor_after` where reading goes on after it. `amended`: call id -> the
    input that ran, of those of a reply's calls that a person changed before they ran. `fused`: as in `StepRecord`.
    """

    entry: Entry
    seq: int
    at: datetime
    step_number: int | None
    cursor: HistoryCursor
    cursor_after: HistoryCursor
    amended: Mapping[str, dict[str, Any]] = NOTHING_AMENDED
    fused: bool = False
    inherited: bool = False
    """It comes from the session that this one was forked from."""

    def amendment(self, call_id: str) -> dict[str, Any]:
        """Fields to show beside the model's input where a person changed it; none where nobody did."""
        if call_id not in self.amended:
            return {}
        return {"amended": True, "amended_input": self.amended[call_id]}


class _Origin(NamedTuple):
    """Where an entry came from: its commit, and the event and step there."""

    number: int
    seq: int
    at: datetime
    step_number: int | None
    fused: bool
    inherited: bool = False


def in_delivery_order(
    commits: Iterable[Commit],
    since: HistoryCursor,
    inherited: Callable[[Commit], Compacted | None] = lambda commit: None,
) -> Iterator[PositionedEntry]:
    """The entries of the conversation, in the order in which the model was given them. `commits`: those from
    `since.number` on. Large texts are not loaded. `inherited`: what a fork's first commit has of its parent's.
    """
    session: Session | None = None
    origins: dict[str, _Origin] = {}
    begin, next_block, skip = since.number, since.block, since.entry
    reply: PositionedEntry | None = None  # held back until it is known which of its calls were amended
    amended: dict[str, dict[str, Any]] = {}
    for commit in commits:
        if session is None:
            begun_with = inherited(commit)
            session = Session(commit, begun_with)
            origins |= _origins_of_parent(commit, begun_with)
        else:
            session.fold(commit)
        origins |= _origins(commit)
        amended |= {call.call_id: call.amended for call in commit.head.calls if call.amended is not None}
        block = tuple(session.entries)
        session.entries.clear()
        if not block:
            continue
        # Reading can begin here: no earlier result and no earlier message is still to be delivered.
        next_begin = min([commit.number, *(origins[name].number for name in session.waiting)])
        if commit.number >= since.block:
            if reply is not None:
                yield reply._replace(amended=amended)
            cursors = [HistoryCursor(begin, commit.number, place) for place in range(len(block))]
            cursors.append(HistoryCursor(next_begin, commit.number + 1))
            positioned = list(_positioned(block, cursors, origins, skip))
            yield from positioned[:-1]
            reply = positioned[-1] if positioned else None
            skip, next_block, amended = 0, commit.number + 1, {}
        begin = next_begin
        undelivered = {*session.waiting, *session.results}
        origins = {name: origin for name, origin in origins.items() if name in undelivered}
    if reply is not None:
        yield reply._replace(amended=amended)
    if session is not None:
        rest = session.pending()
        cursors = [HistoryCursor(begin, next_block, place) for place in range(len(rest) + 1)]
        yield from _positioned(rest, cursors, origins, skip)


def _fused(one: PositionedEntry) -> dict[str, bool]:
    """The field `fused`, only where it is true: most rows of most deployments are of turns of their own."""
    return {"fused": True} if one.fused else {}


def name_of(entry: Entry) -> str:
    match entry:
        case ToolEntry():
            return entry.call_id
        case UserEntry() | AssistantEntry():
            return entry.message_id


def _positioned(
    entries: Sequence[Entry], cursors: Sequence[HistoryCursor], origins: dict[str, _Origin], skip: int
) -> Iterator[PositionedEntry]:
    """All but the first `skip` entries. `cursors`: one more than there are entries."""
    for place in range(skip, len(entries)):
        origin = origins[name_of(entries[place])]
        yield PositionedEntry(
            entries[place],
            origin.seq,
            origin.at,
            origin.step_number,
            cursors[place],
            cursors[place + 1],
            fused=origin.fused,
            inherited=origin.inherited,
        )


def _origins_of_parent(commit: Commit, begun_with: Compacted | None) -> dict[str, _Origin]:
    """Where the inherited entries came from: the fork's first commit brought all of them."""
    if begun_with is None:
        return {}
    origin = _Origin(commit.number, commit.head.last_seq, commit.at, None, False, inherited=True)
    return {name_of(entry): origin for entry in (*begun_with.entries, *begun_with.results)}


def _origins(commit: Commit) -> dict[str, _Origin]:
    step = commit.step.step_number if commit.step is not None else None
    fused = commit.step is not None and commit.step.fused
    found = {}
    for entry in commit.entries:
        key, name = "call_id" if isinstance(entry, ToolEntry) else "message_id", name_of(entry)
        own = next((event for event in commit.events if event.data.get(key) == name), None)
        # A reply without text has no event of its own. It takes the first one of its commit.
        event = own or (commit.events[0] if commit.events else None)
        found[name] = _Origin(
            commit.number, event.seq if event else commit.head.last_seq, commit.at, step, fused
        )
    return found


PIECE_COMMITS = 100
"""Commits of one read of the log."""
MOST_COMMITS = 1_000
"""Commits that one page of steps or plan versions looks through; few commits have either."""
BATCH_BYTES = 524_288
BATCH_ENTRIES = 20
"""Texts are loaded for so many entries at once, or for fewer if these have so many bytes together."""

Item = TypeVar("Item")


class Row(NamedTuple, Generic[Item]):
    """`item` None: nothing was found so far; the next page looks on from `cursor_after`."""

    item: Item | None
    cursor_after: HistoryCursor


class History:
    """Each method yields rows, and reads on only for as long as the caller asks for more.

    All raise SessionNotFound, and CursorInvalid for a place that the session does not have.
    """

    def __init__(self, log: SessionLog, blobs: BlobStore, tenant: str, session_id: str) -> None:
        self._log = log
        self._blobs = blobs
        self._name = (tenant, session_id)

    @property
    def head(self) -> Head:
        newest = self._log.latest(*self._name)
        if newest is None or newest.head.deleted:
            raise SessionNotFound("There is no such session.")
        return newest.head

    def steps(self, since: HistoryCursor) -> Iterator[Row[StepRecord]]:
        return self._found_in_commits(since, _steps_of)

    def plan_versions(self, since: HistoryCursor) -> Iterator[Row[ExecutionPlan]]:
        """Every version as it was created, oldest first; the current one is in the head."""
        return self._found_in_commits(since, _plans)

    def messages(self, since: HistoryCursor) -> Iterator[Row[PositionedEntry]]:
        """Entries in delivery order, with their texts and without what a provider needs to have back of a reply."""
        positioned = in_delivery_order(self._commits(since.number), since, self._of_parent)
        for batch in _batches((one._replace(entry=_public(one.entry)) for one in positioned), _size):
            for one, entry in zip(batch, self._load([one.entry for one in batch]), strict=True):
                yield Row(one._replace(entry=entry), one.cursor_after)

    def _of_parent(self, commit: Commit) -> Compacted | None:
        """The conversation that a fork begins with. None: the commit is not the first one, or of no fork."""
        stored = commit.compacted
        if commit.number > 1 or stored is None:
            return None
        if stored.text is None and stored.blob is not None:
            try:
                stored = Content.of(self._blobs.get(*self._name, (stored.blob,))[stored.blob])
            except BlobMissing:
                _ = self.head  # raises where the session was deleted meanwhile
                raise PoisonedSession("a stored text is missing") from None
        return read_compacted(stored.loaded)

    def trace(self, since: HistoryCursor, *, whole: bool = False) -> Iterator[Row[dict[str, Any]]]:
        """Thought, action, input and observation: a row for each call, one for a reply without calls. `whole`: of a
        large result all of it, and not what the model was shown.
        """
        reply: PositionedEntry | None = None
        results: dict[str, ToolEntry] = {}
        skip = since.row
        for one in in_delivery_order(self._commits(since.number), since._replace(row=0)):
            if isinstance(one.entry, ToolEntry):
                results.setdefault(one.entry.call_id, _whole(one.entry) if whole else one.entry)
            if isinstance(one.entry, AssistantEntry):
                if reply is not None:
                    yield from self._rows_of(reply, results, skip)
                    skip, results = 0, {}
                reply = one
        if reply is not None:
            yield from self._rows_of(reply, results, skip)

    def _rows_of(
        self, one: PositionedEntry, results: dict[str, ToolEntry], skip: int
    ) -> Iterator[Row[dict[str, Any]]]:
        """`skip`: rows of earlier pages."""
        (reply,) = self._load([one.entry])
        assert isinstance(reply, AssistantEntry)
        text = said(reply.content.text or "")
        thought = text.words.strip() or text.reasoning or without_marker(reply.thinking)
        if not reply.calls:
            final = {
                "step_number": one.step_number,
                "thought": reply.thinking or text.reasoning,
                "final_answer": thought,
            }
            yield Row(final | _fused(one), one.cursor_after)
            return
        calls = [(place, call, results.get(call.call_id)) for place, call in enumerate(reply.calls)][skip:]
        for batch in _batches(calls, lambda each: each[2].content.bytes if each[2] is not None else 0):
            loaded = self._load([entry for _, _, entry in batch if entry is not None])
            texts = {entry.call_id: entry.content.text for entry in loaded if isinstance(entry, ToolEntry)}
            for place, call, _ in batch:
                row: dict[str, Any] = {
                    "step_number": one.step_number,
                    "thought": "" if place else thought,  # one thought may lead to several calls
                    "action": call.name,
                    "action_input": call.input,
                    **one.amendment(call.call_id),
                    "observation": texts.get(call.call_id),
                    **_fused(one),
                }
                is_last = place + 1 == len(reply.calls)
                yield Row(row, one.cursor_after if is_last else one.cursor._replace(row=place + 1))

    def _found_in_commits(
        self, since: HistoryCursor, of: Callable[[Commit], Sequence[Item]]
    ) -> Iterator[Row[Item]]:
        """Looks for what few commits have. A page ends after `MOST_COMMITS` commits, even if nothing was found."""
        for commit in self._commits(since.number):
            if commit.number >= since.number + MOST_COMMITS:
                yield Row(None, HistoryCursor(commit.number))
                return
            for place, item in enumerate(of(commit)):
                if commit.number > since.number or place >= since.entry:
                    yield Row(item, HistoryCursor(commit.number, entry=place + 1))

    def _commits(self, number: int) -> Iterator[Commit]:
        exists = False
        while True:
            piece = self._log.read(*self._name, since=number, limit=PIECE_COMMITS)
            if not (exists or (piece.complete and piece.commits)):
                _ = self.head  # raises where there is no such session, or not any more
            if not piece.commits:
                raise CursorInvalid
            if piece.commits[-1].head.deleted:
                raise SessionNotFound("There is no such session.")
            yield from piece.commits
            if piece.complete:
                return
            number, exists = piece.commits[-1].number + 1, True

    def _load(self, entries: Sequence[Entry]) -> list[Entry]:
        names = pointers(entries)
        if not names:
            return list(entries)
        try:
            texts = self._blobs.get(*self._name, names)
        except BlobMissing:
            _ = self.head  # raises where the session was deleted meanwhile
            raise PoisonedSession("a stored text is missing") from None
        return [load_entry(entry, texts) for entry in entries]


def _whole(entry: ToolEntry) -> ToolEntry:
    return entry if entry.whole is None else entry.model_copy(update={"content": entry.whole})


def _steps_of(commit: Commit) -> Sequence[StepRecord]:
    return commit.failed_attempts if commit.step is None else (*commit.failed_attempts, commit.step)


def _plans(commit: Commit) -> list[ExecutionPlan]:
    return [
        ExecutionPlan.model_validate(event.data["plan"], strict=False)
        for event in commit.events
        if event.type in ("plan.created", "plan.revised")
    ]


def _public(entry: Entry) -> Entry:
    return entry.model_copy(update={"private": None}) if isinstance(entry, AssistantEntry) else entry


def _size(one: PositionedEntry) -> int:
    inputs = one.entry.calls if isinstance(one.entry, AssistantEntry) else ()
    return one.entry.content.bytes + sum(call.input_content.bytes for call in inputs if call.input_content)


def _batches(found: Iterable[Item], size: Callable[[Item], int]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    total = 0
    for one in found:
        if batch and (len(batch) == BATCH_ENTRIES or total + size(one) > BATCH_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(one)
        total += size(one)
    if batch:
        yield batch


NEAR_COMMITS = 100
"""An answer is in the commit that its run's last turn began with, or a little before it: what came after it, and the
first half of one that was cut off, are few commits."""


def whole_answer(log: SessionLog, blobs: BlobStore, head: Head) -> str | None:
    """The answer of a run that is over. None: it has none. If its message is not found, only its beginning."""
    result = head.result
    if result is None or result.answer is None or len(result.answer) < MAX_ANSWER_CHARS:
        return result.answer if result is not None else None
    replies = {entry.message_id: entry for entry in _replies_near_the_end(log, head)}
    text, message_id = "", result.message_id or ""
    while message_id in replies:
        reply = replies.pop(message_id)
        text = _loaded(blobs, head, reply).content.loaded + text
        message_id = reply.continues
    return without_marker(text) or result.answer


def _replies_near_the_end(log: SessionLog, head: Head) -> Iterator[AssistantEntry]:
    first = head.run.first if head.run is not None else 1
    since = max(1, first - NEAR_COMMITS // 2)
    for commit in log.read(head.tenant, head.session_id, since=since, limit=NEAR_COMMITS).commits:
        yield from (entry for entry in commit.entries if isinstance(entry, AssistantEntry))


def _loaded(blobs: BlobStore, head: Head, reply: AssistantEntry) -> AssistantEntry:
    shown = reply.model_copy(update={"private": None, "calls": ()})
    names = pointers((shown,))
    try:
        return load_entry(shown, blobs.get(head.tenant, head.session_id, names) if names else {})
    except BlobMissing:
        raise SessionNotFound("There is no such session.") from None


NAME_CHARS = 64


class TextPart(NamedTuple):
    """`offset`: of the text's first byte; `bytes`: of the whole; `next_offset` None: this is the end."""

    text: str
    offset: int
    bytes: int
    next_offset: int | None


def part_of(blobs: BlobStore, head: Head, name: str, offset: int, limit: int) -> TextPart:
    """At most `limit` bytes of the stored text from `offset` on, in whole characters. Only texts that are named after
    their content are read so, and no other object of the session. Raises NotFound.
    """
    if len(name) != NAME_CHARS or not set(name) <= set("0123456789abcdef"):
        raise NotFound("The session has no text of that name.")
    try:
        data = blobs.get(head.tenant, head.session_id, (name,))[name].encode()
    except BlobMissing:
        raise NotFound("The session has no text of that name.") from None
    begin = _boundary(data, min(offset, len(data)))
    end = _boundary(data, min(begin + limit, len(data)))
    return TextPart(data[begin:end].decode(), begin, len(data), end if end < len(data) else None)


def _boundary(data: bytes, offset: int) -> int:
    while offset < len(data) and data[offset] & 0xC0 == 0x80:
        offset += 1
    return offset


PAGE = 200
"""Commits of one read."""


class CallInput(NamedTuple):
    """`input_hash` is the hash that the decision is bound to."""

    name: str
    input: dict[str, Any]
    input_hash: str


def full_call_input(
    log: SessionLog, blobs: BlobStore, tenant: str, one: Intervention, call_id: str | None = None
) -> CallInput:
    """`call_id`: which of a review's calls; needed where the review has more than one.

    Raises InterventionNotFound where the intervention is not about this call, or where its session is gone, and
    ValidationFailed where `call_id` is needed.
    """
    call = _chosen(one, call_id)
    if not call.shortened:
        return CallInput(call.name, call.input, call.input_hash)
    for call_made in _inputs_of(log, tenant, one.session_id, call.call_id):
        pointer = call_made.input_content
        if pointer is not None and pointer.blob is not None:
            call_made = load_call(call_made, blobs.get(tenant, one.session_id, (pointer.blob,)))
        if call_made.input is not None and input_hash(call_made.input) == call.input_hash:
            return CallInput(call.name, call_made.input, call.input_hash)
    raise InterventionNotFound("The session does not have this call any more.")


def _chosen(one: Intervention, call_id: str | None) -> PendingCall:
    calls = reviewed_calls(one) if one.tool_call is None else (one.tool_call,)
    if not calls:
        raise InterventionNotFound("This intervention is not about a call: it has no input.")
    if call_id is None and len(calls) > 1:
        ids = ", ".join(call.call_id for call in calls)
        raise ValidationFailed("This review is about several calls.", {"call_id": [f"one of {ids}"]})
    found = next((call for call in calls if call_id in (None, call.call_id)), None)
    if found is None:
        raise InterventionNotFound("This intervention is not about a call of that id.")
    return found


def _inputs_of(log: SessionLog, tenant: str, session_id: str, call_id: str) -> Iterator[ToolCall]:
    """The call as the model made it, then as people changed it: people may be asked about a changed call again."""
    for commit in _commits(log, tenant, session_id):
        for entry in commit.entries:
            if isinstance(entry, AssistantEntry):
                yield from (call for call in entry.calls if call.call_id == call_id)
        open_call = commit.head.open_call(call_id)
        if open_call is not None and open_call.amended is not None:
            yield ToolCall(call_id=call_id, effect_id="", name=open_call.name, input=open_call.amended)


def _commits(log: SessionLog, tenant: str, session_id: str) -> Iterator[Commit]:
    since = 1
    while page := log.read(tenant, session_id, since, limit=PAGE).commits:
        yield from page
        since = page[-1].number + 1
