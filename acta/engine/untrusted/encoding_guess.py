"""In which encoding bytes are that say nothing of it and are not valid UTF-8 (ADR 173).

Each candidate reads a sample, and its characters are weighed: how usual they are in the languages that the encoding is
for, and whether capitals stand where words have them. What was read in a wrong encoding is full of characters that no
text has. The one with the largest average weight is taken if that is large enough.
"""

import codecs
from collections import Counter
from collections.abc import Callable, Container, Iterable
from itertools import groupby

from acta.engine.untrusted.encodings import LOST, codec_of

SAMPLE_BYTES = 4_096
SEARCHED_BYTES = 262_144
"""The lines of the sample are taken from at most this many bytes."""
LEAST_WEIGHT, LEAST_WEIGHT_OF_MANY, MANY = 0.4, 0.66, 300
"""The least average that is believed. If at least `MANY` bytes of the sample are not ASCII, a right guess has a higher
average, so the second value holds."""
LOST_WEIGHT = -2.0
Weigh = Callable[[str], float]


def best_guess(data: bytes) -> str | None:
    """The name of the encoding in `encodings.ENCODINGS`; None: no candidate makes a text of the bytes."""
    sample, found = _sample(data), dict[str, float]()
    for name, weigh in CANDIDATES.items():
        if not name.startswith("UTF-16"):
            decoder = codecs.getincrementaldecoder(codec_of(name))("replace")
            found[name] = weigh(decoder.decode(sample, final=len(sample) < SAMPLE_BYTES))
        elif len(data) % 2 == 0:
            found[name] = weigh(data[:SAMPLE_BYTES].decode(codec_of(name), "replace"))
    best = max(found, key=found.__getitem__)  # the first one, if several weigh the same
    foreign = len(sample) - len(sample.translate(None, bytes(range(128, 256))))
    return best if found[best] >= (LEAST_WEIGHT if foreign < MANY else LEAST_WEIGHT_OF_MANY) else None


def wide_by_zeros(data: bytes) -> str | None:
    """UTF-16, where half of the characters have a zero byte, and all of those on the same side; else None."""
    head = data[:SAMPLE_BYTES]
    before, behind = head[0::2].count(0), head[1::2].count(0)
    if len(data) % 2 or max(before, behind) * 4 < len(head) or min(before, behind) * 20 > max(before, behind):
        return None
    return "UTF-16LE" if behind > before else "UTF-16BE"


