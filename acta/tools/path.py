"""Made by `make generate` from `acta/engine/untrusted/path.py`: change that, not this file."""

# ruff: noqa: E501
# fmt: off
import re
import unicodedata

from acta.tools.call import FileRefused as PathRefused

NUMBER_FORMATS = ((0xFF, "\\x{:02x}"), (0xFFFF, "\\u{:04x}"), (0x10FFFF, "\\U{:08x}"))
SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
BLANK_LETTERS = frozenset( "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0" + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))) )
IN_DATA = '(\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f|[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff][\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]?(?:\u200d[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]?)*|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=[\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06df-\u06ef\u06fa-\u06ff\u0710-\u077f\u07ca-\u07f5\u0840-\u088e\u0898-\u08e1\u08e3-\u0963\u0971-\u0de5\u0df2\u0df3\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa\u1a20-\u1aad\u1b00-\u1bff\ua800-\ua8ff\ua980-\uaadf\ufb50-\ufdff\ufe70-\ufefc\U00010d00-\U00010d3f\U00011000-\U000110bc\U000110c2-\U00011fff\U0001e900-\U0001e95f])[\u200c\u200d](?![\u200c\u200d])|(?<=[0-9A-Za-z\u0660-\u0669\u06f0-\u06f9])\u200c(?=[\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06df-\u06ef\u06fa-\u06ff\u0710-\u077f\u07ca-\u07f5\u0840-\u088e\u0898-\u08e1\u08e3-\u0963\u0971-\u0de5\u0df2\u0df3\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa\u1a20-\u1aad\u1b00-\u1bff\ua800-\ua8ff\ua980-\uaadf\ufb50-\ufdff\ufe70-\ufefc\U00010d00-\U00010d3f\U00011000-\U000110bc\U000110c2-\U00011fff\U0001e900-\U0001e95f])|(?<=[\u0e01-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17fa\u1950-\u19ff\u1a20-\u1aad])\u200b(?=[\u0e01-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17fa\u1950-\u19ff\u1a20-\u1aad])|(?<=[\u3400-\u9fff\U00020000-\U000323af])[\ufe00-\ufe02\U000e0100-\U000e011f]|(?<=[\u1820-\u18aa])(?:[\u180b-\u180d\u180f]|\u180e(?=[\u1820-\u18aa]))|[\u0600-\u0605\u06dd\u08e2](?=[\u0660-\u0669\u06f0-\u06f9]))'
MAX_PATH_BYTES = 1_024
PRIVATE = "~/"
ENCODED = re.compile("%[0-9A-Fa-f]{2}")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
SPELLED = { **dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "), **dict.fromkeys((0x61C, 0x200E, 0x200F)), }


def is_hidden(char: str, keep_newlines: bool) -> bool:
    """Whether the character by itself can move the cursor or make text look like other text: controls, invisible
    formatting such as bidirectional overrides, surrogates, private use, separators other than space, and characters
    that are newer than this Python.
    """
    if char == "\n":
        return not keep_newlines
    return not char.isprintable() or char in BLANK_LETTERS


def escape(char: str) -> str:
    """The escape of one character, as in a Python string."""
    number = ord(char)
    return SHORT_ESCAPES.get(char) or next(
        form.format(number) for top, form in NUMBER_FORMATS if number <= top
    )


def hidden_in(text: str) -> str | None:
    """The first hidden character of a text that is data."""
    rest = "".join(re.split(IN_DATA, text)[::2])
    return next((char for char in rest if is_hidden(char, keep_newlines=False)), None)


def spelled(path: str) -> str:
    """The one spelling of a path. A program must use it before it looks at anything else of the path."""
    if not path.isascii():
        path = unicodedata.normalize("NFC", path.translate(SPELLED))
    path = "/".join([part.strip(" ") for part in path.split("/")])
    # Office names the file of whoever has a document open so. A name at the top that begins with ~ is a person's.
    return f"_{path[1:]}" if path.startswith("~$") else path


def check_path(path: str) -> str:
    """Returns the one spelling of a file's path. Raises PathRefused."""
    if (
        len(path) > 4 * MAX_PATH_BYTES
        or len((path := spelled(path)).encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES
    ):
        raise PathRefused(f"the path is longer than {MAX_PATH_BYTES} bytes")
    if not path:
        raise PathRefused("the path is empty")
    if wrong := CONTROL.search(path):
        kind = (
            "the control character" if wrong[0] < "\ud800" else "half a character that is no valid Unicode,"
        )
        raise PathRefused(f"the path has {kind} {escape(wrong[0])}; leave it out")
    if "\\" in path:
        raise PathRefused("the path has a backslash; separate folders by /, and leave it out of names")
    if encoded := ENCODED.search(path):
        raise PathRefused(
            f"the path has a percent sign before two hexadecimal digits ({encoded[0]}), as addresses encode a "
            "character; write the character itself, or leave the percent sign out"
        )
    if path.startswith("/"):
        raise PathRefused("the path is absolute; write it without the leading /")
    parts = path.split("/")
    if any(part in (".", "..") for part in parts):
        raise PathRefused("the path has a . or .. part; write it from the top, such as reports/may.md")
    if any(part == "" for part in parts):
        raise PathRefused("the path has an empty part (// or a trailing /)")
    return path


def check_shown_path(path: str) -> str:
    """As `check_path`, and the path has no hidden characters, so that whoever decides on it sees what it is. Raises
    PathRefused."""
    path = check_path(path)
    if path.isascii() and path.isprintable():
        return path
    hidden = hidden_in(path)
    if hidden is not None:
        name = unicodedata.name(hidden, "no name")
        raise PathRefused(f"the path has the hidden character {escape(hidden)} ({name}); leave it out")
    return path


def check_new_path(path: str) -> str:
    """As `check_shown_path`, and a new path that begins with `~` is private. Raises PathRefused."""
    path = check_shown_path(path)
    if path.startswith("~") and not path.startswith(PRIVATE):
        raise PathRefused(
            "the path begins with ~; private files are ~/name, and no other name of a new file begins so"
        )
    return path


def check_folder(path: str) -> str:
    """Returns the prefix of all paths in a folder: the path with one / at its end; for the root ('', '.' or '/') ''.

    Raises PathRefused.
    """
    if path in ("", ".", "/", "./"):
        return ""
    return check_path(path.removesuffix("/")) + "/"
