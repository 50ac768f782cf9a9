"""A session told in four ways from the one log: messages, plan versions, steps, trace (design §3). Each is read in
pieces from any place on, so that the longest session costs no more memory than a page of it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from shared.agent.offload import load_entry, pointers
from shared.agent.retelling import Mark, Placed, retold
from shared.domain.commit import Commit, StepRecord
from shared.domain.continuation import without_marker
from shared.domain.conversation import AssistantEntry, Entry, ToolEntry
from shared.domain.errors import PoisonedSession, SessionNotFound, ValidationFailed
from shared.domain.plan import ExecutionPlan
from shared.domain.session import Head
from shared.ports.blobs import BlobMissing, BlobStore
from shared.ports.log import SessionLog

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
    behind: Mark


class History:
    """What it tells is an iterator of rows: whoever has enough of them stops. Raises SessionNotFound, ValidationFailed
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

    def steps(self, since: Mark) -> Iterator[Row[StepRecord]]:
        return self._rare(since, lambda commit: [] if commit.step is None else [commit.step])

    def plan_versions(self, since: Mark) -> Iterator[Row[ExecutionPlan]]:
        """Every version as it was created, oldest first; the current one is in the head."""
        return self._rare(since, _plans)

    def messages(self, since: Mark) -> Iterator[Row[Placed]]:
        """Entries in delivery order with their texts; what only a model needs of a reply stays where it is."""
        told = retold(self._commits(since.number), since)
        for batch in _batches((one._replace(entry=_public(one.entry)) for one in told), _size):
            for one, entry in zip(batch, self._load([one.entry for one in batch]), strict=True):
                yield Row(one._replace(entry=entry), one.behind)

    def trace(self, since: Mark) -> Iterator[Row[dict[str, Any]]]:
        """Thought, action, input and observation, a row a call; a reply without calls is one row."""
        asked: Placed | None = None
        results: dict[str, ToolEntry] = {}
        skip = since.row
        for one in retold(self._commits(since.number), since._replace(row=0)):
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
        self, asked: Placed, results: dict[str, ToolEntry], skip: int
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

    def _rare(self, since: Mark, of: Callable[[Commit], Sequence[Item]]) -> Iterator[Row[Item]]:
        for commit in self._commits(since.number):
            if commit.number >= since.number + MOST_COMMITS:
                yield Row(None, Mark(commit.number))
                return
            for place, item in enumerate(of(commit)):
                if commit.number > since.number or place >= since.entry:
                    yield Row(item, Mark(commit.number, entry=place + 1))

    def _commits(self, number: int) -> Iterator[Commit]:
        known = False
        while True:
            piece = self._log.tail(*self._name, since=number, limit=PIECE_COMMITS)
            if not (known or (piece.complete and piece.commits)):
                _ = self.head
            if not piece.commits:
                raise ValidationFailed(
                    "The cursor is not valid.", {"cursor": ["This is not a cursor of an earlier answer."]}
                )
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


def _size(one: Placed) -> int:
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
