"""Tool results as text, read back into values; leniently, because the wording is the tools' business."""

import re
from typing import NamedTuple

_SIZED = re.compile(
    r"(?P<name>\S.*?)(?:\s{2,}|\t|\s+\(|\s+-\s+)(?P<size>[\d.,]+)\s*(?:bytes?|B|[kKMG]i?B)\b.*"
)
_HEADER = re.compile(r"(\d+|no)\s+(files?|folders?|entr(y|ies)|items?)\b.*", re.IGNORECASE)
_FENCE = re.compile(r"-{3,}.*-{3,}")
_OPENING = re.compile(
    r"-{3,}\s*file:\s*(?P<path>.*?)\s*(?:\((?P<size>\d+) bytes?\))?\s*(?P<mark>#\w+)?\s*-{3,}"
)
_CLOSING = re.compile(r"-{3,}\s*end of file\b.*?(?P<mark>#\w+)?\s*-{3,}")
_MORE = re.compile(
    r"\[(?P<shown>\d+) of \d+ bytes so far; for more call read_result with handle "
    r"(?P<handle>[0-9a-f]{64}) and offset \d+\]"
)
_BEGIN = re.compile(r"-{3,}\s*\w+:.*-{3,}")
_END = re.compile(r"-{3,}\s*end of\b.*-{3,}")
_ADVICE = re.compile(
    r"(?<=[.;])\s+(?:Do not|Don't|Go on|Try|Use|Call|Ask|Name|List|Split|Near names|There is|read_file reads)\b.*"
)


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
    handle: str = ""
    """For more of it."""
    told_size: int | None = None

    @property
    def size(self) -> int:
        """Bytes of the whole, as far as that is known."""
        return self.told_size if self.told_size is not None else len(self.text.encode())


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
    opened = _OPENING.fullmatch(lines[0].strip()) if lines else None
    if opened is None:
        return FileText(result, whole=True)
    closed = [(i, _CLOSING.fullmatch(line.strip())) for i, line in enumerate(lines)]
    ends = [i for i, found in closed if found is not None and found["mark"] == opened["mark"]]
    body = "".join(lines[1 : ends[-1] if ends else None])
    size = int(opened["size"]) if opened["size"] is not None else None
    more = _more(lines[ends[-1] + 1 :]) if ends else None
    if more is not None:
        head = body.encode()[: int(more["shown"])].decode("utf-8", "ignore")
        return FileText(head, whole=False, handle=more["handle"], told_size=size)
    if size is None or len(body.encode()) > size:
        body = body.removesuffix("\n")  # added for the fence
    return FileText(body, whole=bool(ends) and (size is None or len(body.encode()) >= size), told_size=size)


def _more(notes: list[str]) -> re.Match[str] | None:
    """What is said behind the fence of a result that was cut."""
    return next((found for line in notes if (found := _MORE.fullmatch(line.strip()))), None)


def unfenced(result: str) -> str:
    """A result without the lines that fence it, and without what is said behind them."""
    lines = result.splitlines()
    closing = [number for number, line in enumerate(lines) if _END.fullmatch(line.strip())]
    if not closing or _BEGIN.fullmatch(lines[0].strip()) is None:
        return result
    return "\n".join(lines[1 : closing[-1]])


def cut(result: str) -> bool:
    """Whether a listing says that there is more than it shows."""
    return re.match(r"\d+ entr(?:y|ies) of more\b", result) is not None


def reason(result: str) -> str:
    """A failed call's first line without its marker and its advice, fit for a sentence."""
    first = result.strip().splitlines()[0] if result.strip() else "no reason was given"
    return _ADVICE.sub("", first.removeprefix("Error:").strip()).rstrip(".;")[:300]


def _is_a_name(line: str) -> bool:
    """Folders, and bare names; not sentences such as `The folder is empty.`"""
    return line.endswith("/") or (" " not in line and not line.endswith((".", ":")))


def _from_root(name: str, base: str) -> str:
    name = name.removeprefix("./").lstrip("/")
    return name if not base or name.startswith(base + "/") else f"{base}/{name}"
