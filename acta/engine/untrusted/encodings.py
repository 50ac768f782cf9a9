"""Bytes of others become text: in the encoding that they declare, else in one that is guessed with care (ADR 173).

What counts, in this order: a byte order mark; the encoding that the sender names; one that XML, HTML, CSS or the source
of a program names of itself; UTF-8, where the bytes are valid; then a guess. A guess looks at some thousand bytes,
however large the text is, so its work is bounded, and the same bytes always give the same answer. Whoever shows the
text says what it was read as.

Names of encodings and their labels are those of the WHATWG encoding standard, which also says that a label such as
`iso-8859-1` means windows-1252 (https://encoding.spec.whatwg.org/#names-and-labels).
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from encodings import normalize_encoding
from encodings.aliases import aliases
from typing import NamedTuple

from acta.engine.untrusted.visible import well_formed


class NotText(ValueError):
    """The message is what the bytes are, such as `a PNG image`."""


class DecodedText(NamedTuple):
    """`encoding`: its name in `ENCODINGS`. `how`: why it was taken; empty: nothing needs to be said of it. `mark`: the
    byte order mark, which is not in the text.
    """

    text: str
    encoding: str = "UTF-8"
    how: str = ""
    mark: bytes = b""

    @property
    def note(self) -> str:
        """What a reader of the text has to know, between brackets; empty where there is nothing."""
        said = []
        if self.how:
            lost = self.text.count(LOST)
            said = [f"read as {self.encoding}, {self.how}"]
            said += [f"U+FFFD stands {lost} times for bytes that are not valid in it"] if lost else []
        zeros = self.text.count("\0")
        said += [f"{zeros} zero {'byte' if zeros == 1 else 'bytes'} (U+0000) in it"] if zeros else []
        return f"[{'; '.join(said)}]" if said else ""

    def encode(self, text: str, was: bytes = b"") -> bytes:
        """Another text as bytes of the same kind, with the same mark. `was`: the bytes whose place they take; a line of
        theirs with U+FFFD for some that are not valid is kept to the byte. Raises UnicodeEncodeError.
        """
        text = text.removeprefix("\ufeff" * bool(self.mark))
        kept = _with_lost(text, was[len(self.mark) :], self.encoding) if LOST in text else text
        return self.mark + _encoded(kept, self.encoding)


LOST = "\ufffd"
NOT_KEPT = "bytes that are not valid cannot be kept"
"""The reason of an error of `DecodedText.encode`."""
MARKS = (
    (b"\xef\xbb\xbf", "UTF-8"),
    (b"\xff\xfe\0\0", "UTF-32LE"),
    (b"\0\0\xfe\xff", "UTF-32BE"),
    (b"\xff\xfe", "UTF-16LE"),
    (b"\xfe\xff", "UTF-16BE"),
)
BY_MARK = "as its byte order mark says; the mark is not shown"
BY_ITSELF = "as it says of itself"
AS_ASKED = "as asked"
GUESSED = "which is a guess"
DOUBTED = "though its label says otherwise"

ISO_EXTRA = {
    6: "csiso88596e csiso88596i iso_8859_6_e iso_8859_6_i",
    7: "sun_eu_greek",
    8: "csiso88598e csiso88598i iso_8859_8_e iso_8859_8_i visual logical",
    15: "csisolatin9",
}
ENCODINGS: Mapping[str, str] = {
    "UTF-8": "utf_8 unicode_1_1_utf_8 unicode11utf8 unicode20utf8 x_unicode20utf8",
    "UTF-16LE": "utf_16_le utf_16 unicode csunicode iso_10646_ucs_2 ucs_2 unicodefeff",
    "UTF-16BE": "utf_16_be unicodefffe",
    "IBM866": "cp866",
    **{
        f"ISO-8859-{n}": f"iso8859_{n} iso8859{n} {ISO_EXTRA.get(n, '')}"
        for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)
    },
    "KOI8-R": "koi8_r koi koi8",
    "KOI8-U": "koi8_u koi8_ru",
    "macintosh": "mac_roman mac csmacintosh x_mac_roman",
    "x-mac-cyrillic": "mac_cyrillic x_mac_cyrillic x_mac_ukrainian",
    "windows-874": "cp874 iso8859_11 tis_620 dos_874 windows_874 iso885911",
    **{f"windows-{n}": f"cp{n} x_cp{n}" for n in (1250, 1251, 1253, 1255, 1256, 1257, 1258)},
    "windows-1252": "cp1252 latin_1 ascii iso88591 x_cp1252",
    "windows-1254": "cp1254 iso8859_9 iso88599 x_cp1254",
    "GB18030": "gb18030 gbk gb2312 gb_2312 gb_2312_80 csgb2312 x_gbk",
    "Big5": "big5hkscs big5 cp950 cn_big5 x_x_big5",
    "EUC-JP": "euc_jis_2004 euc_jp cseucpkdfmtjapanese x_euc_jp",
    "ISO-2022-JP": "iso2022_jp",
    "Shift_JIS": "cp932 shift_jis windows_31j x_sjis",
    "EUC-KR": "cp949 euc_kr cseuckr csksc56011987 iso_ir_149 ks_c_5601_1989 ksc_5601 windows_949",
    "UTF-32LE": "utf_32_le utf_32",
    "UTF-32BE": "utf_32_be",
    **{
        f"IBM{n}": f"cp{n}"
        for n in ("037", 437, 500, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 869)
    },
}
"""By name: first Python's codec, which takes all that the standard's does, then other names and labels that Python does
not know. `hz` and `iso-2022-kr` are missing, as the standard lets nobody read them. The last ones are not the
standard's: spreadsheets still write the code pages of DOS, and mainframes their own.
"""
MAX_LABEL_CHARS = 60
LABELS = {label: name for name, labels in ENCODINGS.items() for label in labels.split()}
_IN_MARKUP = re.compile(
    rb"""<(?:\?xml|meta)\s[^>]{0,300}?(?:encoding|charset)\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_IN_SOURCE = re.compile(
    rb"""(?:\A@charset "|^\#[^\n]{0,20}?(?:-\*-|vim?:)[^\n]{0,60}?coding[:=][ ]?|"""
    rb"""^\#[ \t]*(?:file)?(?:en)?coding[:=][ ]?(?=[\w.:-]{1,40}[ \t\r]*$))([\w.:-]{1,40})""",
    re.MULTILINE,
)
"""As editors and Python write it. A heading or a comment that has more words says nothing of its own file."""
_CHARSET = re.compile(r""";\s{0,9}charset\s{0,9}=\s{0,9}["']?([^\s"';,]{1,60})""", re.IGNORECASE)
LOOKED_AT = 1_024
"""So many bytes at the beginning may have a name of their encoding."""

