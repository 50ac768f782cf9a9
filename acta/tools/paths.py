"""Which paths of files tools may name: those of the built-in file tools. A test compares the two.

A path with another spelling is refused, not corrected.
"""

import unicodedata

from acta.tools.errors import FileRefused

MAX_PATH_BYTES = 1_024
PRIVATE = "~/"
HOW = "Use a relative path such as reports/may.md."
BLANK_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""Characters that Unicode calls letters or marks and that look blank."""


def check_path(path: str) -> str:
    """Of a file that is there. Returns it unchanged. Raises FileRefused."""
    wrong = _wrong(path)
    if wrong is not None:
        raise FileRefused(f"{wrong}. {HOW}")
    return path


def check_new_path(path: str) -> str:
    """Of a file to write. Returns it unchanged. Raises FileRefused."""
    check_path(path)
    if path.startswith("~") and not path.startswith(PRIVATE):
        raise FileRefused(f"the path begins with ~, as only those of private files do: ~/name. {HOW}")
    if not unicodedata.is_normalized("NFC", path):
        raise FileRefused(
            f"the path is not in Unicode's form NFC: each accented letter is one character. {HOW}"
        )
    return path


def check_folder(path: str) -> str:
    """Returns what the paths in it begin with; of the top nothing. Raises FileRefused."""
    return "" if path in ("", ".", "/", "./") else check_path(path.removesuffix("/")) + "/"


def _wrong(path: str) -> str | None:
    parts = path.split("/")
    rules = (
        (not path, "the path is empty"),
        (
            len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES,
            f"the path is over {MAX_PATH_BYTES} bytes",
        ),
        (
            any(not char.isprintable() or char in BLANK_LETTERS for char in path),
            "the path has a hidden character",
        ),
        ("\\" in path, "the path has a backslash"),
        ("%" in path, "the path has a percent sign"),
        (path.startswith("/"), "the path is absolute"),
        ("." in parts or ".." in parts, "the path has a . or .. part"),
        ("" in parts, "the path has an empty part"),
        (any(part != part.strip() for part in parts), "a part of the path begins or ends with a space"),
    )
    return next((said for breaks, said in rules if breaks), None)
