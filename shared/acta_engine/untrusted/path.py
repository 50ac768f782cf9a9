"""File paths: they are relative, and only the normalised spelling is accepted (docs/design/files.md 1).

A path with another spelling is refused, not corrected. So the store uses exactly the path that a person has approved.
The rules for names of new files are stricter than those for files that are read, because somebody who puts objects into
the bucket directly may choose other names.
"""

import hashlib
import re
import unicodedata

from acta_engine.untrusted.visible import escape, is_hidden

MAX_PATH_BYTES = 1_024
PRIVATE = "~/"
"""How paths of private files begin."""


class PathRefused(ValueError):
    """The message says which rule the path breaks."""


def check_path(path: str) -> str:
    """Returns the path of a file unchanged. Raises PathRefused."""
    if not path:
        raise PathRefused("the path is empty")
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        raise PathRefused(f"the path is longer than {MAX_PATH_BYTES} bytes")
    if not path.isprintable() and any(map(_is_control, path)):
        raise PathRefused("the path has a control character")
    if "\\" in path:
        raise PathRefused("the path has a backslash; folders are separated by /")
    if "%" in path:
        raise PathRefused("the path has a percent sign; write the character itself instead of its encoding")
    if path.startswith("/"):
        raise PathRefused("the path is absolute; write it without the leading /")
    parts = path.split("/")
    if any(part in (".", "..") for part in parts):
        raise PathRefused("the path has a . or .. part")
    if any(part == "" for part in parts):
        raise PathRefused("the path has an empty part (// or a trailing /)")
    if any(part != part.strip() for part in parts):
        raise PathRefused("a part of the path begins or ends with a space")
    return path


def _is_control(char: str) -> bool:
    """A control character or a surrogate; none of them is printable."""
    return ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000


def check_shown_path(path: str) -> str:
    """As `check_path`, and the path has no hidden characters, so that whoever decides on it sees what it is. Raises
    PathRefused."""
    check_path(path)
    if path.isascii() and path.isprintable():
        return path
    hidden = next((char for char in path if is_hidden(char, keep_newlines=False)), None)
    if hidden is not None:
        raise PathRefused(f"the path has the hidden character {escape(hidden)}")
    return path


def check_new_path(path: str) -> str:
    """As `check_shown_path`, and the path is in Unicode's form NFC: no two new files have names that look alike only
    because their accents are stored in two ways. A new path that begins with `~` must be private. Raises PathRefused.
    """
    check_shown_path(path)
    if path.startswith("~") and not path.startswith(PRIVATE):
        raise PathRefused(
            "the path begins with ~; private files are ~/name, and no other name of a new file begins so"
        )
    if not unicodedata.is_normalized("NFC", path):
        raise PathRefused(
            "the path is not in Unicode's form NFC; write each accented letter as one character"
        )
    return path


def check_folder(path: str) -> str:
    """Returns the prefix of all paths in a folder: the path with one / at its end; for the root ('', '.' or '/') ''.

    Raises PathRefused.
    """
    if path in ("", ".", "/", "./"):
        return ""
    return check_path(path.removesuffix("/")) + "/"


# A path beginning with `~/` is a file of whoever asks (ADR 50). It is stored below the tenant's prefix, in a folder
# that no path of a tenant's own files leads into.
_FOLDER = "~%"
"""How folders of private files begin. No path has a percent sign (`check_path`)."""
_LAST = "\U0010ffff"

NOT_HERE = (
    "~/ holds one person's private files, which only a session of theirs with visibility private reaches. Use a path "
    "that does not begin with ~/, or have the user start such a session"
)


def private_folder(subject: str) -> str:
    """The folder of a person's private files: `~%` and the SHA-256 of their token's subject in UTF-8, 66 characters.

    Subjects that differ only in case or in Unicode's form still get quite different folders. So they stay apart on a
    disk that takes such names for the same. Raises ValueError where the subject is empty.
    """
    if not subject:
        raise ValueError("private files need a person")
    return _FOLDER + hashlib.sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()


def is_private(path: str) -> bool:
    return path.startswith(PRIVATE)


def stored_path(path: str, user: str | None) -> str:
    """The place of a path, or of a prefix of paths, below the tenant's prefix. `user`: whose private files `~/` means;
    None: nobody's. Raises PathRefused.
    """
    if not is_private(path):
        return path
    if user is None:
        raise PathRefused(NOT_HERE)
    return private_folder(user) + "/" + path.removeprefix(PRIVATE)


def listed_path(stored: str, prefix: str, user: str | None) -> str | None:
    """The path under which a listing of `prefix` shows what is stored there. None: it is in no such listing."""
    if is_private(prefix):
        return PRIVATE + stored.removeprefix(stored_path(PRIVATE, user))
    return None if stored.startswith(_FOLDER) else stored


_OWNERS_FOLDER = re.compile(f"{_FOLDER}[0-9a-f]{{64}}")


def check_stored_path(stored: str) -> None:
    """Checks where a file is to be stored below the tenant's prefix, in somebody's private folder or outside of them,
    as `check_new_path` checks a path. Raises PathRefused.
    """
    folder, _, path = stored.partition("/")
    if _OWNERS_FOLDER.fullmatch(folder):
        check_new_path(PRIVATE + path)
    elif is_private(stored):
        raise PathRefused("private files are stored in their owner's folder")
    else:
        check_new_path(stored)


AFTER_PRIVATE = _FOLDER + _LAST
"""A stored path that sorts after everybody's private files, and before all that follows them."""
