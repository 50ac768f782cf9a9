"""A session as a process holds it: the head, the conversation in delivery order, and the keys already committed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from acta_engine.errors import Fenced
from acta_engine.log.commit import Commit, Decision
from acta_engine.log.conversation import (
    AssistantEntry,
    Compacted,
    Content,
    EndedTurns,
    Entry,
    ToolCall,
    ToolEntry,
    UserEntry,
)
from acta_engine.log.head import Head
from acta_engine.log.texts import Segment, load_entry

ORPHANED = "Error: this call was not finished, because the run was ended before. Whether it had an effect is unknown."


class Recorded(NamedTuple):
    """A commit that has a given key."""

    number: int
    decision: Decision | None
    """What it decided."""
    attempt: int = 0
    """The engine's retry count of the worker that made it."""
    own: bool = False
    """This process stored it, and got the answer."""


class _SegmentEnd(NamedTuple):
    """A segment without its entries, whose texts are loaded later: of `Session.entries` those from `begin` to `end`."""

    segment: Segment
    begin: int
    end: int


class Session:
    """Folded from commits in order, beginning at any number: what came before is not in `entries`.

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
        """`before`: the conversation before `first`. `segment_commits`: so many commits make a segment; 0: none are
        wanted.
        """
        self.holds_conversation = False
        self._segment_commits = segment_commits
        self._segment_ends: list[_SegmentEnd] = []
        self._segment_begin = (
            0 if first.number == 1 else None
        )  # in `entries`; None: nobody knows what came before
        self._segment_is_whole = True
        self.entries: list[Entry] = []
        self.ended_turns = EndedTurns()
        self.waiting: dict[str, UserEntry] = {}
        self.results: dict[str, ToolEntry] = {}
        self._calls: tuple[ToolCall, ...] = ()
        self._keys: dict[str, Recorded] = {}
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
        does. `own`: as in `Recorded`.
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
        self._keys[commit.key] = Recorded(commit.number, commit.decision, attempt, own)
        self.number = commit.number
        self.head = commit.head
        head = commit.head  # a state has a reason while it waits for something
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

    def recorded(self, key: str) -> Recorded | None:
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
        """The last reply's calls with their results; None: not there yet."""
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
