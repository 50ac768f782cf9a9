"""Bytes that are read as text: what they declare counts, and what they do not declare is guessed with care."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acta.engine.untrusted.encoding_guess import MANY, SEARCHED_BYTES
from acta.engine.untrusted.encodings import (
    ENCODINGS,
    MARKS,
    DecodedText,
    NotText,
    codec_of,
    decoded,
    decoded_as,
    label_in,
    named,
    own_label,
)

LABELS = """
UTF-8: unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8
IBM866: 866 cp866 csibm866 ibm866
ISO-8859-2: csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
ISO-8859-3: csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
ISO-8859-4: csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
ISO-8859-5: csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
ISO-8859-6: arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i
  iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
ISO-8859-7: csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7
  iso_8859-7:1987 sun_eu_greek
ISO-8859-8: csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8
  iso_8859-8:1988 visual
ISO-8859-8: csiso88598i iso-8859-8-i logical
ISO-8859-10: csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6
ISO-8859-13: iso-8859-13 iso8859-13 iso885913
ISO-8859-14: iso-8859-14 iso8859-14 iso885914
ISO-8859-15: csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9
ISO-8859-16: iso-8859-16
KOI8-R: cskoi8r koi koi8 koi8-r koi8_r
KOI8-U: koi8-ru koi8-u
macintosh: csmacintosh mac macintosh x-mac-roman
windows-874: dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874
windows-1250: cp1250 windows-1250 x-cp1250
windows-1251: cp1251 windows-1251 x-cp1251
windows-1252: ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591
  iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252
windows-1253: cp1253 windows-1253 x-cp1253
windows-1254: cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5
  windows-1254 x-cp1254
