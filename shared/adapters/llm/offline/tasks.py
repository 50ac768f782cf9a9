"""Each task as stages of work, and an answer from what they found.

A stage is a step of the plan. Which calls it still needs, and how it ended, follow from the calls that were made. So
the next turn goes on where the last one stopped, in another process too.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, assert_never

from shared.adapters.llm.offline.conversation import CallWithResult
from shared.adapters.llm.offline.goals import (
    Copy,
    CountFiles,
    Delete,
    Files,
    ListFiles,
    ShowFiles,
    Summarise,
    Task,
    Unsupported,
    UseTool,
    WriteAnswers,
    WriteFile,
)
from shared.adapters.llm.offline.results import (
    FileText,
    ListedFile,
    file_text,
    first_line,
    is_cut_listing,
    is_taken,
    listed,
    reason,
)
from shared.adapters.llm.offline.summary import plural, summary_of, word_count
from shared.ports.model import RequestedCall

HOW_TO_GET_A_MODEL = (
    "I am Acta's offline stand-in: rules, no language model. I can list, show, summarise, count, create, copy and "
    "delete files in the storage, and use a tool that you name with arguments that you give. For anything else "
    "configure a model: set ANTHROPIC_API_KEY or OPENAI_API_KEY and start again; ACTA_PROVIDER and ACTA_MODEL choose "
    "among them."
)
MAX_FILES = 100
"""Read for one task. The answer says how many were left out."""
LISTING = RequestedCall("list_files", {})


class Outcome(NamedTuple):
    """How a stage ended. `status`, `text`: the plan step's status and result."""

    status: Literal["completed", "failed", "skipped"]
    text: str


class Stage(NamedTuple):
    """`tool`: the one that the calls need; None: the stage needs no calls. `calls`: all that are known to be needed so
    far. `outcome`: asked for only when all calls are made. `permission`: whether a person has to approve the calls.
    """

    description: str
    tool: str | None
    calls: Callable[[], Sequence[RequestedCall]]
    outcome: Callable[[], Outcome]
    permission: bool = False


class Job(NamedTuple):
    """One task. `answer`: asked for only when all stages have ended."""

    stages: Sequence[Stage]
    answer: Callable[[], str]


class CallLog:
    """The calls that were made under the plan."""

    def __init__(self, made: Iterable[CallWithResult], room: int, written: Files) -> None:
        """`room`: characters that one reply may hold. `written`: files that the run itself writes its answers to. They
        are not read where all files are.
        """
        self._made = {_key(call.name, call.input): call for call in made}
        self._written = written
        self.room = room

    def result(self, call: RequestedCall) -> CallWithResult | None:
        return self._made.get(_key(call.name, call.input))

    def is_done(self, call: RequestedCall) -> bool:
        made = self.result(call)
        return made is not None and made.ok

    def problem(self, call: RequestedCall) -> str:
        """Why the call failed. Empty: it did not, or it was not made."""
        made = self.result(call)
        return reason(made.text) if made is not None and not made.ok else ""

    def files(self) -> list[ListedFile]:
        """The files of the listing, by path. Empty where there is no listing."""
        made = self.result(LISTING)
        return listed(made.text) if made is not None and made.ok else []

    def chosen(self, files: Files) -> list[str]:
        """The paths that are named, else all that may be read."""
        return [*files] or [entry.path for entry in self.files() if entry.path not in self._written]

    def text(self, path: str) -> FileText | None:
        """None: the file was not read."""
        made = self.result(_read_call(path))
        return file_text(made.text) if made is not None and made.ok else None


def _key(name: str, given: dict[str, Any] | None) -> str:
    return name + json.dumps(given, sort_keys=True)


def job_of(task: Task, log: CallLog, answers: Callable[[], str]) -> Job:
    """`answers`: the text that `WriteAnswers` writes."""
    match task:
        case ListFiles():
            return Job([_listing_stage(log)], lambda: _list_answer(log))
        case ShowFiles(files):
            return Job(_read_stages(log, files), lambda: _show_answer(log, files))
        case Summarise(files):
            stages = [*_read_stages(log, files), _summary_stage(log, files)]
            return Job(stages, lambda: _summary_answer(log, files))
        case CountFiles(per_folder):
            stage = Stage("Count the files", None, list, lambda: _count_outcome(log, per_folder))
            return Job([_listing_stage(log), stage], lambda: _count_outcome(log, per_folder).text)
        case WriteFile(path, text):
            return _write_job(log, path, lambda: text)
        case Copy(source, target):
            write = _write_job(log, target, lambda: _copyable_text(log, source))
            return Job(
                [*_read_stages(log, (source,)), *write.stages], lambda: _copy_answer(log, source, write)
            )
        case Delete(files):
            calls = [RequestedCall("delete_file", {"path": path}) for path in files]
            what = _shortened(f"Delete {', '.join(files)}")
            stage = Stage(
                what, "delete_file", lambda: calls, lambda: _outcome_of(log, calls), permission=True
            )
            return Job([stage], lambda: _delete_answer(log, calls))
        case WriteAnswers(path):
            return _write_job(log, path, answers)
        case UseTool(tool, arguments):
            return _use_job(log, RequestedCall(tool, arguments))
        case Unsupported(clause):
            refusal = f"I cannot do this: “{_shortened(clause)}”. Nothing was done. {HOW_TO_GET_A_MODEL}"
            return Job([_decline_stage(clause)], lambda: refusal)
    assert_never(task)


