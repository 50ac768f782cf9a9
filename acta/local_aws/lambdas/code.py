"""The unpacked code of functions, kept from one run to the next.

A deployed application may be 15,000 files. To remove them at every stop took longer than a stop may take, where the
file system tells the disk of every file that goes (ext4 mounted with `discard`: two milliseconds for each); and the
next run unpacked the same again. So several emulators share one folder, in which nothing changes but Python's
byte-code: `<function>/<digest of its zip>/`.

Whoever uses a folder of code holds a shared lock on it, as long as its process lives. What is older than the newest
`KEPT` of a function and locked by nobody goes when a newer one was unpacked, beside the work of that run.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import re
import shutil
import tempfile
import threading
import zipfile
from contextlib import suppress
from pathlib import Path

KEPT = 3
"""How many versions of a function stay. More do while they are in use."""

_HIDDEN = "."
"""Begins the name of a folder that is not whole: one being unpacked, or one being removed."""


class UnpackedCode:
    """Below `root`. One for each emulator; the locks end with its process."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._held: dict[Path, int] = {}

    def folder(self, function: str, code: bytes) -> Path:
        """The folder that stands for `/var/task`: that of a zip, shared by all processes that run it."""
        versions = self._root / re.sub(r"[^A-Za-z0-9_-]", "_", function)
        folder = versions / hashlib.sha256(code).hexdigest()[:20]
        with self._lock:
            if folder not in self._held:
                versions.mkdir(parents=True, exist_ok=True)
                held = _locked(folder, fcntl.LOCK_SH)
                if held is None:
                    held = _unpacked(code, folder)
                    threading.Thread(target=forget_old, args=(versions,), daemon=True).start()
                self._held[folder] = held
                os.utime(folder)
        return folder


def forget_old(versions: Path) -> None:
    """Remove the versions of one function beyond the newest `KEPT`, and what ended emulators left half done."""
    found = list(versions.iterdir())
    whole = sorted((each for each in found if not each.name.startswith(_HIDDEN)), key=_used, reverse=True)
    for old in (*(each for each in found if each.name.startswith(_HIDDEN)), *whole[KEPT:]):
        held = _locked(old, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if held is None:
            continue
        gone = versions / f"{_HIDDEN}{old.name.lstrip(_HIDDEN)}-{os.getpid()}"
        with suppress(OSError):
            old.rename(gone)  # at once: nobody finds half of it
        os.close(held)  # before it goes, which takes long: who waits for the lock unpacks anew
        shutil.rmtree(gone, ignore_errors=True)


def _used(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:  # another emulator removed it
        return 0.0


def _locked(folder: Path, how: int) -> int | None:
    """The descriptor that holds the lock. None: there is no such folder, or (with LOCK_NB) another one holds it."""
    while True:
        try:
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            fcntl.flock(held, how)
        except BlockingIOError:
            os.close(held)
            return None
        with suppress(OSError):
            if os.path.samestat(os.fstat(held), os.stat(folder)):
                return held
        os.close(held)  # it was renamed before the lock was ours


def _unpacked(code: bytes, folder: Path) -> int:
    """Unpack beside `folder`, then rename. Two emulators may do so at a time: the first one's folder stays.

    The descriptor holds a shared lock on what is `folder` then.
    """
    held = None
    while held is None:  # until it is locked, one that removes what is half done may take it
        work = Path(tempfile.mkdtemp(prefix=_HIDDEN, dir=folder.parent))
        held = _locked(work, fcntl.LOCK_SH)
    try:
        _extract(code, work)
        work.rename(folder)
        return held
    except (OSError, zipfile.BadZipFile):
        os.close(held)
        shutil.rmtree(work, ignore_errors=True)
        found = _locked(folder, fcntl.LOCK_SH)
        if found is None:
            raise
        return found


def _extract(code: bytes, work: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(code)) as archive:
        for member in archive.infolist():
            path = Path(archive.extract(member, work))
            mode = (member.external_attr >> 16) & 0o777
            if mode and path.is_file():
                os.chmod(path, mode | 0o600)
