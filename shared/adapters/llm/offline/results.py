"""Parses results of the file tools. Their form is made by `domain/untrusted/quoting.py` and
`adapters/tools/builtin/files.py`.
"""

import re
from typing import NamedTuple

_OPENING_LINE = re.compile(r"--- \w+: .*\((?P<size>\d+) bytes?\)(?P<mark> #\w+)? ---")
_ENTRY = re.compile(r"(?P<path>.+)  (?P<size>\d+) bytes?")


class FileText(NamedTuple):
    """`whole` False: the text is only the beginning of the file. `size`: bytes of the whole file."""

    text: str
    whole: bool
    size: int


class ListedFile(NamedTuple):
    """`path`: from the storage's root. `size`: bytes."""

    path: str
    size: int


def file_text(result: str) -> FileText:
    """What stands between the marker lines. A result without them is its own text."""
    lines = result.split("\n")
    opened = _OPENING_LINE.fullmatch(lines[0])
    if opened is None:
        return FileText(result, whole=True, size=len(result.encode()))
    size, last = int(opened["size"]), f"{opened['mark'] or ''} ---"
    ends = [n for n, line in enumerate(lines) if line.startswith("--- end of ") and line.endswith(last)]
    body = "".join(f"{line}\n" for line in lines[1 : ends[-1] if ends else None])
    # After the closing marker, a result that was cut says how to get the rest.
    is_cut = not ends or ends[-1] < len(lines) - 1
    if is_cut or len(body.encode()) > size:
        body = body.removesuffix("\n")  # added for the marker line
    return FileText(body, whole=not is_cut and len(body.encode()) == size, size=size)


def listed(result: str) -> list[ListedFile]:
    """The files of a `list_files` result, by path."""
    found = [_ENTRY.fullmatch(line) for line in file_text(result).text.split("\n")]
    return sorted(ListedFile(entry["path"], int(entry["size"])) for entry in found if entry is not None)


def is_cut_listing(result: str) -> bool:
    """Whether there are more files than the listing names."""
    return re.match(r"\d+ entr(?:y|ies) of more\b", file_text(result).text) is not None


def is_taken(result: str) -> bool:
    """Whether `create_file` found a file at its path."""
    return re.match(r"Error: there is a file .+ already\.", result) is not None


def reason(result: str) -> str:
    """Why a call failed: the first sentence of its result, without a full stop and at most 300 characters."""
    first = result.strip().split("\n")[0].removeprefix("Error:").strip()
    return re.split(r"(?<=[.;])\s", first)[0].rstrip(".;")[:300] or "no reason was given"


def first_line(text: str) -> str:
    """At most 300 characters."""
    return text.strip().split("\n")[0][:300] or "Done."
