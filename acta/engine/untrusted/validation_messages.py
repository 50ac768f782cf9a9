"""Sentences that say what is wrong with a value, for the person or the model that sent it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

_WORDS: Mapping[str, str] = {
    "extra_forbidden": "There is no such field.",
    "missing": "This field is required.",
    "string_unicode": "The text has half of a surrogate pair, which is not valid Unicode.",
}


def too_long(text: str, limit: int) -> str:
    """A sentence about a text that is too long. `limit`: in characters."""
    return f"The text has {len(text):,} characters; at most {limit:,} are allowed."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence about a name that does not exist: the similar names in `known`, else those that there are."""
    names = list(known)
    near = similar(name, names, most=3, at_least=0.35)
    return f"Did you mean {', '.join(near)}?" if near else there_are(names)


NAMES_SHOWN = 50


def there_are(names: Sequence[str]) -> str:
    """A sentence with the names; of many, the first ones."""
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"There are: {', '.join(names[:NAMES_SHOWN])}{more}."


def error_sentence(error: Mapping[str, Any]) -> str:
    """An item of pydantic's `ValidationError.errors()` as a sentence. The sentence never quotes the value."""
    text = _WORDS.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")
    return text if text.endswith((".", "?")) else f"{text}."


COMPARED_CHARS = 120
"""Only the end of each name is compared, because files in one folder begin alike. The limit keeps long file names from
making the work long."""


def similar(name: str, known: Iterable[str], most: int, at_least: float = 0.5) -> list[str]:
    """At most `most` of the known names, the most similar first. `at_least`: between 0, for no common pair of
    neighbouring characters, and 1, for all of them in common (Dice's coefficient).
    """
    wanted = _pairs(name)
    pairs = {each: _pairs(each) for each in known}
    alike = {each: 2 * len(wanted & of) / (len(wanted) + len(of)) for each, of in pairs.items()}
    near = sorted((each for each in alike if alike[each] >= at_least), key=lambda each: (-alike[each], each))
    return near[:most]


def _pairs(name: str) -> frozenset[str]:
    """The pairs of neighbouring characters. The first and the last character also make a pair with a mark."""
    ended = f"\0{name[-COMPARED_CHARS:].casefold()}\0"
    return frozenset(map("".join, pairwise(ended)))