def _sample(data: bytes) -> bytes:
    """Lines with other bytes than ASCII, from the first on that is not valid UTF-8. In every candidate but UTF-16 a
    line feed is one byte that is part of no other character.
    """
    try:
        data.decode()
        start = 0
    except UnicodeDecodeError as invalid:
        start = invalid.start
    begin = max(data.rfind(b"\n", 0, start) + 1, start - SAMPLE_BYTES // 4)
    lines = data[begin : begin + SEARCHED_BYTES].split(b"\n")
    return b"\n".join(line for line in lines if not line.isascii())[:SAMPLE_BYTES]


def _average(total: float, characters: int) -> float:
    return total / characters if characters else 0.0


def _by_rarity(*tiers: tuple[Container[str], float]) -> Weigh:
    """For scripts whose characters stand alone: by the first tier that has the character."""

    def weigh(text: str) -> float:
        counts = Counter(char for char in text if char > "\x7f")
        total = 0.0
        for char, number in counts.items():
            other = LOST_WEIGHT if char == LOST else -0.5
            total += number * next((weight for chars, weight in tiers if char in chars), other)
        return _average(total, counts.total())

    return weigh


def _by_words(weigh_word: Callable[[str], float], *, symbol: float = 0.8, scale: float = 1.0) -> Weigh:
    """For alphabets: each word by `weigh_word`, and `symbol` for what usually stands between words."""

    def weigh(text: str) -> float:
        total, characters, before = 0.0, 0, ""
        for are_letters, run in groupby(text, str.isalpha):
            part = "".join(run)
            foreign = [char for char in part if char > "\x7f"]
            characters += len(foreign)
            if are_letters and foreign:
                is_usual = part.isupper() or part[1:].islower() or part.islower() or len(part) == 1
                total += len(foreign) * (weigh_word(part) if is_usual else -0.5)
            for char in () if are_letters else foreign:
                usual = char in SYMBOLS and (not before or len(part) > 1 or char == "’")
                total += symbol if usual else LOST_WEIGHT if char == LOST else -0.6
            before = part if are_letters else ""
        return scale * _average(total, characters)

    return weigh


def _cyrillic(word: str) -> float:
    if any(char <= "\x7f" for char in word):  # no word has letters of two scripts
        return -0.5
    usual = sum(
        1 - 0.8 * RUSSIAN.find(char) / len(RUSSIAN) if char in RUSSIAN else -1 for char in word.lower()
    )
    capitals = 0.6 if len(word) == 1 else 0.9 if word.isupper() else 1.0
    return 0.9 * capitals * usual / len(word)


def _latin(letters: Container[str]) -> Callable[[str], float]:
    """`letters`: those that the languages have besides the English ones."""

    def weigh(word: str) -> float:
        foreign = [char for char in word.lower() if char > "\x7f"]
        known = sum(char in letters for char in foreign) / len(foreign)
        english = len(word) - len(foreign)
        share = 1.0 if english >= len(foreign) else 0.6 if len(word) <= 2 else 0.5 if len(word) <= 4 else 0.35
        return share * (0.85 + 0.15 * known)

    return weigh


def _mostly_utf8(text: str) -> float:
    characters = sum(char > "\x7f" for char in text)
    return _average(characters - 3 * text.count(LOST), characters)


def _block(codec: str, leads: Iterable[int], trails: Iterable[int] = range(0xA1, 0xFF)) -> frozenset[str]:
    """The characters of two bytes whose first byte is one of `leads`. The common ones come first in each standard."""
    pairs = b"".join(bytes((lead, trail)) for lead in leads for trail in trails)
    return frozenset(pairs.decode(codec, "ignore"))


SYMBOLS = "’“”‘„‚«»–—…·•€°§©®™±²³½¼¾£¥\xa0¡¿×÷µºª№"
RUSSIAN = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґў"
"""Letters of Russian from the most to the least frequent, then those of Ukrainian and Belarusian."""
WESTERN = "äöüßéèàçñáíóúâêîôûëïãõåæøœ"
EASTERN = "ąćęłńóśźżáčéěířšťúůýžőűöüäßđăâî"
CHINESE = (
    "的一是不了人我在有他这中大来上国和地到要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当"
    "没动面起看定天分还进好小部其些主样理心本前开但因只从想实日者意无力它与长把机十第公此已工使情明性知全三又关点正业外将两高间由问很最"
    "重并物手应向头文体政美相见二等新己制身果加月话合回代内信化老给世位次度门名称价格数量姓男女电号京市区路期元件错误测试据表单址今"
)
"""Characters that are frequent in Chinese texts and in the first line of tables; below also as Taiwan writes them."""
TRADITIONAL = (
    "這來國過發後裡種經麼學現當沒動起還進樣開從實無與長機點將兩間問應頭體見給門稱價數電號區錯誤測試據單灣臺於著對"
    "關業話會說時產場員報書題處標準廣東"
)
JAPANESE = (
    "日本国人年大十二中出三同時上前名価格東京都市県区分間高生行会社自者田事方学新月一的見地手力入下金対部合定物回数"
    "長全体明実要内通場開立用目作表示商品住所電話番号備考世界語大阪府"
)
KOREAN = (
    "이다는의에을가고하지은를기로사한들자도서시어나그아대리으인해수정있것니라일전과보게만부제었공주와상여했면적안장조요된"
    "소동무스구성원우되거세경중내문들식방연음분위생마화습국년신용모오말미발간할때진선비계물않품량격름번호날짜금액"
)
HIRAGANA, KATAKANA = (
    frozenset(map(chr, range(first, last))) for first, last in ((0x3041, 0x3097), (0x30A1, 0x30FD))
)
HALF_WIDTH = frozenset(map(chr, range(0xFF61, 0xFFA0)))
WIDE_SYMBOLS = frozenset(
    "，。、；：？！“”‘’（）《》〈〉「」『』【】—…·～￥\u3000％＋－／＝＃＆＊１２３４５６７８９０"
)
GB_1, GB_2 = _block("gb2312", range(0xB0, 0xD8)), _block("gb2312", range(0xD8, 0xF8))
JIS_1, JIS_2 = _block("euc_jp", range(0xB0, 0xD0)), _block("euc_jp", range(0xD0, 0xF5))
BIG5_TRAILS = (*range(0x40, 0x7F), *range(0xA1, 0xFF))
BIG5_1, BIG5_2 = (_block("big5", leads, BIG5_TRAILS) for leads in (range(0xA4, 0xC6), range(0xC9, 0xFA)))
HANGUL = _block("euc_kr", range(0xB0, 0xC9))

_KANA = ((HIRAGANA, 1.0), (KATAKANA, 0.9))
_OF_JAPANESE = (*_KANA, (JAPANESE, 0.9), (JIS_1, 0.55), (WIDE_SYMBOLS, 0.6), (JIS_2, 0.0))
_OF_ALL = (
    *_KANA,
    (CHINESE + TRADITIONAL + JAPANESE + KOREAN, 0.9),
    (GB_1 | JIS_1 | BIG5_1, 0.5),
    (HANGUL, 0.4),
    (RUSSIAN + RUSSIAN.upper(), 0.9),
    (WESTERN + WESTERN.upper() + SYMBOLS, 0.6),
    (WIDE_SYMBOLS, 0.6),
)
CANDIDATES: dict[str, Weigh] = {
    "UTF-8": _mostly_utf8,
    "windows-1252": _by_words(_latin(WESTERN)),
    "windows-1250": _by_words(_latin(EASTERN), scale=0.97),
    "windows-1251": _by_words(_cyrillic, symbol=0.5),
    "KOI8-R": _by_words(_cyrillic, symbol=0.5),
    "KOI8-U": _by_words(_cyrillic, symbol=0.5),
    "IBM866": _by_words(_cyrillic, symbol=0.5, scale=0.95),
    "Shift_JIS": _by_rarity(*_OF_JAPANESE, (HALF_WIDTH, 0.45)),
    "EUC-JP": _by_rarity(*_OF_JAPANESE),
    "GB18030": _by_rarity((CHINESE, 1.0), (GB_1, 0.6), (WIDE_SYMBOLS, 0.6), (GB_2, 0.1)),
    "Big5": _by_rarity((CHINESE + TRADITIONAL, 1.0), (BIG5_1, 0.6), (WIDE_SYMBOLS, 0.6), (BIG5_2, 0.1)),
    "EUC-KR": _by_rarity((KOREAN, 1.0), (HANGUL, 0.57), (WIDE_SYMBOLS, 0.6)),
    "UTF-16LE": _by_rarity(*_OF_ALL),
    "UTF-16BE": _by_rarity(*_OF_ALL),
}
"""By name, how a sample is weighed. Of equal weights the first one counts."""