windows-1255: cp1255 windows-1255 x-cp1255
windows-1256: cp1256 windows-1256 x-cp1256
windows-1257: cp1257 windows-1257 x-cp1257
windows-1258: cp1258 windows-1258 x-cp1258
x-mac-cyrillic: x-mac-cyrillic x-mac-ukrainian
GB18030: chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk
GB18030: gb18030
Big5: big5 big5-hkscs cn-big5 csbig5 x-x-big5
EUC-JP: cseucpkdfmtjapanese euc-jp x-euc-jp
ISO-2022-JP: csiso2022jp iso-2022-jp
Shift_JIS: csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis
EUC-KR: cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
UTF-16BE: unicodefffe utf-16be
UTF-16LE: csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le
"""
"""The names and labels of the WHATWG encoding standard; a line that begins with blanks goes on with the one before."""

TEXTS = {
    "windows-1252": [
        "Größe", "Name;Preis\r\nGröße;3\r\n", "naïve café, señor, Ærøskøbing", "äöüß", "Straße", "é", "São",
        "Il a été à l’école – « déjà »", "Preis: 5 €", "20 °C ± 3 §4 ½", "“quoted” — it’s…", "¡Hola! ¿Qué tal?",
        "Mañana será otro día", "Født på Åland", "STRASSE; GRÖSSE; ÜBER", "São Paulo, ação, coração",
    ],
    "windows-1250": [
        "Příliš žluťoučký kůň úpěl ďábelské ódy", "Zażółć gęślą jaźń; cena: 5 zł",
    ],
    "windows-1251": [
        "Привет, мир", "привет", "Имя;Цена\nХлеб;30\n", "Съешь ещё этих мягких французских булок", "Москва",
        "ПРИВЕТ МИР", "«Да» — сказал он", "Київ, Україна",
    ],
    "KOI8-R": [
        "Привет, мир", "привет", "Имя;Цена\nХлеб;30\n", "Съешь ещё этих мягких французских булок", "ПРИВЕТ МИР",
    ],
    "KOI8-U": [
        "Привіт, як справи?", "Їжак і ґанок; Київ",
    ],
    "IBM866": [
        "Привет, мир. Как дела?", "Имя;Цена\nХлеб;30\n",
    ],
    "Shift_JIS": [
        "こんにちは、世界", "日本語のテキスト", "名前,価格\nりんご,100\n", "カタカナ", "東京都", "表示",
        "ｶﾅﾃｽﾄ",
    ],
    "EUC-JP": [
        "こんにちは", "日本語のテキスト", "名前,価格\nりんご,100\n", "東京都,大阪府,京都府\n", "①㈱日本の会社",
    ],
    "GB18030": [
        "你好", "你好，世界", "名称;价格", "姓名,年龄\n张三,30\n李四,25\n", "北京市", "错误：文件不存在",
    ],
    "Big5": [
        "你好，世界", "名稱;價格", "姓名,年齡\n張三,30\n李四,25\n", "臺北市", "今天天氣很好。",
    ],
    "EUC-KR": [
        "안녕하세요", "이름,가격\n사과,100\n", "서울특별시", "한국어 텍스트입니다.",
    ],
    "UTF-16LE": [
        "Hello", "Größe\t3", "Привет, мир", "こんにちは、世界", "你好，世界\n", "a,b\r\n1,2\r\n",
    ],
    "UTF-16BE": [
        "Hello", "Größe\t3", "Привет, мир", "こんにちは、世界", "你好，世界\n", "a,b\r\n1,2\r\n",
    ],
}  # fmt: skip
CASES = [(name, text) for name, texts in TEXTS.items() for text in texts]


@pytest.mark.parametrize(("name", "text"), CASES)
def test_what_declares_nothing_is_guessed_and_says_so(name: str, text: str) -> None:
    read = decoded(text.encode(codec_of(name)))
    assert read.text == text
    assert read.note.startswith(f"[read as {read.encoding}, which is a guess")


@pytest.mark.parametrize(("name", "text"), CASES)
def test_a_declared_encoding_counts(name: str, text: str) -> None:
    assert decoded(text.encode(codec_of(name)), f' "{name.upper()}" ') == DecodedText(text, name)


def test_every_label_of_the_standard_is_known() -> None:
    assert all(codec_of(name) for name in ENCODINGS)
    for line in LABELS.strip().replace("\n  ", " ").split("\n"):
        name, _, labels = line.partition(": ")
        for label in labels.split():
            assert (named(label), named(f" {label.upper()}\t")) == (name, name), label


@pytest.mark.parametrize(
    "label", ["", "utf8mb4", "hz-gb-2312", "iso-2022-kr", "utf-7", "rot13", "x" * 9_000, "\0", "../x"]
)
def test_an_unknown_label_is_as_good_as_none(label: str) -> None:
    assert named(label) == ""
    assert decoded("Größe".encode("cp1252"), label).text == "Größe"


@pytest.mark.parametrize(
    ("content_type", "label"),
    [
        ("text/plain; charset=iso-8859-1", "iso-8859-1"),
        ('text/plain; x=1 ;CHARSET = "Shift_JIS"; y', "Shift_JIS"),
        ("text/html;charset='utf-8'", "utf-8"),
        ("text/plain", ""),
        ("", ""),
    ],
)
def test_the_label_stands_in_the_content_type(content_type: str, label: str) -> None:
    assert label_in(content_type) == label


@pytest.mark.parametrize("label", ["utf-8", "euc-jp", "big5", "iso-2022-jp", "utf-16"])
def test_a_label_that_the_bytes_contradict_does_not_count(label: str) -> None:
    text = "Name;Preis\nGröße;3 €; Café\n"
    assert decoded(text.encode("cp1252"), label).text == text
    assert decoded(text.encode(), label) == DecodedText(text)


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_about_valid_utf_8_nothing_is_guessed(text: str) -> None:
    if text[:1] != "\ufeff" and not text.lstrip().startswith(("<", "#", "@")):
        assert decoded(text.encode()) == DecodedText(text)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["", *ENCODINGS]))
def test_any_bytes_are_a_text_or_none_and_the_same_each_time(data: bytes, label: str) -> None:
    def read() -> DecodedText | str:
        try:
            return decoded(data, label)
        except NotText as other:
            return str(other)

    first = read()
    assert first == read()
    if isinstance(first, DecodedText):
        first.text.encode()  # never half of a surrogate pair


@pytest.mark.parametrize(("mark", "name"), MARKS)
def test_a_byte_order_mark_counts_more_than_a_label_and_is_not_shown(mark: bytes, name: str) -> None:
    for text in ("Größe;3\n", "", "日本"):
        read = decoded(mark + text.encode(codec_of(name)), "iso-8859-1")
        assert (read.text, read.encoding, read.mark) == (text, name, mark)
        assert read.note == f"[read as {name}, as its byte order mark says; the mark is not shown]"
        assert read.encode("new") == mark + "new".encode(codec_of(name))


@pytest.mark.parametrize(
    ("start", "name"),
    [
        ('<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>', "windows-1252"),
        ("<?xml version='1.0' encoding='koi8-r' ?><a>", "KOI8-R"),
        ("<!doctype html>\n<html><head><meta charset=windows-1251><title>", "windows-1251"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">', "Shift_JIS"),
        ('@charset "windows-1251"; /* ', "windows-1251"),
        ("#!/usr/bin/python\n# -*- coding: euc-jp -*-\n#", "EUC-JP"),
    ],
)
def test_what_a_text_says_of_itself_counts_where_nothing_else_is_declared(start: str, name: str) -> None:
    inside = {"windows-1252": "Größe", "Shift_JIS": "日", "EUC-JP": "日"}.get(name, "Да")
    data = (start + inside).encode(codec_of(name))
    assert decoded(data) == DecodedText(start + inside, name, "as it says of itself")
    assert decoded((start + inside).encode(), "utf-8") == DecodedText(start + inside)


@pytest.mark.parametrize(
    ("text", "label", "encoding", "note"),
    [
        ("Größe", "us-ascii", "UTF-8", ""),
        ("ö", "ANSI_X3.4-1968", "UTF-8", ""),
        ("Größe", "ISO-8859-1", "UTF-8", "[read as UTF-8, though its label says otherwise]"),
        ("5 € für 2 Äpfel", "windows-1252", "UTF-8", "[read as UTF-8, though its label says otherwise]"),
        ("ö", "ISO-8859-1", "windows-1252", ""),
        ("plain", "ISO-8859-1", "windows-1252", ""),
        ("Да", "koi8-r", "KOI8-R", ""),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><a>Größe</a>", "ISO-8859-1", "windows-1252", ""),
    ],
)
def test_a_label_of_western_text_on_valid_utf_8_is_doubted(
    text: str, label: str, encoding: str, note: str
) -> None:
    read = decoded(text.encode(), label)
    assert (read.encoding, read.note) == (encoding, note)
    assert read.text == text.encode().decode(codec_of(encoding))


@pytest.mark.parametrize("label", ["us-ascii", "iso-8859-1", "windows-1252"])
def test_what_is_no_valid_utf_8_is_what_its_label_says(label: str) -> None:
    for text in TEXTS["windows-1252"]:
        data = text.encode("cp1252")
        assert decoded(data, label, is_json=True) == decoded(data, label) == DecodedText(text, "windows-1252")


def test_what_could_be_read_as_ascii_is_no_utf_16_whatever_it_says() -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?><a>Größe</a>'
    assert decoded(text.encode()) == DecodedText(text)


@pytest.mark.parametrize(
    "text", ["ok\n\0bad\nmore\n", "Zeile\0\nGröße\n" + "x" * 500 + "\0" * 5, "ok\n\0bad\nmor\n"]
)
@pytest.mark.parametrize("name", ["UTF-8", "windows-1252"])
def test_a_few_zero_bytes_stay_in_a_log(text: str, name: str) -> None:
    read = decoded(text.encode(codec_of(name)))
    assert read.text == text
    assert "(U+0000) in it" in read.note


def test_a_text_with_a_few_bad_bytes_is_still_in_its_encoding() -> None:
    for text, name in (("Größe und Länge, Café. " * 9, "UTF-8"), ("日本語のテキストです。" * 9, "Shift_JIS")):
        read = decoded(text.encode(codec_of(name)) + b"\x93")  # the file was cut off
        assert read.encoding == name
        assert read.text.startswith(text)
        assert "U+FFFD stands 1 times" in read.note


@pytest.mark.parametrize("far", [10_000, SEARCHED_BYTES * 8])
def test_the_first_foreign_byte_may_stand_far_behind(far: int) -> None:
    for name, text in CASES:
        if not name.startswith("UTF-16") and text.isprintable() and text[:1] not in "“":
            data = b"2026-01-01 ok\n" * (far // 14) + text.encode(codec_of(name)) + b"\n" + b"ok\n" * 99
            assert decoded(data).text.splitlines()[far // 14] == text


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(99), "a PNG image"),
        (b"\xff\xd8\xff\xe0" + bytes(99), "a JPEG image"),
        (b"RIFF\x99\x01\0\0WEBPVP8 \xff", "a WebP image"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document"),
        (b"PK\x03\x04\x14\0\x06\0", "a ZIP archive or an office document"),
        (b"a.txt" + bytes(252) + b"ustar\x0000" + bytes(300), "a tar archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(9), "an office document of an old kind"),
        (random.Random(7).randbytes(4_000), "binary data"),
        (random.Random(8).randbytes(40), "binary data"),
        (bytes(range(256)), "binary data"),
        (b"a\0b", "binary data"),
        (bytes(5_000), "binary data"),
        (b"log\n" + bytes(5_000), "binary data"),
        (b"".join(n.to_bytes(2, "little") for n in range(200)), "binary data"),
    ],
)
@pytest.mark.parametrize("label", ["", "utf-8", "iso-8859-1"])
def test_what_is_no_text_says_what_it_is(data: bytes, kind: str, label: str) -> None:
    with pytest.raises(NotText, match=kind):
        decoded(data, label)


@pytest.mark.parametrize(
    "line",
    [
        "# Encoding: ASCII or UTF-8?",
        "# File encoding: latin1 or UTF-8",
        "# Decoding: Latin",
        "# file.encoding=ISO-8859-1",
    ],
)
def test_a_heading_that_speaks_of_encodings_names_none(line: str) -> None:
    text = f"{line}\n\nMüller & Söhne, 12 €\n"
    assert own_label(text) == ""
    assert decoded(text.encode()).text == text


def test_what_was_read_in_euc_jp_is_written_with_the_same_bytes() -> None:
    data = ("所在地は丂町です。漢字かな交じりの文。\n" * 3).encode("euc_jp")
    read = decoded(data, "euc-jp")
    assert read.encode(read.text) == data


def test_someone_who_knows_better_may_name_the_encoding() -> None:
    data = "Žluťoučký kůň".encode("iso8859-2")
    assert decoded_as(data, "Latin2") == DecodedText("Žluťoučký kůň", "ISO-8859-2", "as asked")
    assert decoded_as(b"\xef\xbb\xbfok", "utf-8").text == "ok"
    with pytest.raises(NotText, match="'klingon' is no encoding"):
        decoded_as(data, "klingon")


def test_a_guess_that_no_candidate_deserves_is_not_made() -> None:
    with pytest.raises(NotText, match="could not be guessed"):
        decoded("สวัสดีชาวโลก ยินดีต้อนรับ\n".encode("cp874") * (MANY // 20))


@pytest.mark.parametrize("label", ["", "utf-8"])
@pytest.mark.parametrize(
    "damaged",
    [
        b"The total is 12 \xe2\x82\xac. " + b"All else is English. " * 40 + b"It ends here \xf0\x9f\x98",
        b"An emoji \xf0\x9f\x98\x80 and one that lost its middle \xf0\x9fX\x80 in English. "
        + b"And so on. " * 20,
        b"\x82\xac is the rest of a sign at the beginning of a log. M\xc3\xbcller's, \xe2\x80\x94, done.",
    ],
    ids=["cut at the end", "damaged", "cut at the beginning"],
)
def test_a_damaged_character_in_english_leaves_the_rest_as_it_is(damaged: bytes, label: str) -> None:
    read = decoded(damaged, label)
    assert read.text == damaged.decode("utf-8", "replace")
    assert "U+FFFD" in read.note or not read.how


@pytest.mark.parametrize(
    "text", ["The café’s new menu is très cher.", "naïve – “yes” – Zoë’s résumé, façade"]
)
@pytest.mark.parametrize("label", ["", "utf-8"])
def test_a_few_letters_of_windows_1252_in_english_are_no_damaged_utf_8(text: str, label: str) -> None:
    assert decoded((text + " And so on." * 30).encode("cp1252"), label).text == text + " And so on." * 30


@pytest.mark.parametrize("text", ["caf\udce9.txt", '{"a": "\ud83d"}', "\ude00\ud83d " * 40, "Größe \udfff"])
@pytest.mark.parametrize("label", ["", "utf-8"])
def test_halves_of_surrogate_pairs_are_escaped_and_nothing_else_changes(text: str, label: str) -> None:
    escaped = text.encode("utf-8", "backslashreplace").decode()
    assert decoded(text.encode("utf-8", "surrogatepass"), label) == DecodedText(escaped)
    for mark, name in MARKS:
        data = mark + text[:9].encode(codec_of(name), "surrogatepass")
        assert decoded_as(data, name).text == text[:9].encode("utf-8", "backslashreplace").decode()


@pytest.mark.parametrize(("mark", "name"), MARKS)
def test_a_half_behind_a_byte_order_mark_is_escaped_too(mark: bytes, name: str) -> None:
    data = mark + "one\udce9 name".encode(codec_of(name), "surrogatepass")
    assert (decoded(data).text, decoded(data).mark) == ("one\\udce9 name", mark)


def test_a_pair_that_was_written_as_two_halves_is_joined() -> None:
    assert decoded(b"smile: \xed\xa0\xbd\xed\xb8\x80") == DecodedText("smile: 😀")


@pytest.mark.parametrize("many", [5, 30_000])
def test_a_few_foreign_bytes_in_much_utf_8_make_no_other_encoding_of_it(many: int) -> None:
    data = "Zürich größer\n".encode() * many + "Köln\n".encode("cp1252") + b"ok\n" * 99
    read = decoded(data)
    assert (read.encoding, read.text.count("größer"), read.text.count("�")) == ("UTF-8", many, 1)
    assert (
        read.note
        == "[read as UTF-8, which is a guess; U+FFFD stands 1 times for bytes that are not valid in it]"
    )


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("cp850", "cp850", "Größe; Straße; 5 ½"),
        ("IBM437", "cp437", "Größe ─┐ ½"),
        ("IBM852", "cp852", "Žluťoučký kůň"),
        ("cp037", "cp037", "HELLO, WORLD 123"),
        ("utf-32be", "utf_32_be", "Größe 東京"),
    ],
)
def test_encodings_that_only_older_programs_write_are_known_by_name(
    label: str, codec: str, text: str
) -> None:
    assert decoded(text.encode(codec), label).text == text
    assert decoded_as(text.encode(codec), label).text == text


def test_who_asks_for_utf_16_need_not_know_the_order_of_its_bytes() -> None:
    data = b"\xfe\xff" + "Größe".encode("utf-16-be")
    assert decoded_as(data, "utf-16") == DecodedText("Größe", "UTF-16BE", "as asked", b"\xfe\xff")


def test_mail_in_japanese_is_not_shown_as_its_escapes() -> None:
    text = "Subject: お知らせ\n\n日本語のメールです。\n"
    assert decoded(text.encode("iso2022_jp")) == DecodedText(text, "ISO-2022-JP", "which is a guess")
    for terminal in ("\x1b(B\x1b[m ok\n", "\x1b[31mred\x1b[0m", "cost \x1b$B", "\x1b$B?\x1b(B"):
        assert decoded(terminal.encode()).text == terminal
