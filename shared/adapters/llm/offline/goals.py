"""What a goal can ask for, as far as rules understand it. Made by `reading_goals`, worked by `jobs`."""

from dataclasses import dataclass
from typing import NamedTuple


class Files(NamedTuple):
    """Which files: named ones, else all that fit. `suffixes` empty: any; `folder` empty: the whole storage."""

    paths: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    folder: str = ""
    only_empty: bool = False
    excluded: tuple[str, ...] = ()
    """Paths, suffixes (`.md`) and folders (`archive/`) that are spared."""

    def fits(self, path: str, size: int | None = None) -> bool:
        if self.paths:
            return path in self.paths
        if any(_spares(spared, path) for spared in self.excluded):
            return False
        in_folder = not self.folder or path.startswith(self.folder.rstrip("/") + "/")
        has_suffix = not self.suffixes or path.lower().endswith(self.suffixes)
        return in_folder and has_suffix and (not self.only_empty or size == 0)

    def described(self) -> str:
        if self.paths:
            return ", ".join(self.paths)
        kind = " or ".join(f"*{suffix}" for suffix in self.suffixes)
        where = f" in {self.folder}" if self.folder else " in the storage"
        spared = f" except {', '.join(self.excluded)}" if self.excluded else ""
        return f"{'empty ' if self.only_empty else ''}{kind + ' ' if kind else ''}files{where}{spared}"


def _spares(spared: str, path: str) -> bool:
    if spared.endswith("/"):
        return path.startswith(spared)
    return path.lower().endswith(spared) if spared.startswith(".") else path == spared


@dataclass(frozen=True)
class ListFiles:
    files: Files


@dataclass(frozen=True)
class ShowFiles:
    files: Files


@dataclass(frozen=True)
class Summarise:
    files: Files


@dataclass(frozen=True)
class Count:
    """`what`: files, folders, lines, words, characters or bytes."""

    what: str
    files: Files
    per_folder: bool = False


@dataclass(frozen=True)
class Sizes:
    """`order`: largest or smallest, the first `most` of them; or total."""

    order: str
    files: Files
    most: int = 1


@dataclass(frozen=True)
class Search:
    """`in_names`: the term is looked for in file names, not in texts."""

    term: str
    files: Files
    in_names: bool = False


@dataclass(frozen=True)
class WriteFile:
    path: str
    text: str


@dataclass(frozen=True)
class AppendTo:
    path: str
    text: str


@dataclass(frozen=True)
class Copy:
    source: str
    target: str
    move: bool = False


@dataclass(frozen=True)
class Delete:
    files: Files


@dataclass(frozen=True)
class Weather:
    places: tuple[str, ...]


@dataclass(frozen=True)
class Unsupported:
    request: str


Task = (
    ListFiles
    | ShowFiles
    | Summarise
    | Count
    | Sizes
    | Search
    | WriteFile
    | AppendTo
    | Copy
    | Delete
    | Weather
    | Unsupported
)


class Goal(NamedTuple):
    """`tasks` in order. `output`: the file their answers are written to. `question`: what has to be asked
    before anything can be done; `template` then makes a goal of the answer (`{}`), where the answer alone
    is none."""

    text: str
    tasks: tuple[Task, ...] = ()
    output: str | None = None
    question: str | None = None
    template: str | None = None
