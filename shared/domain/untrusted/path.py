"""File paths: relative, in their normalised spelling only (design §7).

A path that could be read two ways is refused, not repaired: what a person approves is what the store sees.
"""

MAX_PATH_BYTES = 1_024


class PathRefused(ValueError):
    """The message says which rule the path breaks."""


def check_path(path: str) -> str:
    """The path itself when it names a file; PathRefused otherwise."""
    if not path:
        raise PathRefused("the path is empty")
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        raise PathRefused(f"the path is longer than {MAX_PATH_BYTES} bytes")
    if any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000 for c in path):
        raise PathRefused("the path has a control character")
    if "\\" in path:
        raise PathRefused("the path has a backslash; folders are separated by /")
    if "%" in path:
        raise PathRefused("the path has a percent sign; write the character itself instead of its encoding")
    if path.startswith("/"):
        raise PathRefused("the path is absolute; write it without the leading /")
    parts = path.split("/")
    if any(part in (".", "..") for part in parts):
        raise PathRefused("the path has a . or .. part")
    if any(part == "" for part in parts):
        raise PathRefused("the path has an empty part (// or a trailing /)")
    if any(part != part.strip() for part in parts):
        raise PathRefused("a part of the path begins or ends with a space")
    return path


def check_folder(path: str) -> str:
    """A folder's prefix: '' for the root (also written `.` or `/`), else the checked path with one / at its end."""
    if path in ("", ".", "/", "./"):
        return ""
    return check_path(path.removesuffix("/")) + "/"
