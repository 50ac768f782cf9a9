"""A tenant's files in memory."""

import hashlib
from collections.abc import Iterable, Sequence
from copy import copy
from datetime import datetime
from typing import NamedTuple, Self

from acta.engine.clock import Clock
from acta.engine.files.store import (
    MAX_VERSIONS,
    DeletedFile,
    DeletedPage,
    FileChanged,
    FileExists,
    FileInfo,
    FileMissing,
    FilePage,
    FileVersion,
)
from acta.engine.store.keys import from_cursor, to_cursor
from acta.engine.untrusted.path import check_path, listed_path, stored_path


class _File(NamedTuple):
    data: bytes
    modified_at: datetime
    write_id: str | None
    was_new: bool


class MemoryFiles:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._user: str | None = None
        self._files: dict[tuple[str, str], _File] = {}
        self._all: list[tuple[str, str, bytes | None, datetime]] = []

    def seen_by(self, user: str | None) -> Self:
        view = copy(self)
        view._user = user
        return view

    def list(self, tenant: str, prefix: str, limit: int, cursor: str | None = None) -> FilePage:
        keys = {key: file for (owner, key), file in self._files.items() if owner == tenant}
        page, following = self._page("F#", tenant, prefix, keys, limit, cursor)
        found = [FileInfo(path, len(keys[key].data), keys[key].modified_at) for path, key in page]
        return FilePage(tuple(found), following)

    def deleted(self, tenant: str, prefix: str, limit: int, cursor: str | None = None) -> DeletedPage:
        gone = {key: at for owner, key, data, at in self._all if owner == tenant and data is None}
        keys = [key for key in gone if (tenant, key) not in self._files]
        page, following = self._page("FD#", tenant, prefix, keys, limit, cursor)
        return DeletedPage(tuple(DeletedFile(path, gone[key]) for path, key in page), following)

    def _page(
        self, kind: str, tenant: str, prefix: str, keys: Iterable[str], limit: int, cursor: str | None
    ) -> tuple[Sequence[tuple[str, str]], str | None]:
        """Paths as they are shown, each with its key, and the cursor of the next page."""
        start = stored_path(prefix, self._user)
        scope, limit = f"{kind}{tenant}/{start}", max(limit, 1)
        after = "" if cursor is None else stored_path(from_cursor(scope, cursor, 1_024), self._user)
        wanted = sorted(key for key in keys if key.startswith(start) and key > after)
        shown = [(path, key) for key in wanted if (path := listed_path(key, prefix, self._user)) is not None]
        return shown[:limit], to_cursor(scope, shown[limit - 1][0]) if len(shown) > limit else None

    def _key(self, tenant: str, path: str) -> tuple[str, str]:
        return tenant, stored_path(check_path(path), self._user)

    def read(self, tenant: str, path: str) -> bytes:
        try:
            return self._files[self._key(tenant, path)].data
        except KeyError:
            raise FileMissing("no such file") from None

    def write(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> bool:
        key = self._key(tenant, path)
        there = self._files.get(key)
        if there is not None and write_id is not None and there.write_id == write_id:
            return there.was_new
        self._files[key] = _File(data, self._clock.now(), write_id, there is None)
        self._all.append((*key, data, self._clock.now()))
        return there is None

    def create(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> None:
        there = self._files.get(self._key(tenant, path))
        if there is not None and (write_id is None or there.write_id != write_id):
            raise FileExists("a file is there")
        self.write(tenant, path, data, write_id)

    def etag(self, tenant: str, path: str) -> str:
        there = self._files.get(self._key(tenant, path))
        return "" if there is None else _etag(there.data)

    def replace(self, tenant: str, path: str, data: bytes, etag: str, write_id: str | None = None) -> None:
        there = self._files.get(self._key(tenant, path))
        is_mine = there is not None and write_id is not None and there.write_id == write_id
        if not is_mine and (there is None or _etag(there.data) != etag):
            raise FileChanged("the file is another one")
        self.write(tenant, path, data, write_id)

    def delete(self, tenant: str, path: str, etag: str | None = None) -> None:
        key = self._key(tenant, path)
        if key not in self._files:
            raise FileMissing("no such file")
        if etag not in (None, _etag(self._files[key].data)):
            raise FileChanged("the file is another one")
        del self._files[key]
        self._all.append((*key, None, self._clock.now()))

    def versions(self, tenant: str, path: str) -> tuple[FileVersion, ...]:
        key = self._key(tenant, path)
        mine = [(n, one) for n, one in enumerate(self._all) if one[:2] == key]
        found = [
            FileVersion(
                f"v{n}", len(data or b""), at, (n, (t, p, data, at)) == mine[-1], data is None, _etag(data)
            )
            for n, (t, p, data, at) in mine
        ]
        return tuple(reversed(found))[:MAX_VERSIONS]

    def read_version(self, tenant: str, path: str, version_id: str) -> bytes:
        for n, (one, where, data, _) in enumerate(self._all):
            if (one, where, f"v{n}") == (*self._key(tenant, path), version_id) and data is not None:
                return data
        raise FileMissing("no such version")


def _etag(data: bytes | None) -> str:
    return "" if data is None else f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'
