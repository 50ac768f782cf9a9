"""Tool arguments as models write them: strict JSON, and what is wrong with what is none."""

import json
import math
from typing import Any, NoReturn

from shared.domain.untrusted.nesting import MAX_DEPTH, is_too_deep
from shared.ports.model import RequestedCall

CUT_OFF = "the input was cut off at the output limit"


def requested(name: str, text: str, *, cut: bool) -> RequestedCall:
    """`cut`: the answer ended at `max_tokens` and this was its last call."""
    name = readable(name)
    if not text.strip():
        # no input at all is how providers write `{}`, unless they were stopped before they could write it
        return RequestedCall(name, None, CUT_OFF) if cut else RequestedCall(name, {})
    try:
        return RequestedCall(name, parse_object(text))
    except NotJson as error:
        return RequestedCall(name, None, CUT_OFF if cut else f"the input is {error}")


def readable(text: str) -> str:
    """The text with halves of surrogate pairs joined, and lone ones replaced: it can be stored as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def storable(text: object) -> str | None:
    """The text as it was meant, halves of surrogate pairs joined; None: it is none, or would have to be altered."""
    if not isinstance(text, str):
        return None
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None


_NAMES = {list: "array", str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}
_SHOWN_KEY = 40


class NotJson(ValueError):
    """The message completes "the input is …" and says what is wrong without quoting more than a key."""


def parse_object(text: str) -> dict[str, Any]:
    """The one object that `text` is. Raises NotJson.

    Refused as well: `NaN`, `Infinity` and numbers too large to be one (no store takes them), a key that comes
    twice (which one was meant?), halves of surrogate pairs (no UTF-8), nesting too deep to be stored.
    """
    try:
        value: Any = json.loads(
            text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique
        )
    except NotJson:
        raise
    except json.JSONDecodeError as error:
        raise NotJson(f"not valid JSON ({error.msg} at character {error.pos})") from None
    except (ValueError, RecursionError):
        raise NotJson("not valid JSON") from None
    if not isinstance(value, dict):
        raise NotJson(f"a JSON {_NAMES[type(value)]}, not an object")
    if is_too_deep(value):
        raise NotJson(f"nested more than {MAX_DEPTH} deep")
    if not _encodable(text, value):
        raise NotJson("not valid Unicode text")
    return value


def _encodable(text: str, value: dict[str, Any]) -> bool:
    if "\\u" not in text and text.isascii():
        return True
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise NotJson("not valid JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotJson("not valid JSON (a number is too large)")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotJson(f"ambiguous: it has the key {twice[:_SHOWN_KEY]!r} twice")
    return found