def _listing_stage(log: CallLog) -> Stage:
    def outcome() -> Outcome:
        if problem := log.problem(LISTING):
            return Outcome("failed", f"Could not list the files: {problem}.")
        return Outcome("completed", f"Found {plural(len(log.files()), 'file')}.")

    return Stage("List the files in the storage", LISTING.name, lambda: [LISTING], outcome)


def _list_answer(log: CallLog) -> str:
    found = log.files()
    lines = [f"- {entry.path} ({plural(entry.size, 'byte')})" for entry in found]
    return (
        "\n".join([f"{plural(len(found), 'file')}:", *lines, *_listing_notes(log)])
        if found
        else _no_files(log)
    )


def _no_files(log: CallLog) -> str:
    if problem := log.problem(LISTING):
        return f"The files could not be listed: {problem}."
    return "The storage is empty: there are no files."


def _listing_notes(log: CallLog) -> list[str]:
    made = log.result(LISTING)
    is_cut = made is not None and made.ok and is_cut_listing(made.text)
    return ["The listing was cut, so there are more files than I know of."] if is_cut else []


def _count_outcome(log: CallLog, per_folder: bool) -> Outcome:
    paths = log.chosen(())
    if not paths:
        return Outcome("failed" if log.problem(LISTING) else "completed", _no_files(log))
    lines = [f"{plural(len(paths), 'file')} in the storage", *_listing_notes(log)]
    if per_folder:
        folders = Counter(path.rpartition("/")[0] or "(top)" for path in paths)
        lines += [f"- {folder}: {plural(count, 'file')}" for folder, count in sorted(folders.items())]
    return Outcome("completed", "\n".join(lines))


def _read_stages(log: CallLog, files: Files) -> list[Stage]:
    """Named files have to be read each. Of all files some are enough."""

    def calls() -> list[RequestedCall]:
        return [_read_call(path) for path in log.chosen(files)[:MAX_FILES]]

    def outcome() -> Outcome:
        reads = calls()
        if not reads:
            return Outcome("skipped", "There is no file to read.")
        bad = [
            f"{call.input['path']}: {log.problem(call)}" for call in reads if call.input and log.problem(call)
        ]
        if len(bad) == len(reads) or (bad and files):
            return Outcome("failed", f"Could not read {'; '.join(bad)[:600]}.")
        missed = f" Not readable: {'; '.join(bad)[:400]}." if bad else ""
        return Outcome("completed", f"Read {plural(len(reads) - len(bad), 'file')}.{missed}")

    stage = Stage(_shortened(f"Read {', '.join(files) or 'each file'}"), "read_file", calls, outcome)
    return [stage] if files else [_listing_stage(log), stage]


def _read_call(path: str) -> RequestedCall:
    return RequestedCall("read_file", {"path": path})


def _omissions(log: CallLog, files: Files) -> list[str]:
    """What the answer leaves out, as sentences."""
    left = len(log.chosen(files)) - MAX_FILES
    notes = [f"{plural(left, 'more file')} left out: I read at most {MAX_FILES}."] if left > 0 else []
    return notes if files else [*_listing_notes(log), *notes]


def _beginning_only(text: FileText) -> str:
    read = f"{len(text.text.encode()):,} of {text.size:,} bytes"
    return "" if text.whole else f" Only the first {read} were read."


def _show_answer(log: CallLog, files: Files) -> str:
    parts = []
    for path in log.chosen(files)[:MAX_FILES]:
        text = log.text(path)
        if text is None:
            parts.append(f"{path} could not be read: {log.problem(_read_call(path))}.")
            continue
        # Indented, so that no line of it passes for the stand-in's own.
        lines = "\n".join(f"    {line}" for line in text.text.splitlines())
        parts.append(f"{path} ({word_count(text.text)}):{_beginning_only(text)}\n\n{lines}".rstrip())
    return "\n\n".join([*parts, *_omissions(log, files)]) or _no_files(log)


