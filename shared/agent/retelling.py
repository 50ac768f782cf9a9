"""The conversation in delivery order, from any place of it on, read in pieces: of a long session no more is held than
what is being told (design §3).

An assistant's entry delivers those before it: the results of the last reply's calls, in call order, then people's
messages, then itself. These are a block, named by the number of its commit; what is not delivered yet comes last.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from shared.agent.thread import Thread
from shared.domain.commit import Commit
from shared.domain.conversation import AssistantEntry, Entry, ToolEntry, UserEntry

NOTHING: Mapping[str, dict[str, Any]] = MappingProxyType({})


class Mark(NamedTuple):
    """Where telling goes on: commits are folded from `number` on, blocks before `block` are told already, and so are
    the first `entry` entries of the block that comes then; of its next entry, the first `row` rows.
    """

    number: int = 1
    block: int = 1
    entry: int = 0
    row: int = 0


class Placed(NamedTuple):
    """A conversation entry and the event it came with. `at_mark` is where it stands, `behind` comes after it.
    `amended`: of a reply's calls those that a person changed before they ran, with the input that ran.
    """

    entry: Entry
    seq: int
    at: datetime
    step_number: int | None
    at_mark: Mark
    behind: Mark
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


def retold(commits: Iterable[Commit], since: Mark) -> Iterator[Placed]:
    """`commits`: those from `since.number` on. Texts are not loaded."""
    thread: Thread | None = None
    places: dict[str, _Place] = {}
    begin, following, index = since.number, since.block, since.entry
    reply: Placed | None = None
    amended: dict[str, dict[str, Any]] = {}
    for commit in commits:
        if thread is None:
            thread = Thread(commit)
        else:
            thread.fold(commit)
        places |= _places(commit)
        amended |= {call.call_id: call.amended for call in commit.head.calls if call.amended is not None}
        block = tuple(thread.entries)
        thread.entries.clear()
        if not block:
            continue
        # who begins here later knows as much: no result and no message of before is still to be delivered
        next_begin = min([commit.number, *(places[name].number for name in thread.waiting)])
        if commit.number >= since.block:
            if reply is not None:
                yield reply._replace(amended=amended)
            marks = [Mark(begin, commit.number, place) for place in range(len(block))]
            marks.append(Mark(next_begin, commit.number + 1))
            told = list(_told(block, marks, places, index))
            yield from told[:-1]
            reply = told[-1] if told else None  # until all that becomes of its calls is known
            index, following, amended = 0, commit.number + 1, {}
        begin = next_begin
        kept = {*thread.waiting, *thread.results}
        places = {name: place for name, place in places.items() if name in kept}
    if reply is not None:
        yield reply._replace(amended=amended)
    if thread is not None:
        rest = thread.pending()
        marks = [Mark(begin, following, place) for place in range(len(rest) + 1)]
        yield from _told(rest, marks, places, index)


def name_of(entry: Entry) -> str:
    match entry:
        case ToolEntry():
            return entry.call_id
        case UserEntry() | AssistantEntry():
            return entry.message_id


def _told(
    entries: Sequence[Entry], marks: Sequence[Mark], places: dict[str, _Place], index: int
) -> Iterator[Placed]:
    for place in range(index, len(entries)):
        _, seq, at, step = places[name_of(entries[place])]
        yield Placed(entries[place], seq, at, step, marks[place], marks[place + 1])


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
