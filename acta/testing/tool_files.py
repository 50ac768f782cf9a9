"""The files that a Python tool of a test reaches: the tenant's, in memory, by the rules of those in S3
(`acta/tools/files.py`).
"""

import hashlib

from acta.tools.call import File
from acta.tools.errors import FileRefused
from acta.tools.paths import PRIVATE, check_folder, check_new_path, check_path
from shared.ports.files import FileExists, FileMissing, FileStore

MOST_FILES = 1_000
MOST_BYTES = 4_194_304
"""`max_file_bytes` of an environment that says nothing else."""


class ToolFiles:
    """`acta.tools.call.Files` on a store. `user`: whose private files it reaches; None: nobody's. `effect_id`: a
    repeated call writes the same file once. `writes`: whether the tool was declared with `files="write"`.
    """

    def __init__(
        self, store: FileStore, tenant: str, user: str | None, effect_id: str, *, writes: bool
    ) -> None:
        self._store = store.seen_by(user)
        self._tenant = tenant
        self._user = user
        self._effect_id = effect_id
        self._writes = writes

    def list(self, folder: str = "") -> list[File]:
        prefix = self._reached(check_folder(folder))
        return [
            File(each.path, each.bytes) for each in self._store.list(self._tenant, prefix, MOST_FILES).files
        ]

    def read_text(self, path: str) -> str:
        try:
            return self.read_bytes(path).decode()
        except UnicodeDecodeError:
            raise FileRefused(f"{path} is not text in UTF-8.") from None

    def read_bytes(self, path: str) -> bytes:
        try:
            return self._store.read(self._tenant, self._reached(check_path(path)))
        except FileMissing:
            raise FileRefused(f"there is no file {path}.") from None

    def write_text(self, path: str, text: str, *, replace: bool = False) -> None:
        self.write_bytes(path, text.encode(), replace=replace)

    def write_bytes(self, path: str, data: bytes, *, replace: bool = False) -> None:
        if not self._writes:
            raise FileRefused('this tool only reads files. Its writer has to say @tool(files="write").')
        if len(data) > MOST_BYTES:
            raise FileRefused(f"{path} would have {len(data):,} bytes, a file at most {MOST_BYTES:,}.")
        self._reached(check_new_path(path))
        if replace:
            self._store.write(self._tenant, path, data)
            return
        try:
            write_id = f"{self._effect_id}/{hashlib.sha256(data).hexdigest()[:16]}"
            self._store.create(self._tenant, path, data, write_id)
        except FileExists:
            raise FileRefused(f"there is a file {path} already.") from None

    def _reached(self, path: str) -> str:
        if path.startswith(PRIVATE) and self._user is None:
            raise FileRefused(
                "~/ holds one person's private files, which only a session of theirs with visibility private reaches."
            )
        return path
