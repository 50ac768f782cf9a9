"""The files that a Python tool of a test reaches: the tenant's, in memory, by the rules of those in S3."""

from collections.abc import Iterable

from acta.tools.call import File
from acta.tools.files import CheckedFiles
from shared.ports.files import FileExists, FileMissing, FileStore

MOST_FILES = 1_000
MOST_BYTES = 4_194_304
"""`max_file_bytes` of an environment that says nothing else."""


class ToolFiles(CheckedFiles):
    """`user`: whose private files it reaches; None: nobody's."""

    def __init__(
        self, store: FileStore, tenant: str, user: str | None, effect_id: str, *, writes: bool
    ) -> None:
        super().__init__(effect_id, writes=writes, private=user is not None, max_bytes=MOST_BYTES)
        self._files = store.seen_by(user)
        self._tenant = tenant

    def _listed(self, prefix: str) -> Iterable[File]:
        found = self._files.list(self._tenant, prefix, MOST_FILES).files
        return (File(each.path, each.bytes) for each in found)

    def _stored(self, path: str) -> bytes | None:
        try:
            return self._files.read(self._tenant, path)
        except FileMissing:
            return None

    def _store(self, path: str, data: bytes, write_id: str, *, replace: bool) -> bool:
        if replace:
            self._files.write(self._tenant, path, data)
            return True
        try:
            self._files.create(self._tenant, path, data, write_id)
        except FileExists:
            return False
        return True
