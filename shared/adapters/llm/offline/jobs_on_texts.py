"""Tasks that read files and say something about them."""

import re
from collections.abc import Sequence

from shared.adapters.llm.offline.goals import Files, Search
from shared.adapters.llm.offline.results import FileText, Listed
from shared.adapters.llm.offline.stages import (
    MOST_FILES,
    Facts,
    Stage,
    Wanted,
    listing_stage,
    plural,
    reading_stage,
    thinking_stage,
)
from shared.adapters.llm.offline.summarising import counted, summary_of


def beginning(text: FileText) -> str:
    return f"first {_kilobytes(len(text.text.encode()))} of {_kilobytes(text.size)}"


def _kilobytes(size: int) -> str:
    return f"{size / 1_024:,.0f} KB" if size >= 10_240 else f"{size:,} bytes"


def beginning_only(text: FileText) -> str:
    return f"Only the beginning was read, the {beginning(text)}."


def chosen(facts: Facts, files: Files, output: str | None) -> list[Listed]:
    """The files asked for; never the one that is about to be written."""
    if files.paths:
        return [Listed(path) for path in files.paths]
    return [
        entry
        for entry in facts.entries(files.folder)
        if not entry.is_folder and entry.path != output and files.fits(entry.path, entry.size)
    ]


def _paths(facts: Facts, files: Files, output: str | None) -> list[str]:
    return [entry.path for entry in chosen(facts, files, output)][:MOST_FILES]


def reading(files: Files, output: str | None, *, whole: bool = False) -> list[Stage]:
    what = (
        ", ".join(files.paths)
        if files.paths
        else "each file"
        if files == Files()
        else f"the {files.described()}"
    )
    stage = reading_stage(
        f"Read {what}", lambda facts: _paths(facts, files, output), whole=whole, each=bool(files.paths)
    )
    return [stage] if files.paths else [listing_stage(files.folder), stage]


def texts_of(facts: Facts, files: Files, output: str | None) -> tuple[dict[str, FileText], dict[str, str]]:
    """What could be read, and why the rest could not."""
    found: dict[str, FileText] = {}
    problems: dict[str, str] = {}
    for path in _paths(facts, files, output):
        text = facts.read(path)
        if text is not None:
            found[path] = text
        else:
            problems[path] = facts.problem(Wanted("read_file", {"path": path})) or "it was not read"
    return found, problems


def nothing_readable(facts: Facts, files: Files, output: str | None) -> bool:
    """There were files, and none could be read."""
    found, problems = texts_of(facts, files, output)
    return bool(problems) and not found


def left_out(facts: Facts, files: Files, output: str | None) -> list[str]:
    more = len(chosen(facts, files, output)) - MOST_FILES
    notes = [f"{plural(more, 'further file')} left out: I read at most {MOST_FILES}."] if more > 0 else []
    if not files.paths and facts.listing_cut(files.folder):
        notes.append("The listing was cut, so there are more files than I know of.")
    return notes


def nothing_there(files: Files, facts: Facts) -> str:
    listing = listing_stage(files.folder).told(facts) if not files.paths else None
    if listing is not None and listing.status == "failed":
        return listing.text
    return (
        f"There are no {files.described()}."
        if facts.entries(files.folder)
        else "The storage is empty: there are no files."
    )


def shown(facts: Facts, files: Files, output: str | None) -> str:
    found, problems = texts_of(facts, files, output)
    parts = []
    for path, text in found.items():
        note = "" if text.whole else f"\n{beginning_only(text)}"
        parts.append(
            f"{path} ({counted(text.text)}):\n\n{_indented(text.text)}{note}"
            if text.text
            else f"{path} is empty."
        )
    parts += [f"{path} could not be read: {problem}." for path, problem in problems.items()]
    return "\n\n".join(parts + left_out(facts, files, output)) or nothing_there(files, facts)


def _indented(text: str) -> str:
    """A file's text is set off, so that no line of it can be taken for mine."""
    return "\n".join(f"    {line}" for line in text.splitlines())


