"""Files on an operator's or a developer's machine: names that somebody else gave never leave their folder, and nobody
but the owner reads what is written.

No function of a deployment uses this. It stands here because the command line and the installer both do; the client
library and the local AWS, which stand alone, write their few files in the same way.
"""

import os
import re
import secrets
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9_%=~-][A-Za-z0-9._%=~-]{0,254}")
"""No separator, no colon, no blank, no control character, and no hidden name. What Windows takes for a device (`con`)
is a file wherever Acta runs.
"""


class NameRefused(ValueError):
    """A name would leave its folder, or name something other than a file in it. The message is for a person."""


def inside(folder: Path, name: str) -> Path:
    """The file `name` in `folder`, such as `agents/desk.yaml`. Its parts are plain names, and none of those that are
    there is a link. Where `folder` itself is, its owner has decided. Raises NameRefused.
    """
    path = folder
    for part in name.split("/"):
        if not NAME.fullmatch(part):
            raise NameRefused(f"{name!r} is no name of a file here")
        path = path / part
        if path.is_symlink():
            raise NameRefused(f"{name!r} is a link here, which is not followed")
    return path


def write_own(path: Path, data: bytes, *, replace: bool = True) -> None:
    """Writes the file completely or not at all, readable by its owner alone from its first byte on. Folders that are
    missing are made in the same way. A link at its place is replaced, not followed. Raises OSError; FileExistsError if
    something is there that may not be replaced.
    """
    for folder in reversed([each for each in path.parents if not each.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)
    draft = path.with_name(f".{secrets.token_hex(8)}.new") if replace else path
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
