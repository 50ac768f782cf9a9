"""Tasks that count: from the listing where that is enough, else from the texts."""

from collections import Counter

from shared.adapters.llm.offline.goals import Count
from shared.adapters.llm.offline.jobs_on_texts import (
    beginning,
    chosen,
    left_out,
    nothing_readable,
    nothing_there,
    reading,
    texts_of,
)
from shared.adapters.llm.offline.results import FileText
from shared.adapters.llm.offline.stages import Facts, Stage, listing_stage, plural, thinking_stage


def counting(task: Count, output: str | None) -> list[Stage]:
    needs_texts = task.what in ("words", "lines", "characters")
    stages = (
        reading(task.files, output, whole=needs_texts)
        if needs_texts or task.files.paths
        else [listing_stage(task.files.folder)]
    )
    stage = thinking_stage(
        f"Count the {task.what}",
        lambda facts: counts(facts, task, output),
        failed=lambda facts: needs_texts and nothing_readable(facts, task.files, output),
    )
    return [*stages, stage]


def counts(facts: Facts, task: Count, output: str | None) -> str:
    if task.what == "folders":
        folders = facts.folders(task.files.folder)
        return "\n".join([f"{plural(len(folders), 'folder')}.", *(f"- {path}" for path in folders)])
    entries = chosen(facts, task.files, output)
    values: dict[str, int] = {}
    problems: dict[str, str] = {}
    partly: dict[str, FileText] = {}
    if task.what in ("words", "lines", "characters"):
        found, problems = texts_of(facts, task.files, output)
        values = {path: _amount(text.text, task.what) for path, text in found.items()}
        partly = {path: text for path, text in found.items() if not text.whole}
    elif task.what == "bytes":
        values, problems = _bytes(facts, task, output)
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
    lines += [f"{path}: only its {beginning(text)} are counted." for path, text in partly.items()]
    lines += [f"- {path}: could not be read ({problem})" for path, problem in problems.items()]
    if not values and not problems:
        return nothing_there(task.files, facts)
    least = "At least " if partly else ""
    where = (
        f" in {plural(len(values), 'file')}"
        if task.what != "files"
        else f" in {task.files.folder or 'the storage'}"
    )
    return "\n".join(
        [f"{least}{plural(sum(values.values()), noun)}{where}.", *lines, *left_out(facts, task.files, output)]
    )


def _bytes(facts: Facts, task: Count, output: str | None) -> tuple[dict[str, int], dict[str, str]]:
    """From the listing; a named file was read, as no listing need have been made."""
    if not task.files.paths:
        return {entry.path: entry.size or 0 for entry in chosen(facts, task.files, output)}, {}
    found, problems = texts_of(facts, task.files, output)
    return {path: text.size for path, text in found.items()}, problems


def _amount(text: str, what: str) -> int:
    return len(text.split()) if what == "words" else len(text.splitlines()) if what == "lines" else len(text)
