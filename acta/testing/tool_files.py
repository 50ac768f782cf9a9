"""The files that a Python tool of a test reaches: the tenant's, in memory."""

from acta.tools.call import File
from acta.tools.errors import FileRefused
from shared.domain.untrusted.path import PathRefused, check_new_path
from shared.ports.files import FileExists, FileMissing, FileStore

MOST_FILES = 1_000


class ToolFiles:
    """`acta.tools.call.Files` on a store. `user`: whose private files it reaches; None: nobody's. `writes`: whether the
    tool was declared with `files="write"`.
    """

    def __init__(self, store: FileStore, tenant: str, user: str | None, *, writes: bool) -> None:
        self._store = store.seen_by(user)
        self._tenant = tenant
        self._writes = writes

    def list(self, folder: str = "") -> list[File]:
        prefix = f"{folder.rstrip('/')}/" if folder else ""
        page = self._store.list(self._tenant, prefix, MOST_FILES)
        return [File(each.path, each.bytes) for each in page.files]

    def read_text(self, path: str) -> str:
        try:
            return self.read_bytes(path).decode()
        except UnicodeDecodeError:
            raise FileRefused(f"{path} is no text") from None

    def read_bytes(self, path: str) -> bytes:
        try:
            return self._store.read(self._tenant, path)
        except FileMissing:
            raise FileRefused(f"there is no file {path}") from None
        except PathRefused as refused:
            raise FileRefused(str(refused)) from None

    def write_text(self, path: str, text: str, *, replace: bool = False) -> None:
        self.write_bytes(path, text.encode(), replace=replace)

    def write_bytes(self, path: str, data: bytes, *, replace: bool = False) -> None:
        if not self._writes:
            raise FileRefused('this tool writes no files: it was declared with files="read"')
        try:
            check_new_path(path)
            if replace:
                self._store.write(self._tenant, path, data)
            else:
                self._store.create(self._tenant, path, data)
        except FileExists:
            raise FileRefused(f"there is a file {path} already") from None
        except PathRefused as refused:
            raise FileRefused(str(refused)) from None
