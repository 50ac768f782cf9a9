"""Tasks that read files and say something about them."""

import re
from collections import Counter
from collections.abc import Sequence

from shared.adapters.llm.offline.goals import Count, Files, Search
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

BEGINNING_ONLY = "Only the beginning was read: the file is larger than one result."


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


def reading(files: Files, output: str | None) -> list[Stage]:
    what = (
        ", ".join(files.paths)
        if files.paths
        else "each file"
        if files == Files()
        else f"the {files.described()}"
    )
    stage = reading_stage(f"Read {what}", lambda facts: _paths(facts, files, output))
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


def _left_out(facts: Facts, files: Files, output: str | None) -> list[str]:
    more = len(chosen(facts, files, output)) - MOST_FILES
    notes = [f"{plural(more, 'further file')} left out: I read at most {MOST_FILES}."] if more > 0 else []
    if not files.paths and facts.listing_cut(files.folder):
        notes.append("The listing was cut, so there are more files than I know of.")
    return notes


def _nothing(files: Files, facts: Facts) -> str:
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
        note = "" if text.whole else f"\n{BEGINNING_ONLY}"
        parts.append(
            f"{path} ({counted(text.text)}):\n\n{_indented(text.text)}{note}"
            if text.text
            else f"{path} is empty."
        )
    parts += [f"{path} could not be read: {problem}." for path, problem in problems.items()]
    return "\n\n".join(parts + _left_out(facts, files, output)) or _nothing(files, facts)


def _indented(text: str) -> str:
    """A file's text is set off, so that no line of it can be taken for mine."""
    return "\n".join(f"    {line}" for line in text.splitlines())


def summarising(files: Files, output: str | None) -> list[Stage]:
    stage = thinking_stage(
        "Summarise " + ("what was read" if files.paths else "each file from its text"),
        lambda facts: _summarised(facts, files, output),
    )
    return [*reading(files, output), stage]


def _summarised(facts: Facts, files: Files, output: str | None) -> str:
    found, problems = texts_of(facts, files, output)
    missed = f" {plural(len(problems), 'file')} could not be read." if problems else ""
    return (
        f"Summarised {plural(len(found), 'file')}.{missed}" if found or problems else _nothing(files, facts)
    )


def summaries(facts: Facts, files: Files, output: str | None) -> str:
    return facts.once(f"summaries {files}", lambda: _summaries(facts, files, output))


def _summaries(facts: Facts, files: Files, output: str | None) -> str:
    found, problems = texts_of(facts, files, output)
    if not found and not problems:
        return _nothing(files, facts)
    for sentences in (3, 2, 1):  # shorter when there are many, so that all fit into one reply
        text = _summary_page(found, problems, sentences)
        if len(text) <= facts.room:
            break
    return "\n\n".join([text, *_left_out(facts, files, output)])


def _summary_page(found: dict[str, FileText], problems: dict[str, str], sentences: int) -> str:
    parts = [f"{plural(len(found), 'file')} read, each in its own words:"] if len(found) > 1 else []
    for path in sorted([*found, *problems]):
        if path in found:
            note = "" if found[path].whole else f" {BEGINNING_ONLY}"
            parts.append(f"## {path}\n\n{summary_of(path, found[path].text, sentences=sentences)}{note}")
        else:
            parts.append(f"## {path}\n\nCould not be read: {problems[path]}.")
    return "\n\n".join(parts)


def counting(task: Count, output: str | None) -> list[Stage]:
    needs_texts = task.what in ("words", "lines", "characters")
    stages = (
        reading(task.files, output) if needs_texts or task.files.paths else [listing_stage(task.files.folder)]
    )
    return [*stages, thinking_stage(f"Count the {task.what}", lambda facts: counts(facts, task, output))]


def counts(facts: Facts, task: Count, output: str | None) -> str:
    if task.what == "folders":
        folders = facts.folders(task.files.folder)
        return "\n".join([f"{plural(len(folders), 'folder')}.", *(f"- {path}" for path in folders)])
    entries = chosen(facts, task.files, output)
    values: dict[str, int] = {}
    problems: dict[str, str] = {}
    if task.what in ("words", "lines", "characters"):
        found, problems = texts_of(facts, task.files, output)
        values = {path: _amount(text.text, task.what) for path, text in found.items()}
    elif task.what == "bytes":
        values = {entry.path: entry.size or 0 for entry in entries}
    else:
        values = {entry.path: 1 for entry in entries}
    noun = task.what.removesuffix("s")
    if task.per_folder:
        totals = Counter[str]()
        for path, value in values.items():
            totals[path.rpartition("/")[0] or "(root)"] += value
        lines = [f"- {folder}: {plural(value, noun)}" for folder, value in sorted(totals.items())]
    else:
        lines = (
            []
            if task.what == "files"
            else [f"- {path}: {plural(value, noun)}" for path, value in values.items()]
        )
    lines += [f"- {path}: could not be read ({problem})" for path, problem in problems.items()]
    if not values and not problems:
        return _nothing(task.files, facts)
    where = (
        f" in {plural(len(values), 'file')}"
        if task.what != "files"
        else f" in {task.files.folder or 'the storage'}"
    )
    return "\n".join(
        [f"{plural(sum(values.values()), noun)}{where}.", *lines, *_left_out(facts, task.files, output)]
    )


def _amount(text: str, what: str) -> int:
    return len(text.split()) if what == "words" else len(text.splitlines()) if what == "lines" else len(text)


def searching(task: Search, output: str | None) -> list[Stage]:
    stages = [listing_stage(task.files.folder)] if task.in_names else reading(task.files, output)
    where = "file names" if task.in_names else "what was read"
    return [
        *stages,
        thinking_stage(f"Look for “{task.term}” in {where}", lambda facts: matches(facts, task, output)),
    ]


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
    answer = _found(task.term, "file", hits) if found else _nothing(task.files, facts)
    unread = [f"{path} could not be read: {problem}." for path, problem in problems.items()]
    return "\n".join([answer, *unread, *_left_out(facts, task.files, output)])


def _found(term: str, noun: str, hits: dict[str, Sequence[str]]) -> str:
    if not hits:
        return f"No {noun} contains “{term}”."
    lines = [f"“{term}” is in {plural(len(hits), noun)}:"]
    for path, where in hits.items():
        lines += [f"- {path}", *(f"    {line}" for line in where)]
    return "\n".join(lines)