def summarising(files: Files, output: str | None) -> list[Stage]:
    stage = thinking_stage(
        "Summarise " + ("what was read" if files.paths else "each file from its text"),
        lambda facts: _summarised(facts, files, output),
        failed=lambda facts: nothing_readable(facts, files, output),
    )
    return [*reading(files, output), stage]


def _summarised(facts: Facts, files: Files, output: str | None) -> str:
    found, problems = texts_of(facts, files, output)
    missed = f" {plural(len(problems), 'file')} could not be read." if problems else ""
    return (
        f"Summarised {plural(len(found), 'file')}.{missed}"
        if found or problems
        else nothing_there(files, facts)
    )


def summaries(facts: Facts, files: Files, output: str | None) -> str:
    return facts.once(f"summaries {files}", lambda: _summaries(facts, files, output))


def _summaries(facts: Facts, files: Files, output: str | None) -> str:
    found, problems = texts_of(facts, files, output)
    if not found and not problems:
        return nothing_there(files, facts)
    for sentences in (3, 2, 1):  # shorter when there are many, so that all fit into one reply
        text = _summary_page(found, problems, sentences)
        if len(text) <= facts.room:
            break
    return "\n\n".join([text, *left_out(facts, files, output)])


def _summary_page(found: dict[str, FileText], problems: dict[str, str], sentences: int) -> str:
    parts = [f"{plural(len(found), 'file')} read, each in its own words:"] if len(found) > 1 else []
    for path in sorted([*found, *problems]):
        if path in found:
            note = "" if found[path].whole else f" {beginning_only(found[path])}"
            parts.append(f"## {path}\n\n{summary_of(path, found[path].text, sentences=sentences)}{note}")
        else:
            parts.append(f"## {path}\n\nCould not be read: {problems[path]}.")
    return "\n\n".join(parts)


def searching(task: Search, output: str | None) -> list[Stage]:
    stages = [listing_stage(task.files.folder)] if task.in_names else reading(task.files, output, whole=True)
    where = "file names" if task.in_names else "what was read"
    stage = thinking_stage(
        f"Look for “{task.term}” in {where}",
        lambda facts: matches(facts, task, output),
        failed=lambda facts: not task.in_names and nothing_readable(facts, task.files, output),
    )
    return [*stages, stage]


def matches(facts: Facts, task: Search, output: str | None) -> str:
    pattern = re.compile(
        rf"(?<!\w){re.escape(task.term)}" if task.term[:1].isalnum() else re.escape(task.term), re.IGNORECASE
    )
    if task.in_names:
        named = [entry.path for entry in chosen(facts, task.files, output) if pattern.search(entry.path)]
        return _found(task.term, "file name", {path: [] for path in named})
    found, problems = texts_of(facts, task.files, output)
    hits: dict[str, Sequence[str]] = {}
    for path, text in found.items():
        lines = [
            f"line {n}: {line.strip()[:160]}"
            for n, line in enumerate(text.text.splitlines(), 1)
            if pattern.search(line)
        ]
        if lines:
            hits[path] = lines[:5] + (
                [f"and {plural(len(lines) - 5, 'more line')}"] if len(lines) > 5 else []
            )
    answer = _found(task.term, "file", hits) if found else nothing_there(task.files, facts)
    partly = [f"{path}: {beginning_only(text)}" for path, text in found.items() if not text.whole]
    unread = [f"{path} could not be read: {problem}." for path, problem in problems.items()]
    return "\n".join([answer, *partly, *unread, *left_out(facts, task.files, output)])


def _found(term: str, noun: str, hits: dict[str, Sequence[str]]) -> str:
    if not hits:
        return f"No {noun} contains “{term}”."
    lines = [f"“{term}” is in {plural(len(hits), noun)}:"]
    for path, where in hits.items():
        lines += [f"- {path}", *(f"    {line}" for line in where)]
    return "\n".join(lines)
