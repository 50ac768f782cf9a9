"""What `list_files` says."""

from collections.abc import Iterator

from shared.adapters.tools.refusals import usable_folder
from shared.domain.errors import ToolFailed
from shared.ports.files import FileInfo, FileStore

MAX_ENTRIES = 500
MAX_SCANNED = 5_000
"""Files looked at to find the folders of one level."""
PAGE = 1_000


def list_files(files: FileStore, tenant: str, path: str, recursive: bool) -> str:
    """A line that counts, then one per entry, files with their size. Paths are whole ones, from the top."""
    folder = usable_folder(path)
    sizes: dict[str, int] = {}
    folders: set[str] = set()
    more = False
    for scanned, file in enumerate(files_under(files, tenant, folder)):
        if scanned == MAX_SCANNED or len(sizes) + (0 if recursive else len(folders)) > MAX_ENTRIES:
            more = True
            break
        parts = file.path.removeprefix(folder).split("/")
        depths = range(1, len(parts)) if recursive else range(1, min(2, len(parts)))
        folders |= {folder + "/".join(parts[:depth]) + "/" for depth in depths}
        if recursive or len(parts) == 1:
            sizes[file.path] = file.bytes
    if not sizes and not folders:
        return _nothing(files, tenant, folder)
    shown = sorted([*sizes, *(() if recursive else folders)])
    head = f"{_count(len(sizes), 'file')}, {_count(len(folders), 'folder')} in /{folder}:"
    if more or len(shown) > MAX_ENTRIES:
        shown = shown[:MAX_ENTRIES]
        head = (
            f"{_count(len(shown), 'entry', 'entries')} of more in /{folder}; list a folder to see the others:"
        )
    return "\n".join(
        [head, *(f"{name}  {_count(sizes[name], 'byte')}" if name in sizes else name for name in shown)]
    )


def files_under(files: FileStore, tenant: str, folder: str) -> Iterator[FileInfo]:
    """Page by page, as far as the caller goes on asking."""
    cursor = None
    while True:
        page = files.list(tenant, folder, PAGE, cursor)
        yield from page.files
        cursor = page.cursor
        if cursor is None:
            return


def _nothing(files: FileStore, tenant: str, folder: str) -> str:
    name = folder.removesuffix("/")
    if name and any(file.path == name for file in files.list(tenant, name, 1).files):
        raise ToolFailed(f"{name} is a file, not a folder. Use read_file to see what is in it.")
    return f"No files in /{folder}."


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
