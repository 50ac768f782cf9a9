"""JSON from outside, read so that nothing of it changes: each number keeps the value that was written, or is refused.

Whole numbers are exact however large they are. Other numbers are doubles. A number that a double cannot hold, such as
`1e400` or `9007199254740993.5`, is refused: a person would approve another value than the one that was written.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import accumulate
from typing import Any, NoReturn
from uuid import uuid4

from acta.engine.untrusted.visible import well_formed

MAX_DIGITS = 300
_SHOWN_CHARS = 40


def read_exactly(text: str) -> Any:
    """The value that the text is. Raises ValueError, whose message says what is wrong: for a text that is no JSON
    (`json.JSONDecodeError`), for `NaN` and `Infinity`, for numbers that cannot be kept, and for objects that name a key
    twice, because either value could be meant. Raises RecursionError for a text that is nested too deeply.
    """
    return EXACT.decode(text)


def value_at(value: Any, *names: str) -> Any:
    """What stands in a JSON value under these names, each inside of the one before. None: nothing does."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def canonical_json(value: Any) -> str:
    """The one text of a value: keys in order, no spaces, whole numbers in digits, a double with the fewest digits that
    name it. `-0` is `0`; `-0.0` stays.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _exact_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError("a number is too long")
    return int(digits)


def exact_float(digits: str) -> float:
    number = float(digits)
    if repr(number) == digits:
        return number
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:_SHOWN_CHARS]} is too large")
    if len(digits) > MAX_DIGITS:
        raise ValueError("a number is too long")
    written = Decimal(digits)
    # Programs write a double in its shortest form, with 17 digits, or with all of its digits.
    if written != Decimal(repr(number)) and written not in (Decimal(f"{number:.17g}"), Decimal(number)):
        raise ValueError(f"the number {digits[:_SHOWN_CHARS]} would be kept as {number!r}; send it as text")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"an object has the key {twice[:_SHOWN_CHARS]!r} twice")
    return found


EXACT = json.JSONDecoder(
    parse_int=_exact_integer, parse_float=exact_float, parse_constant=_no_constant, object_pairs_hook=_unique
)
"""Reads as `read_exactly` does."""
MAX_DEPTH = 100
"""The parser that reads stored documents refuses 200 levels. A deeper value could be stored, and would make its session
unreadable. Half of that leaves room for the document around the value."""


class InvalidJson(ValueError):
    """The message completes "the input is …". It says what is wrong and quotes no more than a key or a number."""


_NESTING = {"[": 1, "{": 1, "]": -1, "}": -1}


def refuse_oversize(text: str, most: int | None = None, depth: int = MAX_DEPTH) -> None:
    """Raises InvalidJson for a text with more than `most` values, or with more than `depth` objects and lists
    inside each other. Values are keys and the members of objects and lists; an empty object or list counts once more.

    The text is only scanned, in linear time, so a large number of values is refused before any of them is built.
    """
    # In a string a backslash escapes the next character. Without `\\` and `\"`, each `"` begins or ends a string.
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    values = sum(map(outside.count, ",:[{"))
    if most is not None and values > most:
        raise InvalidJson(f"too large: it has {values:,} keys and values, and at most {most:,} are taken")
    if outside.count("[") + outside.count("{") > depth:
        levels = accumulate(_NESTING[bracket] for bracket in re.findall(r"[\[\]{}]", outside))
        if max(levels) > depth:
            raise InvalidJson(f"nested more than {depth} deep")


_TYPE_NAMES = {
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


def parse_object(text: str) -> dict[str, Any]:
    """The one JSON object that the text is, as strictly as `parse_value`. Raises InvalidJson."""
    value = parse_value(text)
    if not isinstance(value, dict):
        raise InvalidJson(f"a JSON {_TYPE_NAMES[type(value)]}, not an object")
    return value


def parse_value(text: str) -> Any:
    """The one JSON value that the text is. Raises InvalidJson.

    It refuses what `read_exactly` does not keep, halves of surrogate pairs, which UTF-8 does not have, and nesting that
    is too deep to be stored.
    """
    refuse_oversize(text)
    try:
        value: Any = read_exactly(text)
    except json.JSONDecodeError as error:
        raise InvalidJson(f"not valid JSON ({error.msg} at character {error.pos})") from None
    except ValueError as error:
        raise InvalidJson(f"not valid JSON ({error})") from None
    if not _is_valid_unicode(text, value):
        raise InvalidJson("not valid Unicode text")
    return value


_BRACKET = re.compile(r"[\[{]")
_WORDS_IN_BRACKETS = re.compile(r"[\[{][^\[\]{}\":]{0,80}[\]}]")


def values_between_words(text: str) -> list[Any]:
    """The JSON objects and lists in a text that has words as well, each as strictly as `parse_value` reads it. Words in
    brackets are words. Raises InvalidJson for an object or list that is not valid: what stands inside of it was not
    meant alone.
    """
    found: list[Any] = []
    place = 0
    while (bracket := _BRACKET.search(text, place)) is not None:
        try:
            _, place = EXACT.raw_decode(text, bracket.start())
        except (ValueError, RecursionError) as error:
            words = _WORDS_IN_BRACKETS.match(text, bracket.start())
            if words is None:
                raise InvalidJson(f"not valid JSON ({error})") from None
            place = words.end()
        else:
            found.append(parse_value(text[bracket.start() : place]))
    return found


def parse_answer(text: str, constant: Callable[[str], str] = _no_constant) -> Any:
    """The JSON value that another system has answered with. What could not be stored or written again is refused:
    `NaN`, numbers that are too large, and nesting that is too deep. For how it is written otherwise no answer is lost:
    a number is the double next to it and keeps its digits for `written_exactly`, the last of two equal keys counts, and
    texts are made `well_formed`. `constant`: what to make of `NaN` instead.

    Raises InvalidJson, and json.JSONDecodeError for a text that is no JSON.
    """
    refuse_oversize(text)
    try:
        value: Any = json.loads(text, parse_int=_exact_integer, parse_float=_finite, parse_constant=constant)
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise InvalidJson(f"not valid JSON ({error})") from None
    if _is_valid_unicode(text, value):
        return value
    return parse_answer(well_formed(written_exactly(value), "\\\\"), constant)


class _Written(float):
    """A double and the digits that it was read from. Whoever does not know of them uses the double."""

    digits: str


def _finite(digits: str) -> float:
    number = _Written(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:_SHOWN_CHARS]} is too large")
    number.digits = digits
    return number


def written_exactly(value: Any) -> str:
    """What `parse_answer` has read, as JSON, each number with the digits that it was read from."""
    mark = uuid4().hex

    def marked(value: Any) -> Any:
        match value:
            case dict():
                return {name: marked(each) for name, each in value.items()}
            case list():
                return [marked(each) for each in value]
            case _Written():
                return mark + value.digits
        return value

    first, *others = json.dumps(marked(value), ensure_ascii=False).split(f'"{mark}')
    return first + "".join(part.replace('"', "", 1) for part in others)


def _is_valid_unicode(text: str, value: Any) -> bool:
    if "\\u" not in text and text.isascii():
        return True
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
