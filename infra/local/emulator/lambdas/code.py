"""Unpacked function code: one folder per distinct zip, shared by all processes that run it."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import threading
import zipfile
from pathlib import Path

_lock = threading.Lock()


def unpacked(code: bytes, root: Path) -> Path:
    """The folder that stands for `/var/task`. Byte-code is kept in it, for quicker cold starts."""
    target = root / "code" / hashlib.sha256(code).hexdigest()
    with _lock:
        if target.is_dir():
            return target
        partial = target.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        with zipfile.ZipFile(io.BytesIO(code)) as archive:
            for member in archive.infolist():
                path = Path(archive.extract(member, partial))
                mode = (member.external_attr >> 16) & 0o777
                if mode and path.is_file():
                    os.chmod(path, mode | 0o600)
        partial.rename(target)
        return target