def _summary_stage(log: CallLog, files: Files) -> Stage:
    def outcome() -> Outcome:
        paths = log.chosen(files)[:MAX_FILES]
        read = [path for path in paths if log.text(path) is not None]
        if not paths:
            return Outcome("failed" if log.problem(LISTING) else "completed", _no_files(log))
        left = len(paths) - len(read)
        missed = f" {plural(left, 'file')} could not be read." if left else ""
        return Outcome("completed" if read else "failed", f"Summarised {plural(len(read), 'file')}.{missed}")

    what = "what was read" if files else "each file from its text"
    return Stage(f"Summarise {what}", None, list, outcome)


def _summary_answer(log: CallLog, files: Files) -> str:
    paths = sorted(log.chosen(files)[:MAX_FILES])
    text = ""
    for sentences in (3, 2, 1):  # fewer where there are many files, so that all fit into one reply
        text = "\n\n".join(f"## {path}\n\n{_summary_of_file(log, path, sentences)}" for path in paths)
        if len(text) <= log.room:
            break
    return "\n\n".join([text, *_omissions(log, files)]) if paths else _no_files(log)


def _summary_of_file(log: CallLog, path: str, sentences: int) -> str:
    text = log.text(path)
    if text is None:
        return f"Could not be read: {log.problem(_read_call(path))}."
    return summary_of(path, text.text, sentences) + _beginning_only(text)


def _write_job(log: CallLog, path: str, text: Callable[[], str | None]) -> Job:
    """`text`: of the file; None: what it is made from could not be read."""

    def calls() -> list[RequestedCall]:
        content = text()
        if content is None:
            return []
        create = RequestedCall("create_file", {"path": path, "content": content})
        made = log.result(create)
        if (
            made is not None and not made.ok and is_taken(made.text)
        ):  # to replace it is what the person has asked for
            return [RequestedCall("create_file", {"path": path, "content": content, "replace": True})]
        return [create]

    def answer() -> str:
        outcome = _outcome_of(log, calls())
        return outcome.text if outcome.status == "completed" else f"{path} was not written. {outcome.text}"

    stage = Stage(_shortened(f"Write {path}"), "create_file", calls, lambda: _outcome_of(log, calls()))
    return Job([stage], answer)


def _outcome_of(log: CallLog, calls: Sequence[RequestedCall]) -> Outcome:
    """For calls that change something: failed where one of them failed or a person rejected it."""
    if not calls:
        return Outcome("failed", "There was nothing to write.")
    bad = list(dict.fromkeys(log.problem(call) for call in calls if not log.is_done(call)))
    # The results' own words, because a person may have approved another input than the one asked for.
    done = [first_line(made.text) for call in calls if (made := log.result(call)) is not None and made.ok]
    if bad:
        return Outcome("failed", " ".join([*done, f"Not done: {'; '.join(bad)[:600]}."]))
    return Outcome("completed", " ".join(done)[:800])


def _copyable_text(log: CallLog, path: str) -> str | None:
    """None: the file was not read, or not to its end, or it is too large for one reply."""
    text = log.text(path)
    return text.text if text is not None and text.whole and len(text.text) <= log.room else None


def _copy_answer(log: CallLog, source: str, write: Job) -> str:
    text = log.text(source)
    if text is None:
        return f"{source} could not be read: {log.problem(_read_call(source))}."
    if _copyable_text(log, source) is None:
        return f"{source} was not copied: it is too large for one reply."
    return f"Copied {source}. {write.answer()}"


def _delete_answer(log: CallLog, calls: Sequence[RequestedCall]) -> str:
    done = [first_line(made.text) for call in calls if (made := log.result(call)) is not None and made.ok]
    not_done = [
        f"{call.input['path']} was not deleted: {log.problem(call) or 'it was not tried'}."
        for call in calls
        if call.input and not log.is_done(call)
    ]
    return "\n".join([" ".join(done), *not_done]).strip()


def _use_job(log: CallLog, call: RequestedCall) -> Job:
    def outcome() -> Outcome:
        return Outcome("completed" if log.is_done(call) else "failed", _said_by(log, call)[:800])

    stage = Stage(f"Use {call.name}", call.name, lambda: [call], outcome)
    return Job([stage], lambda: f"{call.name}: {_said_by(log, call)}")


def _said_by(log: CallLog, call: RequestedCall) -> str:
    """What the tool returned, without the lines that mark it as a text from outside; of an error, what it says."""
    made = log.result(call)
    if made is None:
        return "This agent has no tool of that name."
    if made.ok:
        return file_text(made.text).text.strip()
    first, _, rest = made.text.partition("\n")
    return f"{first} {file_text(rest).text}".strip()


def _decline_stage(clause: str) -> Stage:
    outcome = Outcome("failed", "This cannot be done by rules: it takes a language model. Nothing was done.")
    description = f"Explain that “{_shortened(clause)}” is outside what the rule-based stand-in can do"
    return Stage(description, None, list, lambda: outcome)


def _shortened(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"