KINDS = (
    (0, b"\x89PNG", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF87a", "a GIF image"),
    (0, b"GIF89a", "a GIF image"),
    (8, b"WEBP", "a WebP image"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (4, b"ftyp", "a video, or an image in HEIF or AVIF"),
    (8, b"WAVE", "a WAV sound"),
    (0, b"ID3\3", "an MP3 sound"),
    (0, b"ID3\4", "an MP3 sound"),
    (0, b"OggS\0", "an Ogg sound or video"),
    (0, b"fLaC\0", "a FLAC sound"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"PK\x03\x04", "a ZIP archive or an office document"),
    (0, b"\xd0\xcf\x11\xe0", "an office document of an old kind"),
    (0, b"\x1f\x8b", "gzip-compressed data"),
    (4, b"1AY&SY", "bzip2-compressed data"),
    (0, b"\xfd7zXZ", "xz-compressed data"),
    (0, b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
    (0, b"7z\xbc\xaf", "a 7z archive"),
    (0, b"Rar!\x1a", "a RAR archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"PAR1\x15", "a Parquet table"),
    (0, b"\x7fELF", "a program"),
    (0, b"\0asm", "a WebAssembly program"),
)
"""What bytes are that have these at this offset and are not valid UTF-8."""
_CONTROLS = bytes(sorted({*range(32), 127} - set(b"\0\t\n\v\f\r\b\x1b")))
"""But for the zero byte, which is counted by itself, and those that texts and terminals have."""
_LETTERS = b" abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def decoded(data: bytes, label: str = "", *, is_json: bool = False) -> DecodedText:
    """`label`: the encoding that the sender names, such as the `charset` of a Content-Type. One that is unknown, or
    that the bytes contradict, does not count. `is_json`: the sender says that it is JSON, which is UTF-8 whatever a
    label says (RFC 8259). Raises NotText.
    """
    for mark, name in MARKS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(codec_of(name), "replace")
            if text.count(LOST) <= 3 + len(text) // 100:
                return DecodedText(_with_halves(data[len(mark) :], name), name, BY_MARK, mark)
    plain = _plain(data)
    if plain is None:
        for offset, magic, kind in KINDS:
            if data.startswith(magic, offset):
                raise NotText(kind)
    given, own = named(label), named(_own_label(data))
    if own.startswith("UTF-16"):  # what could be read as ASCII so far is no UTF-16
        own = ""
    if given.startswith("UTF-16") and _has_narrow_characters(data):
        given = ""
    doubt = ""
    if plain is not None and given == "windows-1252" != own:
        # Programs write this label of themselves. But each other character is then one of "Ã¶", "â‚¬" and the like.
        beyond = len(plain) - len(plain.encode("ascii", "ignore"))
        is_told = is_json or aliases.get(_key(label), _key(label)) == "ascii"
        if beyond >= (1 if is_told else 2):
            given, doubt = "", "" if is_told else DOUBTED
    for name, how in (given, ""), (own, BY_ITSELF):
        declared = _strictly(data, name)
        if declared is not None:
            return DecodedText(declared, name, how if name != "UTF-8" else "")
    if plain is None:
        return _guessed(data, given)
    mail = _strictly(data, "ISO-2022-JP") if b"\x1b$B" in data and b"\x1b(" in data else None
    return DecodedText(plain, how=doubt) if mail is None else DecodedText(mail, "ISO-2022-JP", GUESSED)


def decoded_as(data: bytes, label: str) -> DecodedText:
    """In the encoding that somebody who knows better names. Raises NotText."""
    name = named(label)
    if not name:
        raise NotText(
            f"not read: {label[:MAX_LABEL_CHARS]!a} is no encoding that is known here, such as windows-1250"
        )
    # who says UTF-16 may not know the order of its bytes, which a mark tells
    marks = ((mark, of) for mark, of in MARKS if data.startswith(mark) and of[:6] == name[:6])
    mark, name = next(marks, (b"", name))
    return DecodedText(_with_halves(data[len(mark) :], name), name, AS_ASKED, mark)


def own_label(text: str) -> str:
    """What a text calls its encoding, where its bytes can be in that; empty: it names none that is known, or UTF-16."""
    label = _own_label(text[:LOOKED_AT].encode("utf-8", "replace"))
    return "" if named(label)[:6] in ("", "UTF-16", "UTF-32") else label


def check_own_label(text: str, label: str) -> None:
    """Raises UnicodeEncodeError for a character that the encoding of that label lacks by its own standard. Readers of
    XML and of sources take the label literally; only browsers read `iso-8859-1` as windows-1252, which has more.
    """
    if text.lstrip().startswith(("#", "<?xml")):
        with suppress(LookupError):
            text.encode(label)


def label_in(content_type: str) -> str:
    """The `charset` of a Content-Type; empty where it has none."""
    found = _CHARSET.search(content_type)
    return found[1] if found else ""


def _key(label: str) -> str:
    return normalize_encoding(label.strip(" \t\r\n\f\"'").lower()) if len(label) <= MAX_LABEL_CHARS else ""


def named(label: str) -> str:
    """The name of the encoding that a label means; empty for a label that is unknown."""
    key = _key(label)
    return LABELS.get(key) or LABELS.get(aliases.get(key, ""), "")


def codec_of(name: str) -> str:
    """Python's codec for an encoding, by its name in `ENCODINGS`."""
    return ENCODINGS[name].split()[0]


def _plain(data: bytes) -> str | None:
    """The text, where it is valid UTF-8 without zero bytes: about that, nothing is guessed."""
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


def _own_label(data: bytes) -> str:
    """The encoding that the text names of itself, in its first lines."""
    head = data[:LOOKED_AT].lstrip()
    found = None
    if head.startswith(b"<"):
        found = _IN_MARKUP.search(head)
    elif head.startswith((b"#", b"@charset")):
        found = _IN_SOURCE.search(b"\n".join(head.split(b"\n", 2)[:2]))
    return found[1].decode("ascii", "ignore") if found else ""


def _strictly(data: bytes, name: str) -> str | None:
    """The text in an encoding that was named, where all bytes are valid in it and it looks like a text."""
    if not name:
        return None
    big = name == "UTF-16LE" and data[:1] == b"\0"  # the label `utf-16` says nothing of the order
    try:
        # Programs whose texts are UTF-16 inside write halves of surrogate pairs into UTF-8, too.
        errors = "surrogatepass" if name == "UTF-8" else "strict"
        text = well_formed(data.decode(codec_of("UTF-16BE" if big else name), errors))
    except UnicodeDecodeError:
        return None
    return None if _is_binary(text) else text


def _with_halves(data: bytes, name: str) -> str:
    """The text with U+FFFD for what is not valid. If only halves of surrogate pairs are not, these are escaped."""
    try:
        return well_formed(data.decode(codec_of(name), "surrogatepass"))
    except UnicodeDecodeError:
        return data.decode(codec_of(name), "replace")


def _encoded(text: str, name: str) -> bytes:
    """Raises UnicodeEncodeError."""
    if name == "EUC-JP":  # the codec that reads all of it writes rare kanji in bytes that few can read
        with suppress(UnicodeEncodeError):
            return text.encode("euc_jp", "surrogateescape")
    return text.encode(codec_of(name), "surrogateescape")


def _with_lost(text: str, was: bytes, name: str) -> str:
    """The text with each byte that is not valid in `was` as half of a surrogate pair (`surrogateescape`) in its lines
    that `was` has, too. Raises UnicodeEncodeError for another one with U+FFFD, unless all of `was` is valid.
    """
    shown, raw, is_exact = was.decode(codec_of(name), "replace"), "", False
    with suppress(UnicodeError):  # such halves do not exist in UTF-16
        raw = was.decode(codec_of(name), "surrogateescape")
        if raw == shown:
            return text
        is_exact = _encoded(raw, name) == was
    kept: dict[str, set[str]] = {}
    for line, its_raw in zip(shown.split("\n"), raw.split("\n"), strict=False):
        if is_exact and LOST in line:
            kept.setdefault(line.rstrip("\r"), set()).add(its_raw.rstrip("\r"))
    at, lines = 0, []
    for line in text.split("\n"):
        words = line.rstrip("\r")
        found = kept.get(words, set()) if LOST in words else {words}
        if len(found) != 1:
            at += words.index(LOST)
            raise UnicodeEncodeError(name, text, at, at + 1, NOT_KEPT)
        lines.append(next(iter(found)) + line[len(words) :])
        at += len(line) + 1
    return "\n".join(lines)


def _has_narrow_characters(data: bytes) -> bool:
    """Whether it cannot be UTF-16: no byte is zero, and most are English letters and blanks."""
    letters = len(data) - len(data.translate(None, _LETTERS))
    return len(data) >= 16 and b"\0" not in data and letters * 2 > len(data)


def _is_binary(text: str) -> bool:
    """Whether it has more control characters than a text has. A few zero bytes make no binary data of a log."""
    data = text.encode("utf-8", "replace")
    controls, zeros = len(data) - len(data.translate(None, _CONTROLS)), data.count(0)
    return controls > 1 + len(data) // 500 or zeros > min(len(data) / 10, 8 + len(data) / 200)


def _guessed(data: bytes, given: str) -> DecodedText:
    """Raises NotText."""
    from acta.engine.untrusted.encoding_guess import best_guess, wide_by_zeros

    name = wide_by_zeros(data)
    if name is None:
        valid = _strictly(data, "UTF-8")
        if valid is not None:
            return DecodedText(valid)
    # it may be what it was labelled as, or UTF-8, but for a few bytes wherever they stand
    for likely, how in (given, "as it is labelled"), ("" if name else "UTF-8", GUESSED):
        text = data.decode(codec_of(likely), "replace") if likely else ""
        lost, beyond = text.count(LOST), sum(char > "\x7f" for char in text)
        few = lost * 10 < beyond
        if likely == "UTF-8" and not few:
            # One damaged character in English has few others beyond ASCII beside it. The bytes that follow the first
            # one of a character are hardly ever right by chance, so as many of them speak for UTF-8.
            followers = len(text.encode()) - len(text) - 2 * lost
            few = 0 < lost <= min(followers, 3 + len(text) // 100)
        if few and not _is_binary(text):
            return DecodedText(text, likely, how)
    name = name or best_guess(data)
    if name is not None:
        text = data.decode(codec_of(name), "replace")
        if text.count(LOST) <= 1 + len(text) // 20 and not _is_binary(text):
            return DecodedText(text, name, GUESSED)
    raise NotText("binary data, or text in an encoding that could not be guessed")
