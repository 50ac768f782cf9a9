"""What the scripted model says: a plan of seven steps, then a tool call a turn, then the end."""

from typing import Any, NamedTuple

from tests.bench.stand.prose import prose, sentence

SIZES = {"2KB": 2_048, "40KB": 40_960}

PLAN: dict[str, Any] = {
    "action": "create",
    "goal": "A report in report.md on what the field notes say about deliveries, with figures and open questions",
    "steps": [
        {"description": "List the notes in the storage and see how many there are and how they are named",
         "tool": "list_files"},
        {"description": "Read every note in order and remember its date, place and figures", "tool": "read_file"},
        {"description": "Collect the figures on deliveries and delays, each with the note it comes from"},
        {"description": "Compare the figures of different places and find those that contradict each other"},
        {"description": "Write the report with a summary first, then one section per place",
         "tool": "create_file"},
        {"description": "Read the report again and check each figure against its note", "tool": "read_file",
         "input": {"path": "report.md"}},
        {"description": "Tell the user what is in the report and which questions stay open"},
    ],
}  # fmt: skip


class Call(NamedTuple):
    name: str
    input: dict[str, Any]


class Reply(NamedTuple):
    """`expects`: texts that the request must hold, or the turn before did not do its work."""

    text: str
    calls: tuple[Call, ...] = ()
    expects: tuple[str, ...] = ()


def note(size: str, turn: int, place: int = 0) -> tuple[str, str]:
    """(path, text) of the file that call `place` of `turn` reads."""
    path = f"notes/{size.lower()}/{2026 - turn // 12}-{turn % 12 + 1:02d}-{place}.txt"
    return path, prose(path, SIZES[size])


def reading(size: str, turns: int, calls: int = 1) -> list[Reply]:
    """`calls` different files are read each turn."""
    replies = [planned()]
    expected: tuple[str, ...] = ()
    for turn in range(turns):
        paths = [note(size, turn, place)[0] for place in range(calls)]
        made = tuple(Call("read_file", {"path": path}) for path in paths)
        replies.append(Reply(sentence(f"reading {size} {turn}"), made, expected))
        expected = tuple(f"--- file: {path} (" for path in paths)
    return [*replies, _done(expected)]


def writing(size: str, turns: int, folder: str = "copies") -> list[Reply]:
    """A new file is written each turn: a call that is not read-only. `folder`: where no run has written before, since
    to replace a file asks a person.
    """
    replies = [planned()]
    expected: tuple[str, ...] = ()
    for turn in range(turns):
        path, text = note(size, turn)
        path = path.replace("notes/", f"{folder}/")
        made = (Call("create_file", {"path": path, "content": text}),)
        replies.append(Reply(sentence(f"writing {size} {turn}"), made, expected))
        expected = (f"Created {path}, {SIZES[size]} bytes",)
    return [*replies, _done(expected)]


def planned() -> Reply:
    return Reply("I will plan this first.", (Call("update_plan", PLAN),))


def _done(expected: tuple[str, ...]) -> Reply:
    """Giving up ends the run in one turn; completing would have to close all seven steps first."""
    failing = Call("update_plan", {"action": "fail", "reason": "The script of the measurement ends here."})
    return Reply("", (failing,), expected)
