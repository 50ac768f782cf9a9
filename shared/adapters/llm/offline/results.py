"""Tool results as text, read back into values; leniently, because the wording is the tools' business."""

import re
from typing import NamedTuple

_SIZED = re.compile(
    r"(?P<name>\S.*?)(?:\s{2,}|\t|\s+\(|\s+-\s+)(?P<size>[\d.,]+)\s*(?:bytes?|B|[kKMG]i?B)\b.*"
)
_HEADER = re.compile(r"(\d+|no)\s+(files?|folders?|entr(y|ies)|items?)\b.*", re.IGNORECASE)
_FENCE = re.compile(r"-{3,}.*-{3,}")
_OPENING = re.compile(r"-{3,}\s*file:\s*(?P<path>.*?)\s*(?:\([\d.,]+ bytes?\))?\s*-{3,}")
_CLOSING = re.compile(r"-{3,}\s*end of file\b.*-{3,}")
_REFUSED_BY_A_PERSON = re.compile(r"reject|not approved|declin|denied|expired|was not given", re.IGNORECASE)


class Listed(NamedTuple):
    """`path` from the storage's root; a folder's ends with `/`. `size` in bytes, None if not told."""

    path: str
    size: int | None = None

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/")


class FileText(NamedTuple):
    """`whole` False: only the beginning came back."""

    text: str
    whole: bool


def listed(text: str, folder: str = "") -> list[Listed]:
    """The entries of a `list_files` result for `folder` (empty: the root)."""
    base = folder.strip("/")
    found = []
    for line in text.splitlines():
        line = line.strip()
        sized = _SIZED.fullmatch(line)
        if sized:
            size = sized["size"].replace(",", "")
            found.append(Listed(_from_root(sized["name"], base), int(size) if size.isdigit() else None))
        elif line and not _HEADER.fullmatch(line) and not _FENCE.fullmatch(line) and _is_a_name(line):
            found.append(Listed(_from_root(line, base)))
    return found


def file_text(result: str) -> FileText:
    """What stands between the fences of a `read_file` result. The last closing fence counts: a file may hold
    one."""
    lines = result.splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if _OPENING.fullmatch(line.strip())), None)
    if start is None:
        return FileText(result, whole=True)
    ends = [i for i in range(len(lines) - 1, start, -1) if _CLOSING.fullmatch(lines[i].strip())]
    body = lines[start + 1 : ends[0] if ends else None]
    return FileText("".join(body).removesuffix("\n"), whole=bool(ends))


def refused_by_a_person(result: str) -> bool:
    return _REFUSED_BY_A_PERSON.search(result) is not None


def reason(result: str) -> str:
    """A failed call's first line without its marker, fit for a sentence."""
    first = result.strip().splitlines()[0] if result.strip() else "no reason was given"
    return first.removeprefix("Error:").strip().rstrip(".")[:300]


def _is_a_name(line: str) -> bool:
    """Folders, and bare names; not sentences such as `The folder is empty.`"""
    return line.endswith("/") or (" " not in line and not line.endswith((".", ":")))


def _from_root(name: str, base: str) -> str:
    name = name.removeprefix("./").lstrip("/")
    return name if not base or name.startswith(base + "/") else f"{base}/{name}"
