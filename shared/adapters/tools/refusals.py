"""Why a file tool does not do what it was asked, and what to do instead."""

from itertools import islice

from shared.domain.errors import ToolFailed
from shared.domain.path import PathRefused, check_folder, check_path
from shared.ports.files import FileStore

MAX_COMPARED = 1_000
"""Files whose names are compared with a missing one."""
MAX_NEAR = 3

_KINDS = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
)


def usable_path(path: str) -> str:
    try:
        return check_path(path)
    except PathRefused as refused:
        raise ToolFailed(f"{refused}. Use a relative path such as reports/may.md.") from None


def usable_folder(path: str) -> str:
    try:
        return check_folder(path)
    except PathRefused as refused:
        raise ToolFailed(
            f"{refused}. Name a folder such as reports, or leave path out for the top."
        ) from None


def missing(files: FileStore, tenant: str, path: str) -> ToolFailed:
    near = near_names(files, tenant, path)
    hint = f"Near names: {', '.join(near)}." if near else "Use list_files to see which files there are."
    return ToolFailed(f"there is no file {path}. {hint}")


def near_names(files: FileStore, tenant: str, path: str) -> list[str]:
    """The same name in another folder first, then similar spellings, of whole paths or of names."""
    import difflib  # only a missing file pays for it

    listed = files.list(tenant, "", MAX_COMPARED).files
    paths = {file.path: file.path.rsplit("/", 1)[-1].casefold() for file in listed}
    name = path.rsplit("/", 1)[-1].casefold()
    same = [one for one, its_name in paths.items() if its_name == name]
    alike = difflib.get_close_matches(path, paths, MAX_NEAR, cutoff=0.6)
    names = difflib.get_close_matches(name, set(paths.values()), MAX_NEAR, cutoff=0.6)
    by_name = [one for wanted in names for one, its_name in paths.items() if its_name == wanted]
    return list(islice(dict.fromkeys([*same, *alike, *by_name]), MAX_NEAR))


def not_text(path: str, data: bytes) -> ToolFailed:
    kind = next((name for magic, name in _KINDS if data.startswith(magic)), "binary data, not UTF-8 text")
    return ToolFailed(f"{path} is {kind} ({len(data)} bytes). read_file reads UTF-8 text only.")
