"""The whole of a session, told in four ways from the one log: messages, plan versions, steps, trace (design §3)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from shared.agent.offload import load_entry, pointers
from shared.agent.thread import Thread
from shared.domain.commit import Commit, StepRecord
from shared.domain.continuation import without_marker
from shared.domain.conversation import AssistantEntry, Entry, ToolEntry, UserEntry
from shared.domain.errors import SessionNotFound
from shared.domain.plan import ExecutionPlan
from shared.domain.session import Head
from shared.ports.blobs import BlobStore
from shared.ports.log import SessionLog


class Placed(NamedTuple):
    """A conversation entry and the event it came with."""

    entry: Entry
    seq: int
    at: datetime
    step_number: int | None


class History:
    """Reads the session once. Raises SessionNotFound."""

    def __init__(self, log: SessionLog, blobs: BlobStore, tenant: str, session_id: str) -> None:
        self._blobs = blobs
        self._commits = log.tail(tenant, session_id, since=1).commits
        if not self._commits or self._commits[-1].head.deleted:
            raise SessionNotFound("There is no such session.")

    @property
    def head(self) -> Head:
        return self._commits[-1].head

    def steps(self) -> list[StepRecord]:
        return [commit.step for commit in self._commits if commit.step is not None]

    def plan_versions(self) -> list[ExecutionPlan]:
        """Every version as it was created, oldest first; the current one is in the head."""
        return [
            ExecutionPlan.model_validate(event.data["plan"], strict=False)
            for commit in self._commits
            for event in commit.events
            if event.type in ("plan.created", "plan.revised")
        ]

    def messages(self, offset: int, limit: int) -> tuple[list[Placed], int | None]:
        """Entries in delivery order with their texts, and the offset of the next page."""
        places = self._places()
        entries = self._entries()
        page = entries[offset : offset + limit]
        following = offset + limit if offset + limit < len(entries) else None
        return [places[_name(entry)]._replace(entry=entry) for entry in self._load(page)], following

    def trace(self, offset: int, limit: int) -> tuple[list[dict[str, Any]], int | None]:
        """Thought, action, input and observation, a row a call; a reply without calls is one row."""
        places, entries = self._places(), self._entries()
        replies = [entry for entry in entries if isinstance(entry, AssistantEntry)]
        page = self._load(replies[offset : offset + limit])
        calls = {call.call_id for reply in page if isinstance(reply, AssistantEntry) for call in reply.calls}
        wanted = self._load([e for e in entries if isinstance(e, ToolEntry) and e.call_id in calls])
        seen = {entry.call_id: entry.content.text for entry in wanted if isinstance(entry, ToolEntry)}
        rows: list[dict[str, Any]] = []
        for reply in page:
            if isinstance(reply, AssistantEntry):
                rows += _rows(reply, places[reply.message_id].step_number, seen)
        following = offset + limit if offset + limit < len(replies) else None
        return rows, following

    def _entries(self) -> list[Entry]:
        thread = Thread(self._commits[0])
        for commit in self._commits[1:]:
            thread.fold(commit)
        return [*thread.entries, *thread.pending()]

    def _places(self) -> dict[str, Placed]:
        return {_name(entry): place for commit in self._commits for entry, place in _placed(commit)}

    def _load(self, entries: Sequence[Entry]) -> list[Entry]:
        names = pointers(entries)
        head = self.head
        texts: Mapping[str, str] = self._blobs.get(head.tenant, head.session_id, names) if names else {}
        return [load_entry(entry, texts) for entry in entries]


def _placed(commit: Commit) -> Iterator[tuple[Entry, Placed]]:
    for entry in commit.entries:
        key = "call_id" if isinstance(entry, ToolEntry) else "message_id"
        own = next((event for event in commit.events if event.data.get(key) == _name(entry)), None)
        # A reply without text has no event of its own: it stands at the first its commit has.
        event = own or (commit.events[0] if commit.events else None)
        step = commit.step.step_number if commit.step is not None else None
        yield entry, Placed(entry, event.seq if event else commit.head.last_seq, commit.at, step)


def _name(entry: Entry) -> str:
    match entry:
        case ToolEntry():
            return entry.call_id
        case UserEntry() | AssistantEntry():
            return entry.message_id


def _rows(
    reply: AssistantEntry, step: int | None, seen: Mapping[str, str | None]
) -> Iterator[dict[str, Any]]:
    thought = without_marker(reply.content.text or reply.thinking or "")
    if not reply.calls:
        yield {"step_number": step, "thought": reply.thinking, "final_answer": thought}
    for call in reply.calls:
        yield {
            "step_number": step,
            "thought": thought,
            "action": call.name,
            "action_input": call.input,
            "observation": seen.get(call.call_id),
        }
        thought = ""  # one thought may lead to several calls; it is told once
