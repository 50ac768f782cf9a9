"""Tasks that write or delete. Deleting asks: the runtime opens the approval, a rejection comes back as a
result."""

from collections.abc import Callable

from shared.adapters.llm.offline.goals import Copy, Files
from shared.adapters.llm.offline.stages import (
    Facts,
    Stage,
    Told,
    Wanted,
    acting_stage,
    first_line,
    listing_stage,
    reading_stage,
)

_MUCH = 50_000
"""Characters of results, beyond which a turn that only checks costs a good part of a usual budget."""


def writing(path: str, text: Callable[[Facts], str | None]) -> Stage:
    """`text` None: there is nothing to write, because what it was to come from could not be had."""

    def calls(facts: Facts) -> list[Wanted]:
        content = text(facts)
        return [Wanted("create_file", {"path": path, "content": content})] if content is not None else []

    return acting_stage(f"Write {path}", calls, "There was nothing to write.", nothing_fails=True)


def checking(path: str, text: Callable[[Facts], str]) -> Stage:
    """Reads the file back; skipped when it was not written."""

    def was_written(facts: Facts) -> bool:
        made = facts.of(Wanted("create_file", {"path": path, "content": text(facts)}))
        return made is not None and made.ok

    def calls(facts: Facts) -> list[Wanted]:
        return [Wanted("read_file", {"path": path})] if was_written(facts) and not _costly(facts) else []

    def told(facts: Facts) -> Told:
        if not was_written(facts):
            return Told("skipped", f"{path} was not written.")
        if _costly(facts):
            return Told(
                "skipped", f"{path} was written; so much was read before that a look back would be dear."
            )
        read = facts.read(path)
        if read is None:
            return Told("failed", f"{path} could not be read back.")
        same = text(facts).strip().startswith(read.text.strip()[: len(text(facts))])
        return (
            Told("completed", f"{path} holds what was written.")
            if same
            else Told("failed", f"{path} holds something else.")
        )

    return Stage(f"Check {path} by reading it back", "read_file", calls, told)


def _costly(facts: Facts) -> bool:
    return facts.heard > _MUCH


def written(facts: Facts, path: str, text: str) -> str:
    wanted = Wanted("create_file", {"path": path, "content": text})
    made = facts.of(wanted)
    if made is None:
        return f"{path} was not written."
    return first_line(made.text) if made.ok else f"{path} was not written: {facts.problem(wanted)}."


def appending(path: str, text: str) -> list[Stage]:
    read = reading_stage(f"Read {path}", lambda facts: [path])

    def told(facts: Facts) -> Told:
        new = facts.read(path) is None and _joined(facts, path, text) is not None
        return Told("completed", f"{path} is not there yet; it will be new.") if new else read.told(facts)

    return [read._replace(told=told), writing(path, lambda facts: _joined(facts, path, text))]


def _joined(facts: Facts, path: str, text: str) -> str | None:
    """None when the old text is not wholly known: writing then would lose some of it."""
    read = facts.read(path)
    if read is None:
        problem = facts.problem(Wanted("read_file", {"path": path})) or ""
        missing = any(
            word in problem.lower() for word in ("no such", "not found", "does not exist", "no file")
        )
        return text + "\n" if missing else None
    if not read.whole or len(read.text) + len(text) > facts.room:
        return None
    return f"{read.text.rstrip(chr(10))}\n{text}\n" if read.text else f"{text}\n"


def appended(facts: Facts, path: str, text: str) -> str:
    joined = _joined(facts, path, text)
    if joined is None:
        return f"Nothing was added to {path}: its present text could not be read in one piece."
    made = facts.of(Wanted("create_file", {"path": path, "content": joined}))
    return f"Added the text to {path}." if made is not None and made.ok else written(facts, path, joined)


def copying(task: Copy) -> list[Stage]:
    stages = [
        reading_stage(f"Read {task.source}", lambda facts: [task.source]),
        writing(task.target, lambda facts: _copyable(facts, task.source)),
    ]
    if task.move:
        stages.append(
            acting_stage(
                f"Delete {task.source}",
                lambda facts: [_deletion(task.source)] if _was_copied(facts, task) else [],
                f"{task.source} was kept, because it was not copied.",
                permission=True,
            )
        )
    return stages


def _copyable(facts: Facts, source: str) -> str | None:
    read = facts.read(source)
    return read.text if read is not None and read.whole and len(read.text) <= facts.room else None


def _was_copied(facts: Facts, task: Copy) -> bool:
    text = _copyable(facts, task.source)
    made = (
        facts.of(Wanted("create_file", {"path": task.target, "content": text})) if text is not None else None
    )
    return made is not None and made.ok


def copied(facts: Facts, task: Copy) -> str:
    if facts.read(task.source) is None:
        return (
            f"{task.source} could not be read: {facts.problem(Wanted('read_file', {'path': task.source}))}."
        )
    if not _was_copied(facts, task):
        text = _copyable(facts, task.source)
        why = "it is too large for one reply" if text is None else written(facts, task.target, text)
        return f"{task.source} was not copied: {why}"
    if not task.move:
        return f"Copied {task.source} to {task.target}."
    problem = facts.problem(_deletion(task.source))
    kept = f", but {task.source} is still there: {problem}." if problem else "."
    return f"Moved {task.source} to {task.target}" + kept


def deleting(files: Files) -> list[Stage]:
    stage = acting_stage(
        f"Delete {files.described()}",
        lambda facts: [_deletion(path) for path in _doomed(facts, files)],
        f"There are no {files.described()} to delete.",
        permission=True,
    )
    return [stage] if files.paths else [listing_stage(files.folder), stage]


def _doomed(facts: Facts, files: Files) -> list[str]:
    if files.paths:
        return list(files.paths)
    return [e.path for e in facts.entries(files.folder) if not e.is_folder and files.fits(e.path, e.size)]


def _deletion(path: str) -> Wanted:
    return Wanted("delete_file", {"path": path})


def deleted(facts: Facts, files: Files) -> str:
    paths = _doomed(facts, files)
    if not paths:
        listing = listing_stage(files.folder).told(facts)
        return listing.text if listing.status == "failed" else f"There were no {files.described()} to delete."
    problems = {path: problem for path in paths if (problem := facts.problem(_deletion(path))) is not None}
    gone = [path for path in paths if path not in problems and facts.of(_deletion(path)) is not None]
    # the results' own words: a person may have approved another path than the one asked for
    done = [first_line(made.text) for path in gone if (made := facts.of(_deletion(path))) is not None]
    lines = [" ".join(done)] if done else []
    return "\n".join(lines + [f"{path} was not deleted: {problem}." for path, problem in problems.items()])
