"""The state directory: one emulator at a time, and a scratch folder that never outlives its process."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from infra.local.emulator.settings import SCRATCH, Settings

ENDING_SECONDS = 5.0
"""A predecessor whose command was killed ends by itself and saves its state first; that is waited for."""


OPEN = "open"
"""A file that stands from an emulator's start to its orderly end. It holds how the one before ended: nothing, or after
an end without order when the state was saved last (ISO 8601, or `NEVER`)."""
NEVER = "never"


class StateDirectoryInUse(Exception):
    """Another emulator works on this directory."""


@contextmanager
def claimed(settings: Settings) -> Iterator[None]:
    """Hold the directory for the life of the process; the lock file says which process that is.

    What a killed predecessor left of its scratch folder goes first. The lock is advisory
    and ends with the process, however that ends.
    """
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    handle = os.open(settings.state_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + ENDING_SECONDS
    while not locks(handle):
        if time.monotonic() > deadline:
            os.close(handle)
            raise StateDirectoryInUse(in_use(settings.state_dir))
        time.sleep(0.05)
    os.truncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)
    for left in settings.state_dir.glob(f"{SCRATCH}*"):
        shutil.rmtree(left, ignore_errors=True)
    settings.scratch_dir.mkdir(exist_ok=True)
    mark_open(settings.state_dir)
    try:
        yield
        (settings.state_dir / OPEN).unlink(missing_ok=True)  # not after an error: who knows what was saved
    finally:
        shutil.rmtree(settings.scratch_dir, ignore_errors=True)
        os.close(handle)


def mark_open(state_dir: Path) -> None:
    """Where nothing was saved, the objects that S3 writes at once belong to no stack any more and would be in the way
    of the next deployment: they are set aside, those of an earlier time dropped.
    """
    mark, objects, aside = state_dir / OPEN, state_dir / "s3", state_dir / "s3-unsaved"
    saved = last_saved(state_dir)
    if mark.exists() and saved is None and objects.exists():
        shutil.rmtree(aside, ignore_errors=True)
        objects.rename(aside)
    mark.write_text((saved or NEVER) if mark.exists() else "")


def last_saved(state_dir: Path) -> str | None:
    """ministack saves each service's state as one JSON file, all of them at its orderly end only."""
    times = [path.stat().st_mtime for path in state_dir.glob("*.json")]
    return datetime.fromtimestamp(max(times), UTC).isoformat(timespec="seconds") if times else None


def restored_from(state_dir: Path) -> str | None:
    """Of the emulator that works on the directory now: when what it began with was saved, where its predecessor
    could save nothing at its end; None after an orderly end and before the first start.
    """
    with suppress(OSError):
        return (state_dir / OPEN).read_text() or None
    return None


def is_claimed(state_dir: Path) -> bool:
    """Whether an emulator works on the directory now."""
    try:
        handle = os.open(state_dir / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not locks(handle)
    finally:
        os.close(handle)


def in_use(state_dir: Path) -> str:
    """One line for a person: which process it is and what to do."""
    try:
        pid = int((state_dir / "lock").read_text())
    except (OSError, ValueError):
        return f"another local AWS is running on {state_dir}: end it, or use another --state"
    return (
        f"another local AWS is running on {state_dir} (process {pid}): "
        f"end it with `kill {pid}`, or use another --state"
    )


def locks(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
