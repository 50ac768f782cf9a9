"""File paths: they are relative, and only the normalised spelling is accepted (design §7).

A path with another spelling is refused, not corrected. So the store uses exactly the path that a person has approved.
"""

MAX_PATH_BYTES = 1_024


class PathRefused(ValueError):
    """The message says which rule the path breaks."""


def check_path(path: str) -> str:
    """Returns the path of a file unchanged. Raises PathRefused."""
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
    """Returns the prefix of all paths in a folder: the path with one / at its end; for the root ('', '.' or '/') ''.

    Raises PathRefused.
    """
    if path in ("", ".", "/", "./"):
        return ""
    return check_path(path.removesuffix("/")) + "/"
