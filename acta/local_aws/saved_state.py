"""What outlives the emulator: its saved state, in a directory that one emulator at a time works on.

ministack saves each service's state as one JSON file, all of them at its orderly end and at no other time. S3
objects are files of their own, written at once.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from acta.local_aws.settings import SCRATCH, Settings

ENDING_SECONDS = 5.0
"""How long a new emulator waits for the one before: where its starter was killed, it still saves its state."""

OPEN = "open"
"""A file that is there from an emulator's start to its orderly end. Its content says how the emulator before
ended: empty for an orderly end, else when the state was last saved (ISO 8601, or `NEVER`)."""
NEVER = "never"

_before_saving: list[Callable[[], None]] = []


class StateDirectoryInUse(Exception):
    """Another emulator works on this directory."""


def before_saving(action: Callable[[], None]) -> None:
    """Register what must end before state is saved, so that nothing changes while it is written."""
    _before_saving.append(action)


def end_all_work() -> None:
    """Run what was registered, the last first. A second call does nothing."""
    while _before_saving:
        _before_saving.pop()()


@contextmanager
def claimed(settings: Settings) -> Iterator[None]:
    """Hold the directory for the life of the process; the lock file has the process id. Raises StateDirectoryInUse.

    The lock is advisory and ends with the process, however that ends. What a killed predecessor left of its
    scratch folder is removed first.
    """
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    handle = os.open(settings.state_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + ENDING_SECONDS
    while not _locks(handle):
        if time.monotonic() > deadline:
            os.close(handle)
            raise StateDirectoryInUse(in_use(settings.state_dir))
        time.sleep(0.05)
    os.truncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)
    for left in settings.state_dir.glob(f"{SCRATCH}*"):
        shutil.rmtree(left, ignore_errors=True)
    settings.scratch_dir.mkdir(exist_ok=True)
    _mark_open(settings.state_dir)
    try:
        yield
        (settings.state_dir / OPEN).unlink(missing_ok=True)  # not after an error: the state may not be saved
    finally:
        shutil.rmtree(settings.scratch_dir, ignore_errors=True)
        os.close(handle)


def _mark_open(state_dir: Path) -> None:
    """Write `OPEN`. If the last emulator saved nothing, set its S3 objects aside.

    Those objects belong to no bucket any more and would be in the way of the next deployment.
    """
    mark, objects, aside = state_dir / OPEN, state_dir / "s3", state_dir / "s3-unsaved"
    saved = last_saved(state_dir)
    if mark.exists() and saved is None and objects.exists():
        shutil.rmtree(aside, ignore_errors=True)
        objects.rename(aside)
    mark.write_text((saved or NEVER) if mark.exists() else "")


def last_saved(state_dir: Path) -> str | None:
    """When state was last saved, ISO 8601; None if it never was."""
    times = [path.stat().st_mtime for path in state_dir.glob("*.json")]
    return datetime.fromtimestamp(max(times), UTC).isoformat(timespec="seconds") if times else None


def restored_from(state_dir: Path) -> str | None:
    """For the emulator that works on the directory now: the age of the state it began with, if some was lost.

    ISO 8601 or `NEVER`. None if the emulator before ended in order, or there was none.
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
        return not _locks(handle)
    finally:
        os.close(handle)


def in_use(state_dir: Path) -> str:
    """One line for a person: which process works on the directory and what to do."""
    try:
        pid = int((state_dir / "lock").read_text())
    except (OSError, ValueError):
        return f"another local AWS is running on {state_dir}: end it, or use another state directory"
    return (
        f"another local AWS is running on {state_dir} (process {pid}): "
        f"end it with `kill {pid}`, or use another state directory"
    )


def _locks(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
