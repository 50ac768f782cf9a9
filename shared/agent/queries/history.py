"""A session's history from its one log: messages, plan versions, steps, trace (design §3).

It is read in pieces and from any place on, so the longest session costs no more memory than one page of it. An
assistant's entry delivers what stands before it: the results of the last reply's calls, in call order, then people's
messages, then the entry itself. These are one block, named by the number of the commit that has the entry.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from shared.agent.session.large_texts import load_entry, pointers
from shared.agent.session.session import Session
from shared.domain.errors import CursorInvalid, PoisonedSession, SessionNotFound
from shared.domain.plan.plan import ExecutionPlan
from shared.domain.rules.next_action import without_marker
from shared.domain.session.commit import Commit, StepRecord
from shared.domain.session.conversation import AssistantEntry, Entry, ToolEntry, UserEntry
from shared.domain.session.head import Head
from shared.ports.blobs import BlobMissing, BlobStore
from shared.ports.log import SessionLog

NOTHING: Mapping[str, dict[str, Any]] = MappingProxyType({})


class HistoryCursor(NamedTuple):
    """Where the next page begins: `12.14.0.3`; `0` is the start.

    Commits are read from `number` on. Blocks before `block` were delivered already, and so were the first `entry`
    entries of the block that comes next; of the entry after these, the first `row` rows.
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


_CURSOR = re.compile(r"0|([1-9][0-9]{0,9})\.([1-9][0-9]{0,9})\.([0-9]{1,4})\.([0-9]{1,4})")


class PositionedEntry(NamedTuple):
    """A conversation entry and the event it came with. `at_mark` is where it stands, `behind` comes after it.
    `amended`: of a reply's calls those that a person changed before they ran, with the input that ran.
    """

    entry: Entry
    seq: int
    at: datetime
    step_number: int | None
    at_mark: HistoryCursor
    behind: HistoryCursor
    amended: Mapping[str, dict[str, Any]] = NOTHING

    def amendment(self, call_id: str) -> dict[str, Any]:
        """What is shown beside the model's input where a person changed it; nothing where nobody did."""
        if call_id not in self.amended:
            return {}
        return {"amended": True, "amended_input": self.amended[call_id]}


class _Place(NamedTuple):
    number: int
    seq: int
    at: datetime
    step_number: int | None


def in_delivery_order(commits: Iterable[Commit], since: HistoryCursor) -> Iterator[PositionedEntry]:
    """`commits`: those from `since.number` on. Texts are not loaded."""
    session: Session | None = None
    places: dict[str, _Place] = {}
    begin, following, index = since.number, since.block, since.entry
    reply: PositionedEntry | None = None
    amended: dict[str, dict[str, Any]] = {}
    for commit in commits:
        if session is None:
            session = Session(commit)
        else:
            session.fold(commit)
        places |= _places(commit)
        amended |= {call.call_id: call.amended for call in commit.head.calls if call.amended is not None}
        block = tuple(session.entries)
        session.entries.clear()
        if not block:
            continue
        # who begins here later knows as much: no result and no message of before is still to be delivered
        next_begin = min([commit.number, *(places[name].number for name in session.waiting)])
        if commit.number >= since.block:
            if reply is not None:
                yield reply._replace(amended=amended)
            marks = [HistoryCursor(begin, commit.number, place) for place in range(len(block))]
            marks.append(HistoryCursor(next_begin, commit.number + 1))
            told = list(_told(block, marks, places, index))
            yield from told[:-1]
            reply = told[-1] if told else None  # until all that becomes of its calls is known
            index, following, amended = 0, commit.number + 1, {}
        begin = next_begin
        kept = {*session.waiting, *session.results}
        places = {name: place for name, place in places.items() if name in kept}
    if reply is not None:
        yield reply._replace(amended=amended)
    if session is not None:
        rest = session.pending()
        marks = [HistoryCursor(begin, following, place) for place in range(len(rest) + 1)]
        yield from _told(rest, marks, places, index)


def name_of(entry: Entry) -> str:
    match entry:
        case ToolEntry():
            return entry.call_id
        case UserEntry() | AssistantEntry():
            return entry.message_id


def _told(
    entries: Sequence[Entry], marks: Sequence[HistoryCursor], places: dict[str, _Place], index: int
) -> Iterator[PositionedEntry]:
    for place in range(index, len(entries)):
        _, seq, at, step = places[name_of(entries[place])]
        yield PositionedEntry(entries[place], seq, at, step, marks[place], marks[place + 1])


def _places(commit: Commit) -> dict[str, _Place]:
    step = commit.step.step_number if commit.step is not None else None
    found = {}
    for entry in commit.entries:
        key, name = "call_id" if isinstance(entry, ToolEntry) else "message_id", name_of(entry)
        own = next((event for event in commit.events if event.data.get(key) == name), None)
        # A reply without text has no event of its own: it stands at the first its commit has.
        event = own or (commit.events[0] if commit.events else None)
        found[name] = _Place(commit.number, event.seq if event else commit.head.last_seq, commit.at, step)
    return found


