"""Each task as stages of work, and its answer from what those found.

A stage is a step of the plan. Which calls it needs and what it came to are worked out of the calls already made, so
the next turn, in another process, goes on where the last one stopped.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, assert_never

from shared.adapters.llm.offline import goals as g
from shared.adapters.llm.offline.conversation import Made
from shared.adapters.llm.offline.results import (
    FileText,
    Listed,
    file_text,
    first_line,
    is_cut_listing,
    listed,
    reason,
)
from shared.adapters.llm.offline.summary import counted, plural, summary_of
from shared.ports.model import RequestedCall

HOW_TO_GET_A_MODEL = (
    "I am Acta's offline stand-in: rules, no language model. I can list, show, summarise, count, create, copy and "
    "delete files in the storage. For anything else configure a model: set ANTHROPIC_API_KEY or OPENAI_API_KEY and "
    "start again; ACTA_PROVIDER and ACTA_MODEL choose among them."
)
MOST_FILES = 100
"""Files read for one task; the answer says how many were left out."""
LISTING = RequestedCall("list_files", {})


class Outcome(NamedTuple):
    """What a stage came to, for the plan."""

    status: Literal["completed", "failed", "skipped"]
    text: str


class Stage(NamedTuple):
    """`calls`: those known to be needed so far; `outcome`: asked for once all of them are made."""

    description: str
    tool: str | None
    calls: Callable[[], Sequence[RequestedCall]]
    outcome: Callable[[], Outcome]
    permission: bool = False


class Job(NamedTuple):
    stages: Sequence[Stage]
    answer: Callable[[], str]


class Facts:
    """The calls made under the plan. `room`: characters that one reply may hold; `written`: files that answers are
    written to, which are no part of what there is to read.
    """

    def __init__(self, made: Iterable[Made], room: int, written: g.Files) -> None:
        self._made = {_key(call.name, call.input): call for call in made}
        self._written = written
        self.room = room

    def result(self, call: RequestedCall) -> Made | None:
        return self._made.get(_key(call.name, call.input))

    def is_done(self, call: RequestedCall) -> bool:
        made = self.result(call)
        return made is not None and made.ok

    def problem(self, call: RequestedCall) -> str:
        """Why it failed; empty where it did not."""
        made = self.result(call)
        return reason(made.text) if made is not None and not made.ok else ""

    def files(self) -> list[Listed]:
        """As the listing showed them, by path."""
        made = self.result(LISTING)
        return listed(made.text) if made is not None and made.ok else []

    def chosen(self, files: g.Files) -> list[str]:
        """Those named, else all that are there to be read."""
        return [*files] or [entry.path for entry in self.files() if entry.path not in self._written]

    def text(self, path: str) -> FileText | None:
        made = self.result(_reading(path))
        return file_text(made.text) if made is not None and made.ok else None


def _key(name: str, given: dict[str, Any] | None) -> str:
    return name + json.dumps(given, sort_keys=True)


def job_of(task: g.Task, facts: Facts, answers: Callable[[], str]) -> Job:
    """`answers`: the text that `WriteAnswers` writes."""
    match task:
        case g.ListFiles():
            return Job([_listing(facts)], lambda: _list(facts))
        case g.ShowFiles(files):
            return Job(_reads(facts, files), lambda: _show(facts, files))
        case g.Summarise(files):
            stages = [*_reads(facts, files), _summarising(facts, files)]
            return Job(stages, lambda: _summaries(facts, files))
        case g.CountFiles(per_folder):
            stage = Stage("Count the files", None, list, lambda: _counting(facts, per_folder))
            return Job([_listing(facts), stage], lambda: _counting(facts, per_folder).text)
        case g.WriteFile(path, text):
            return _writes(facts, path, lambda: text)
        case g.Copy(source, target):
            write = _writes(facts, target, lambda: _whole(facts, source))
            return Job([*_reads(facts, (source,)), *write.stages], lambda: _copied(facts, source, write))
        case g.Delete(files):
            calls = [RequestedCall("delete_file", {"path": path}) for path in files]
            what = _cut(f"Delete {', '.join(files)}")
            stage = Stage(what, "delete_file", lambda: calls, lambda: _acted(facts, calls), permission=True)
            return Job([stage], lambda: _deleted(facts, calls))
        case g.WriteAnswers(path):
            return _writes(facts, path, answers)
        case g.Unsupported(clause):
            declined = f"I cannot do this: “{_cut(clause)}”. Nothing was done. {HOW_TO_GET_A_MODEL}"
            return Job([_declining(clause)], lambda: declined)
    assert_never(task)


def _listing(facts: Facts) -> Stage:
    def outcome() -> Outcome:
        if problem := facts.problem(LISTING):
            return Outcome("failed", f"Could not list the files: {problem}.")
        return Outcome("completed", f"Found {plural(len(facts.files()), 'file')}.")

    return Stage("List the files in the storage", LISTING.name, lambda: [LISTING], outcome)


def _list(facts: Facts) -> str:
    found = facts.files()
    lines = [f"- {entry.path} ({plural(entry.size, 'byte')})" for entry in found]
    return "\n".join([f"{plural(len(found), 'file')}:", *lines, *_more(facts)]) if found else _nothing(facts)


def _nothing(facts: Facts) -> str:
    if problem := facts.problem(LISTING):
        return f"The files could not be listed: {problem}."
    return "The storage is empty: there are no files."


def _more(facts: Facts) -> list[str]:
    made = facts.result(LISTING)
    is_cut = made is not None and made.ok and is_cut_listing(made.text)
    return ["The listing was cut, so there are more files than I know of."] if is_cut else []


def _counting(facts: Facts, per_folder: bool) -> Outcome:
    paths = facts.chosen(())
    if not paths:
        return Outcome("failed" if facts.problem(LISTING) else "completed", _nothing(facts))
    lines = [f"{plural(len(paths), 'file')} in the storage", *_more(facts)]
    if per_folder:
        folders = Counter(path.rpartition("/")[0] or "(top)" for path in paths)
        lines += [f"- {folder}: {plural(count, 'file')}" for folder, count in sorted(folders.items())]
    return Outcome("completed", "\n".join(lines))


def _reads(facts: Facts, files: g.Files) -> list[Stage]:
    """Of files that were named each has to be read, of all files some."""

    def calls() -> list[RequestedCall]:
        return [_reading(path) for path in facts.chosen(files)[:MOST_FILES]]

    def outcome() -> Outcome:
        asked = calls()
        if not asked:
            return Outcome("skipped", "There is no file to read.")
        bad = [
            f"{call.input['path']}: {facts.problem(call)}"
            for call in asked
            if call.input and facts.problem(call)
        ]
        if len(bad) == len(asked) or (bad and files):
            return Outcome("failed", f"Could not read {'; '.join(bad)[:600]}.")
        missed = f" Not readable: {'; '.join(bad)[:400]}." if bad else ""
        return Outcome("completed", f"Read {plural(len(asked) - len(bad), 'file')}.{missed}")

    stage = Stage(_cut(f"Read {', '.join(files) or 'each file'}"), "read_file", calls, outcome)
    return [stage] if files else [_listing(facts), stage]


def _reading(path: str) -> RequestedCall:
    return RequestedCall("read_file", {"path": path})


def _notes(facts: Facts, files: g.Files) -> list[str]:
    """What was not looked at."""
    left = len(facts.chosen(files)) - MOST_FILES
    notes = [f"{plural(left, 'more file')} left out: I read at most {MOST_FILES}."] if left > 0 else []
    return notes if files else [*_more(facts), *notes]


def _beginning_only(text: FileText) -> str:
    read = f"{len(text.text.encode()):,} of {text.size:,} bytes"
    return "" if text.whole else f" Only the first {read} were read."


def _show(facts: Facts, files: g.Files) -> str:
    parts = []
    for path in facts.chosen(files)[:MOST_FILES]:
        text = facts.text(path)
        if text is None:
            parts.append(f"{path} could not be read: {facts.problem(_reading(path))}.")
            continue
        # set off, so that no line of it can be taken for the stand-in's own
        lines = "\n".join(f"    {line}" for line in text.text.splitlines())
        parts.append(f"{path} ({counted(text.text)}):{_beginning_only(text)}\n\n{lines}".rstrip())
    return "\n\n".join([*parts, *_notes(facts, files)]) or _nothing(facts)


def _summarising(facts: Facts, files: g.Files) -> Stage:
    def outcome() -> Outcome:
        paths = facts.chosen(files)[:MOST_FILES]
        read = [path for path in paths if facts.text(path) is not None]
        if not paths:
            return Outcome("failed" if facts.problem(LISTING) else "completed", _nothing(facts))
        left = len(paths) - len(read)
        missed = f" {plural(left, 'file')} could not be read." if left else ""
        return Outcome("completed" if read else "failed", f"Summarised {plural(len(read), 'file')}.{missed}")

    what = "what was read" if files else "each file from its text"
    return Stage(f"Summarise {what}", None, list, outcome)


def _summaries(facts: Facts, files: g.Files) -> str:
    paths = sorted(facts.chosen(files)[:MOST_FILES])
    text = ""
    for sentences in (3, 2, 1):  # shorter where there are many, so that all fit into one reply
        text = "\n\n".join(f"## {path}\n\n{_summary(facts, path, sentences)}" for path in paths)
        if len(text) <= facts.room:
            break
    return "\n\n".join([text, *_notes(facts, files)]) if paths else _nothing(facts)


def _summary(facts: Facts, path: str, sentences: int) -> str:
    text = facts.text(path)
    if text is None:
        return f"Could not be read: {facts.problem(_reading(path))}."
    return summary_of(path, text.text, sentences) + _beginning_only(text)


def _writes(facts: Facts, path: str, text: Callable[[], str | None]) -> Job:
    """`text` None: what it was to come from could not be had."""

    def calls() -> list[RequestedCall]:
        content = text()
        return [] if content is None else [RequestedCall("create_file", {"path": path, "content": content})]

    def answer() -> str:
        outcome = _acted(facts, calls())
        return outcome.text if outcome.status == "completed" else f"{path} was not written. {outcome.text}"

    stage = Stage(_cut(f"Write {path}"), "create_file", calls, lambda: _acted(facts, calls()))
    return Job([stage], answer)


def _acted(facts: Facts, calls: Sequence[RequestedCall]) -> Outcome:
    """Of calls that change something. One that was rejected or failed means: what was wanted was not had."""
    if not calls:
        return Outcome("failed", "There was nothing to write.")
    bad = list(dict.fromkeys(facts.problem(call) for call in calls if not facts.is_done(call)))
    # the results' own words: a person may have approved another input than the one asked for
    done = [first_line(made.text) for call in calls if (made := facts.result(call)) is not None and made.ok]
    if bad:
        return Outcome("failed", " ".join([*done, f"Not done: {'; '.join(bad)[:600]}."]))
    return Outcome("completed", " ".join(done)[:800])


def _whole(facts: Facts, path: str) -> str | None:
    text = facts.text(path)
    return text.text if text is not None and text.whole and len(text.text) <= facts.room else None


def _copied(facts: Facts, source: str, write: Job) -> str:
    text = facts.text(source)
    if text is None:
        return f"{source} could not be read: {facts.problem(_reading(source))}."
    if _whole(facts, source) is None:
        return f"{source} was not copied: it is too large for one reply."
    return f"Copied {source}. {write.answer()}"


def _deleted(facts: Facts, calls: Sequence[RequestedCall]) -> str:
    done = [first_line(made.text) for call in calls if (made := facts.result(call)) is not None and made.ok]
    not_done = [
        f"{call.input['path']} was not deleted: {facts.problem(call) or 'it was not tried'}."
        for call in calls
        if call.input and not facts.is_done(call)
    ]
    return "\n".join([" ".join(done), *not_done]).strip()


def _declining(clause: str) -> Stage:
    outcome = Outcome("failed", "This cannot be done by rules: it takes a language model. Nothing was done.")
    description = f"Explain that “{_cut(clause)}” is outside what the rule-based stand-in can do"
    return Stage(description, None, list, lambda: outcome)


def _cut(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"
