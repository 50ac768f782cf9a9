"""The state directory: one emulator at a time, and a scratch folder that never outlives its process."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from infra.local.emulator.settings import Settings


class StateDirectoryInUse(Exception):
    """Another emulator works on this directory."""


@contextmanager
def claimed(settings: Settings) -> Iterator[None]:
    """Hold the directory for the life of the process.

    The scratch folder is emptied first, since a killed predecessor could not do it. The lock is advisory
    and ends with the process, however that ends.
    """
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    handle = os.open(settings.state_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise StateDirectoryInUse(f"another local AWS is running on {settings.state_dir}") from None
    shutil.rmtree(settings.scratch_dir, ignore_errors=True)
    settings.scratch_dir.mkdir()
    try:
        yield
    finally:
        shutil.rmtree(settings.scratch_dir, ignore_errors=True)
        os.close(handle)
