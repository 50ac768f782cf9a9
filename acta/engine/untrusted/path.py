"""File paths: they are relative, and a name has one spelling, whoever writes it (docs/design/files.md 1).

Spellings that nobody can tell apart are one file: an accent stored as a character of its own, a space of another
width, a mark of direction. Everything else that is not plain is refused, not corrected. The rules for names of new
files are stricter than those for files that are read, because somebody who puts objects into the bucket directly may
choose other names. `make generate` copies these rules for the tools' library (`acta/tools/path.py`).
"""

import hashlib
import re
import unicodedata

from acta.engine.untrusted.visible import escape, hidden_in

MAX_PATH_BYTES = 1_024
PRIVATE = "~/"
"""How paths of private files begin."""
ENCODED = re.compile("%[0-9A-Fa-f]{2}")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
SPELLED = {
    **dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **dict.fromkeys((0x61C, 0x200E, 0x200F)),
}
"""Spaces of other widths, as in a macOS screenshot's name, and marks of direction, as in that of a chat's export."""


class PathRefused(ValueError):
    """The message says which rule the path breaks, and what to do."""


def spelled(path: str) -> str:
    """The one spelling of a path. A program must use it before it looks at anything else of the path."""
    if not path.isascii():
        path = unicodedata.normalize("NFC", path.translate(SPELLED))
    path = "/".join([part.strip(" ") for part in path.split("/")])
    # Office names the file of whoever has a document open so. A name at the top that begins with ~ is a person's.
    return f"_{path[1:]}" if path.startswith("~$") else path


def check_path(path: str) -> str:
    """Returns the one spelling of a file's path. Raises PathRefused."""
    if (
        len(path) > 4 * MAX_PATH_BYTES
        or len((path := spelled(path)).encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES
    ):
        raise PathRefused(f"the path is longer than {MAX_PATH_BYTES} bytes")
    if not path:
        raise PathRefused("the path is empty")
    if wrong := CONTROL.search(path):
        kind = (
            "the control character" if wrong[0] < "\ud800" else "half a character that is no valid Unicode,"
        )
        raise PathRefused(f"the path has {kind} {escape(wrong[0])}; leave it out")
    if "\\" in path:
        raise PathRefused("the path has a backslash; separate folders by /, and leave it out of names")
    if encoded := ENCODED.search(path):
        raise PathRefused(
            f"the path has a percent sign before two hexadecimal digits ({encoded[0]}), as addresses encode a "
            "character; write the character itself, or leave the percent sign out"
        )
    if path.startswith("/"):
        raise PathRefused("the path is absolute; write it without the leading /")
    parts = path.split("/")
    if any(part in (".", "..") for part in parts):
        raise PathRefused("the path has a . or .. part; write it from the top, such as reports/may.md")
    if any(part == "" for part in parts):
        raise PathRefused("the path has an empty part (// or a trailing /)")
    return path


def check_shown_path(path: str) -> str:
    """As `check_path`, and the path has no hidden characters, so that whoever decides on it sees what it is. Raises
    PathRefused."""
    path = check_path(path)
    if path.isascii() and path.isprintable():
        return path
    hidden = hidden_in(path)
    if hidden is not None:
        name = unicodedata.name(hidden, "no name")
        raise PathRefused(f"the path has the hidden character {escape(hidden)} ({name}); leave it out")
    return path


def check_new_path(path: str) -> str:
    """As `check_shown_path`, and a new path that begins with `~` is private. Raises PathRefused."""
    path = check_shown_path(path)
    if path.startswith("~") and not path.startswith(PRIVATE):
        raise PathRefused(
            "the path begins with ~; private files are ~/name, and no other name of a new file begins so"
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
"""How folders of private files begin. No path has a percent sign before two hexadecimal digits (`check_path`)."""
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
        path = PRIVATE + path
    elif is_private(stored):
        raise PathRefused("private files are stored in their owner's folder")
    else:
        path = stored
    if check_new_path(path) != path:
        raise PathRefused("the path is written in another spelling than names have")


AFTER_PRIVATE = _FOLDER + _LAST
"""A stored path that sorts after everybody's private files, and before all that follows them."""
