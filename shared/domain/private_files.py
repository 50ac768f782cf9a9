"""A person's private files: what `~/notes.md` names, and where it is stored (ADR 50).

A path beginning with `~/` is a file of whoever asks. It is stored below the tenant's prefix, in a folder that no path
of a tenant's own files leads into.
"""

import hashlib

from shared.domain.untrusted.path import PRIVATE, PathRefused

_FOLDER = "~%"
"""How folders of private files begin. No path has a percent sign (`check_path`)."""
_LAST = "\U0010ffff"

NOT_HERE = (
    "~/ holds one person's private files, which only a session of theirs with visibility private reaches. Use a path "
    "that does not begin with ~/, or have the user start such a session"
)


def private_folder(subject: str) -> str:
    """The folder of a person's private files: `~%` and the SHA-256 of their token's subject in UTF-8, 66 characters.

    Subjects that differ in anything, be it case or Unicode's form, have folders that differ in more than that: a disk
    that takes such names for one keeps them apart. Raises ValueError where the subject is empty.
    """
    if not subject:
        raise ValueError("private files need a person")
    return _FOLDER + hashlib.sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()


def is_private(path: str) -> bool:
    return path.startswith(PRIVATE)


def stored_path(path: str, user: str | None) -> str:
    """Where the file of that path, or all files under that prefix, are below the tenant's prefix. `user`: whose private
    files `~/` means; None: nobody's. Raises PathRefused.
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


AFTER_PRIVATE = _FOLDER + _LAST
"""Comes after everybody's private files as they are stored, and before what follows them."""
