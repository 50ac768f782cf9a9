"""A tenant's files in memory."""

from datetime import datetime
from typing import NamedTuple

from shared.adapters.storage.cursors import from_cursor, to_cursor
from shared.domain.untrusted.path import check_path
from shared.ports.clock import Clock
from shared.ports.files import MAX_VERSIONS, FileExists, FileInfo, FileMissing, FilePage, FileVersion


class _File(NamedTuple):
    data: bytes
    modified_at: datetime
    write_id: str | None
    was_new: bool


class MemoryFiles:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._files: dict[tuple[str, str], _File] = {}
        self._all: list[tuple[str, str, bytes | None, datetime]] = []

    def list(self, tenant: str, prefix: str, limit: int, cursor: str | None = None) -> FilePage:
        scope, limit = f"F#{tenant}/{prefix}", max(limit, 1)
        after = "" if cursor is None else from_cursor(scope, cursor)
        paths = sorted(p for t, p in self._files if t == tenant and p.startswith(prefix) and p > after)
        found = []
        for path in paths[:limit]:
            file = self._files[tenant, path]
            found.append(FileInfo(path, len(file.data), file.modified_at))
        return FilePage(tuple(found), to_cursor(scope, found[-1].path) if len(paths) > limit else None)

    def read(self, tenant: str, path: str) -> bytes:
        try:
            return self._files[tenant, check_path(path)].data
        except KeyError:
            raise FileMissing("no such file") from None

    def write(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> bool:
        key = (tenant, check_path(path))
        there = self._files.get(key)
        if there is not None and write_id is not None and there.write_id == write_id:
            return there.was_new
        self._files[key] = _File(data, self._clock.now(), write_id, there is None)
        self._all.append((*key, data, self._clock.now()))
        return there is None

    def create(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> None:
        there = self._files.get((tenant, check_path(path)))
        if there is not None and (write_id is None or there.write_id != write_id):
            raise FileExists("a file is there")
        self.write(tenant, path, data, write_id)

    def delete(self, tenant: str, path: str) -> None:
        if self._files.pop((tenant, check_path(path)), None) is None:
            raise FileMissing("no such file")
        self._all.append((tenant, path, None, self._clock.now()))

    def versions(self, tenant: str, path: str) -> tuple[FileVersion, ...]:
        mine = [(n, one) for n, one in enumerate(self._all) if one[:2] == (tenant, check_path(path))]
        found = [
            FileVersion(f"v{n}", len(data or b""), at, (n, (t, p, data, at)) == mine[-1], data is None)
            for n, (t, p, data, at) in mine
        ]
        return tuple(reversed(found))[:MAX_VERSIONS]

    def restore(self, tenant: str, path: str, version_id: str) -> int:
        for n, (one, where, data, _) in enumerate(self._all):
            if (one, where, f"v{n}") == (tenant, path, version_id) and data is not None:
                self.write(tenant, path, data)
                return len(data)
        raise FileMissing("no such version")
