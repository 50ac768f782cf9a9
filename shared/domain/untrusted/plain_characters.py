"""A text's letters and digits, whatever other characters stand for them: to find what a reader would take for a given
text. Only what looks like a hexadecimal digit is folded: marks of quotations are made of those.
"""

import unicodedata

from shared.domain.untrusted.visible import is_hidden

LOOK_ALIKES = {
    "0": "oO\u043e\u041e\u03bf\u039f\u0585\u0555\u1d0f\u2c9e\u2c9f\u2d54\u3007\u05e1",
    "1": "lIi|!\u04cf\u04c0\u0406\u0456\u0399\u03b9\u05c0\u05d5\u05df\u0627\u01c0\u2223\u16c1\u2d4f\ua4f2\u0131",
    "2": "\u01a7\u01a8\u03e8\u03e9\u14bf",
    "3": "\u0417\u0437\u01b7\u0292\u04e0\u04e1\u021c\u021d\u025c\ua7ab\u2ccc\u2ccd",
    "4": "\u0427\u0447\u13ce",
    "5": "\u01bc\u01bd",
    "6": "\u0431\u13ee\u2cd2\u2cd3",
    "8": "\u0222\u0223",
    "9": "\ua76e\ua76f\u2cca\u2ccb",
    "a": "\u0430\u0410\u0251\u03b1\u0391\u1d00\u237a\u13aa\ua4ee\u15c5\u04d5\u04d4",
    "b": "\u0432\u0412\u042c\u044c\u0392\u03b2\u0184\u0185\u0299\u13cf\u13f4\u15af\u15f7\ua4d0\ua7b4",
    "c": "\u0441\u0421\u03f2\u03f9\u1d04\u2ca4\u2ca5\u13df\uabaf\ua4da\u00a2",
    "d": "\u0501\u0500\u1d05\u13a0\u13e7\u146f\u15de\u15ea\ua4d2\ua4d3\u0111\u0110",
    "e": "\u0435\u0415\u0395\u03b5\u04bd\u04bc\u212e\uab32\u22ff\u2d39\u13ac\ua4f0\u025b\u1d07",
    "f": "\u017f\u0192\u03dc\u03dd\u0584\ua798\ua799\uab35\u1e9d\u15b4\ua4dd\ua730",
}
"""By digit, characters that look like it and that Unicode does not call a form of it. Most are in Unicode's table
`confusables.txt` (UTS 39)."""
_FOLDED = {ord(form): digit for digit, forms in LOOK_ALIKES.items() for form in forms}


def in_plain_characters(text: str) -> str:
    """The text in lower case, without hidden characters and accents, with letters and digits for what looks like them:
    `３`, `𝟑` and `٣` are 3, a Cyrillic `а` is an a. Each character is looked at by itself: to normalise a whole text
    takes time that grows faster than it.
    """
    if text.isascii():
        return text.translate(_FOLDED).lower()
    return text.translate({ord(char): _plain(char) for char in set(text)}).lower()


def _plain(char: str) -> str:
    if is_hidden(char, keep_newlines=True):
        return ""
    parts = char if ord(char) in _FOLDED else unicodedata.normalize("NFKD", char)
    return "".join(map(_folded, parts))


def _folded(char: str) -> str:
    """Empty for a mark above, below or around another character."""
    if unicodedata.category(char).startswith("M"):
        return ""
    digit = unicodedata.digit(char, None)
    return _FOLDED.get(ord(char), char) if digit is None else str(digit)
