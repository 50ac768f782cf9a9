"""A stage of work: one plan step, the tool calls it needs, and what came of them.

A stage never remembers anything: `calls` and `told` are functions of the calls already made, so the next
worker, in another process, goes on where the last one stopped.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from shared.adapters.llm.offline.pages import page_inputs, put_together
from shared.adapters.llm.offline.results import (
    FileText,
    Listed,
    cut,
    file_text,
    listed,
    reason,
)
from shared.adapters.llm.offline.situation import Made

MOST_FOLDERS = 30
MOST_FILES = 100
"""Beyond these the storage is too large for a turn-by-turn walk; the answer says what was left out."""


class Wanted(NamedTuple):
    """A tool call to make."""

    name: str
    input: dict[str, Any]

    def key(self) -> str:
        return self.name + json.dumps(self.input, sort_keys=True)


class Told(NamedTuple):
    """What a stage came to, for the plan."""

    status: Literal["completed", "failed", "skipped"]
    text: str


class Facts:
    """The calls made under the current plan, by what was asked."""

    def __init__(self, made: Iterable[Made], room: int) -> None:
        self._made = {Wanted(call.name, call.input).key(): call for call in made}
        self.heard = sum(len(call.text) for call in self._made.values())
        """Characters of all results so far; each further turn sends them again."""
        self.room = room
        """Characters that one reply may hold."""
        self._worked_out: dict[str, str] = {}
        self._texts: dict[str, FileText] = {}

    def once(self, what: str, work_out: Callable[[], str]) -> str:
        """A text that several stages and the answer need, worked out once for this reply."""
        if what not in self._worked_out:
            self._worked_out[what] = work_out()
        return self._worked_out[what]

    def of(self, wanted: Wanted) -> Made | None:
        return self._made.get(wanted.key())

    def missing(self, wanted: Iterable[Wanted]) -> list[Wanted]:
        return [call for call in wanted if call.key() not in self._made]

    def folder_calls(self, folder: str = "") -> list[Wanted]:
        """The listing calls known to be needed: the folder, and each one below it that no listing has opened
        yet."""
        calls = [_listing(folder)]
        for call in calls:
            made = self.of(call)
            if made is None or not made.ok:
                continue
            entries = listed(made.text, str(call.input.get("path", "")))
            for entry in entries:
                opened = any(
                    other.path != entry.path and other.path.startswith(entry.path) for other in entries
                )
                if (
                    entry.is_folder
                    and not opened
                    and len(calls) < MOST_FOLDERS
                    and _listing(entry.path) not in calls
                ):
                    calls.append(_listing(entry.path))
        return calls

    def entries(self, folder: str = "") -> list[Listed]:
        """All files and folders found, by path."""
        found: dict[str, Listed] = {}
        for call in self.folder_calls(folder):
            made = self.of(call)
            if made is not None and made.ok:
                found |= {entry.path: entry for entry in listed(made.text, str(call.input.get("path", "")))}
        return [found[path] for path in sorted(found)]

    def folders(self, folder: str = "") -> list[str]:
        """Folders listed by themselves or in a file's path, below `folder`."""
        paths = [entry.path.rstrip("/") for entry in self.entries(folder) if entry.is_folder]
        for entry in self.entries(folder):
            parts = entry.path.rstrip("/").split("/")[:-1]
            paths += ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        base = folder.rstrip("/")
        return sorted({path for path in paths if not base or path.startswith(base + "/")})

    def listing_cut(self, folder: str = "") -> bool:
        made = [self.of(call) for call in self.folder_calls(folder)]
        return any(one is not None and cut(one.text) for one in made)

    def read(self, path: str) -> FileText | None:
        """With all the pages of it that were read."""
        if path not in self._texts:
            head = self._head(path)
            if head is None:
                return None
            self._texts[path] = put_together(head, self._page)
        return self._texts[path]

    def page_calls(self, path: str) -> list[Wanted]:
        """For the rest of a file whose first result was cut; none where a page was refused, as the others then are."""
        head = self._head(path)
        calls = [Wanted("read_result", given) for given in page_inputs(head)] if head is not None else []
        return [] if any(self.problem(call) is not None for call in calls) else calls

    def _head(self, path: str) -> FileText | None:
        made = self.of(Wanted("read_file", {"path": path}))
        return file_text(made.text) if made is not None and made.ok else None

    def _page(self, given: dict[str, Any]) -> str | None:
        made = self.of(Wanted("read_result", given))
        return made.text if made is not None and made.ok else None

    def problem(self, wanted: Wanted) -> str | None:
        made = self.of(wanted)
        return reason(made.text) if made is not None and not made.ok else None


