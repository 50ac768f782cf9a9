"""Made by `make generate` from `shared/acta_engine/untrusted/path.py`: change that, not this file."""

# ruff: noqa: E501
# fmt: off
import re
import unicodedata

from acta.tools.call import FileRefused as PathRefused

NUMBER_FORMATS = ((255, '\\x{:02x}'), (65535, '\\u{:04x}'), (1114111, '\\U{:08x}'))
SHORT_ESCAPES = {'\n': '\\n', '\r': '\\r', '\t': '\\t'}
BLANK_LETTERS = '\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d\ufe0e\ufe0f\uffa0\U000e0100\U000e0101\U000e0102\U000e0103\U000e0104\U000e0105\U000e0106\U000e0107\U000e0108\U000e0109\U000e010a\U000e010b\U000e010c\U000e010d\U000e010e\U000e010f\U000e0110\U000e0111\U000e0112\U000e0113\U000e0114\U000e0115\U000e0116\U000e0117\U000e0118\U000e0119\U000e011a\U000e011b\U000e011c\U000e011d\U000e011e\U000e011f\U000e0120\U000e0121\U000e0122\U000e0123\U000e0124\U000e0125\U000e0126\U000e0127\U000e0128\U000e0129\U000e012a\U000e012b\U000e012c\U000e012d\U000e012e\U000e012f\U000e0130\U000e0131\U000e0132\U000e0133\U000e0134\U000e0135\U000e0136\U000e0137\U000e0138\U000e0139\U000e013a\U000e013b\U000e013c\U000e013d\U000e013e\U000e013f\U000e0140\U000e0141\U000e0142\U000e0143\U000e0144\U000e0145\U000e0146\U000e0147\U000e0148\U000e0149\U000e014a\U000e014b\U000e014c\U000e014d\U000e014e\U000e014f\U000e0150\U000e0151\U000e0152\U000e0153\U000e0154\U000e0155\U000e0156\U000e0157\U000e0158\U000e0159\U000e015a\U000e015b\U000e015c\U000e015d\U000e015e\U000e015f\U000e0160\U000e0161\U000e0162\U000e0163\U000e0164\U000e0165\U000e0166\U000e0167\U000e0168\U000e0169\U000e016a\U000e016b\U000e016c\U000e016d\U000e016e\U000e016f\U000e0170\U000e0171\U000e0172\U000e0173\U000e0174\U000e0175\U000e0176\U000e0177\U000e0178\U000e0179\U000e017a\U000e017b\U000e017c\U000e017d\U000e017e\U000e017f\U000e0180\U000e0181\U000e0182\U000e0183\U000e0184\U000e0185\U000e0186\U000e0187\U000e0188\U000e0189\U000e018a\U000e018b\U000e018c\U000e018d\U000e018e\U000e018f\U000e0190\U000e0191\U000e0192\U000e0193\U000e0194\U000e0195\U000e0196\U000e0197\U000e0198\U000e0199\U000e019a\U000e019b\U000e019c\U000e019d\U000e019e\U000e019f\U000e01a0\U000e01a1\U000e01a2\U000e01a3\U000e01a4\U000e01a5\U000e01a6\U000e01a7\U000e01a8\U000e01a9\U000e01aa\U000e01ab\U000e01ac\U000e01ad\U000e01ae\U000e01af\U000e01b0\U000e01b1\U000e01b2\U000e01b3\U000e01b4\U000e01b5\U000e01b6\U000e01b7\U000e01b8\U000e01b9\U000e01ba\U000e01bb\U000e01bc\U000e01bd\U000e01be\U000e01bf\U000e01c0\U000e01c1\U000e01c2\U000e01c3\U000e01c4\U000e01c5\U000e01c6\U000e01c7\U000e01c8\U000e01c9\U000e01ca\U000e01cb\U000e01cc\U000e01cd\U000e01ce\U000e01cf\U000e01d0\U000e01d1\U000e01d2\U000e01d3\U000e01d4\U000e01d5\U000e01d6\U000e01d7\U000e01d8\U000e01d9\U000e01da\U000e01db\U000e01dc\U000e01dd\U000e01de\U000e01df\U000e01e0\U000e01e1\U000e01e2\U000e01e3\U000e01e4\U000e01e5\U000e01e6\U000e01e7\U000e01e8\U000e01e9\U000e01ea\U000e01eb\U000e01ec\U000e01ed\U000e01ee\U000e01ef'
IN_DATA = '(\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f|[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff][\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]?(?:\u200d[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]?)*|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=[\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06df-\u06ef\u06fa-\u06ff\u0710-\u077f\u07ca-\u07f5\u0840-\u088e\u0898-\u08e1\u08e3-\u0963\u0971-\u0de5\u0df2\u0df3\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa\u1a20-\u1aad\u1b00-\u1bff\ua800-\ua8ff\ua980-\uaadf\ufb50-\ufdff\ufe70-\ufefc\U00010d00-\U00010d3f\U00011000-\U000110bc\U000110c2-\U00011fff\U0001e900-\U0001e95f])[\u200c\u200d](?![\u200c\u200d])|(?<=[0-9A-Za-z\u0660-\u0669\u06f0-\u06f9])\u200c(?=[\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06df-\u06ef\u06fa-\u06ff\u0710-\u077f\u07ca-\u07f5\u0840-\u088e\u0898-\u08e1\u08e3-\u0963\u0971-\u0de5\u0df2\u0df3\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa\u1a20-\u1aad\u1b00-\u1bff\ua800-\ua8ff\ua980-\uaadf\ufb50-\ufdff\ufe70-\ufefc\U00010d00-\U00010d3f\U00011000-\U000110bc\U000110c2-\U00011fff\U0001e900-\U0001e95f])|(?<=[\u0e01-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17fa\u1950-\u19ff\u1a20-\u1aad])\u200b(?=[\u0e01-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17fa\u1950-\u19ff\u1a20-\u1aad])|(?<=[\u3400-\u9fff\U00020000-\U000323af])[\ufe00-\ufe02\U000e0100-\U000e011f]|(?<=[\u1820-\u18aa])(?:[\u180b-\u180d\u180f]|\u180e(?=[\u1820-\u18aa]))|[\u0600-\u0605\u06dd\u08e2](?=[\u0660-\u0669\u06f0-\u06f9]))'
MAX_PATH_BYTES = 1024
PRIVATE = '~/'
ENCODED = re.compile('%[0-9A-Fa-f]{2}')
CONTROL = re.compile('[\x00-\x1f\x7f-\x9f\ud800-\udfff]')
SPELLED = {160: ' ', 5760: ' ', 8192: ' ', 8193: ' ', 8194: ' ', 8195: ' ', 8196: ' ', 8197: ' ', 8198: ' ', 8199: ' ', 8200: ' ', 8201: ' ', 8202: ' ', 8239: ' ', 8287: ' ', 12288: ' ', 1564: None, 8206: None, 8207: None}


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