PIECE_COMMITS = 100
"""Read at once."""
MOST_COMMITS = 1_000
"""Looked at for one page of what is rare in a log."""
BATCH_BYTES = 524_288
BATCH_ENTRIES = 20
"""Texts that are loaded together."""

Item = TypeVar("Item")


class Row(NamedTuple, Generic[Item]):
    """`item` None: nothing so far, look again from `behind` on. `behind`: where telling goes on after it."""

    item: Item | None
    behind: HistoryCursor


class History:
    """What it tells is an iterator of rows: whoever has enough of them stops. Raises SessionNotFound, CursorInvalid
    for a place the session does not have.
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
        return self._rare(since, lambda commit: [] if commit.step is None else [commit.step])

    def plan_versions(self, since: HistoryCursor) -> Iterator[Row[ExecutionPlan]]:
        """Every version as it was created, oldest first; the current one is in the head."""
        return self._rare(since, _plans)

    def messages(self, since: HistoryCursor) -> Iterator[Row[PositionedEntry]]:
        """Entries in delivery order with their texts; what only a model needs of a reply stays where it is."""
        told = in_delivery_order(self._commits(since.number), since)
        for batch in _batches((one._replace(entry=_public(one.entry)) for one in told), _size):
            for one, entry in zip(batch, self._load([one.entry for one in batch]), strict=True):
                yield Row(one._replace(entry=entry), one.behind)

    def trace(self, since: HistoryCursor) -> Iterator[Row[dict[str, Any]]]:
        """Thought, action, input and observation, a row a call; a reply without calls is one row."""
        asked: PositionedEntry | None = None
        results: dict[str, ToolEntry] = {}
        skip = since.row
        for one in in_delivery_order(self._commits(since.number), since._replace(row=0)):
            if isinstance(one.entry, ToolEntry):
                results.setdefault(one.entry.call_id, one.entry)
            if isinstance(one.entry, AssistantEntry):
                if asked is not None:
                    yield from self._traced(asked, results, skip)
                    skip, results = 0, {}
                asked = one
        if asked is not None:
            yield from self._traced(asked, results, skip)

    def _traced(
        self, asked: PositionedEntry, results: dict[str, ToolEntry], skip: int
    ) -> Iterator[Row[dict[str, Any]]]:
        (reply,) = self._load([asked.entry])
        assert isinstance(reply, AssistantEntry)
        thought = without_marker(reply.content.text or reply.thinking or "")
        if not reply.calls:
            final = {"step_number": asked.step_number, "thought": reply.thinking, "final_answer": thought}
            yield Row(final, asked.behind)
            return
        calls = [(place, call, results.get(call.call_id)) for place, call in enumerate(reply.calls)][skip:]
        for batch in _batches(calls, lambda one: one[2].content.bytes if one[2] is not None else 0):
            seen = self._load([entry for _, _, entry in batch if entry is not None])
            texts = {entry.call_id: entry.content.text for entry in seen if isinstance(entry, ToolEntry)}
            for place, call, _ in batch:
                row: dict[str, Any] = {
                    "step_number": asked.step_number,
                    "thought": "" if place else thought,  # it may lead to several calls and is told once
                    "action": call.name,
                    "action_input": call.input,
                    **asked.amendment(call.call_id),
                    "observation": texts.get(call.call_id),
                }
                is_last = place + 1 == len(reply.calls)
                yield Row(row, asked.behind if is_last else asked.at_mark._replace(row=place + 1))

    def _rare(self, since: HistoryCursor, of: Callable[[Commit], Sequence[Item]]) -> Iterator[Row[Item]]:
        for commit in self._commits(since.number):
            if commit.number >= since.number + MOST_COMMITS:
                yield Row(None, HistoryCursor(commit.number))
                return
            for place, item in enumerate(of(commit)):
                if commit.number > since.number or place >= since.entry:
                    yield Row(item, HistoryCursor(commit.number, entry=place + 1))

    def _commits(self, number: int) -> Iterator[Commit]:
        known = False
        while True:
            piece = self._log.tail(*self._name, since=number, limit=PIECE_COMMITS)
            if not (known or (piece.complete and piece.commits)):
                _ = self.head
            if not piece.commits:
                raise CursorInvalid
            if piece.commits[-1].head.deleted:
                raise SessionNotFound("There is no such session.")
            yield from piece.commits
            if piece.complete:
                return
            number, known = piece.commits[-1].number + 1, True

    def _load(self, entries: Sequence[Entry]) -> list[Entry]:
        names = pointers(entries)
        if not names:
            return list(entries)
        try:
            texts = self._blobs.get(*self._name, names)
        except BlobMissing:
            _ = self.head  # deleted meanwhile
            raise PoisonedSession("a stored text is missing") from None
        return [load_entry(entry, texts) for entry in entries]


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