class Stage(NamedTuple):
    description: str
    tool: str | None
    calls: Callable[[Facts], list[Wanted]]
    told: Callable[[Facts], Told]
    permission: bool = False


def listing_stage(folder: str = "") -> Stage:
    where = f"the folder {folder}" if folder else "the storage"

    def told(facts: Facts) -> Told:
        first = facts.folder_calls(folder)[0]
        problem = facts.problem(first)
        if problem is not None:
            return Told("failed", f"Could not list {where}: {problem}.")
        entries = facts.entries(folder)
        files = sum(not entry.is_folder for entry in entries)
        folders = len(facts.folders(folder))
        return Told(
            "completed",
            f"Found {plural(files, 'file')} and {plural(folders, 'folder')} in {where}.",
        )

    return Stage(f"List the files in {where}", "list_files", lambda facts: facts.folder_calls(folder), told)


def reading_stage(
    description: str, paths: Callable[[Facts], Sequence[str]], *, whole: bool = False, each: bool = False
) -> Stage:
    """`whole`: files larger than one result are read to their end, page by page. `each`: one missed fails it."""

    def heads(facts: Facts) -> list[Wanted]:
        return [Wanted("read_file", {"path": path}) for path in paths(facts)]

    def calls(facts: Facts) -> list[Wanted]:
        more = [call for path in paths(facts) for call in facts.page_calls(path)] if whole else []
        return heads(facts) + more

    def told(facts: Facts) -> Told:
        asked = heads(facts)
        if not asked:
            return Told("skipped", "There is no file to read.")
        bad = [
            f"{call.input['path']}: {problem}"
            for call in asked
            if (problem := facts.problem(call)) is not None
        ]
        if len(bad) == len(asked) or (bad and each):
            return Told("failed", f"Could not read {'; '.join(bad)[:600]}.")
        missed = f" Not readable: {'; '.join(bad)[:400]}." if bad else ""
        return Told("completed", f"Read {plural(len(asked) - len(bad), 'file')}.{missed}")

    return Stage(shortened(description), "read_file", calls, told)


def acting_stage(
    description: str,
    calls: Callable[[Facts], list[Wanted]],
    nothing: str,
    *,
    permission: bool = False,
    nothing_fails: bool = False,
) -> Stage:
    """Calls that change something. Where one of them was rejected or did not work, what was wanted was not had."""

    def told(facts: Facts) -> Told:
        asked = calls(facts)
        if not asked:
            return Told("failed" if nothing_fails else "skipped", nothing)
        results = [made for call in asked if (made := facts.of(call)) is not None]
        bad = [made for made in results if not made.ok]
        if not bad:
            return Told("completed", " ".join(first_line(made.text) for made in results)[:800])
        said = "; ".join(dict.fromkeys(reason(made.text) for made in bad))[:600]
        if len(bad) < len(results):
            return Told("failed", f"Done for {len(results) - len(bad)} of {len(results)}. Not done: {said}.")
        return Told("failed", f"Not done: {said}.")

    tool = "delete_file" if permission else "create_file"
    return Stage(shortened(description), tool, calls, told, permission)


def thinking_stage(
    description: str, text: Callable[[Facts], str], failed: Callable[[Facts], bool] = lambda facts: False
) -> Stage:
    """`failed`: whether what the stage was for could not be had."""

    def told(facts: Facts) -> Told:
        return Told("failed" if failed(facts) else "completed", text(facts)[:1_500])

    return Stage(shortened(description), None, lambda facts: [], told)


def shortened(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0][:300] if lines else "Done."


def _listing(folder: str) -> Wanted:
    return Wanted("list_files", {"path": folder} if folder else {})
