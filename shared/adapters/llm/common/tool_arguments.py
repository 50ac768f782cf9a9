"""What models write, made safe to store: tool arguments as strict JSON, texts as valid Unicode.

What becomes of a call that is `malformed` is decided in `shared/agent/turn/apply_reply.py`.
"""

import json
import math
from collections import Counter
from typing import Any, NoReturn

from shared.domain.untrusted.nesting import MAX_DEPTH, is_too_deep
from shared.ports.model import RequestedCall

CUT_OFF = "the input was cut off at the output limit"


def parse_call(name: str, arguments: str, *, cut: bool) -> RequestedCall:
    """`cut`: the reply ended at `max_tokens` and this is its last call."""
    name = joined(name)
    if not arguments.strip():
        # Providers write nothing at all for `{}`, and also where they were stopped before they could write it.
        return RequestedCall(name, None, CUT_OFF) if cut else RequestedCall(name, {})
    try:
        return RequestedCall(name, parse_object(arguments))
    except InvalidJson as error:
        return RequestedCall(name, None, CUT_OFF if cut else f"the input is {error}")


class InvalidJson(ValueError):
    """The message completes "the input is …". It says what is wrong and quotes no more than a key."""


_SHOWN_KEY_CHARS = 40
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

    Stricter than `json.loads`. Also refused are `NaN`, `Infinity` and numbers too large for a float, which no store
    takes; a key that comes twice, because either could be meant; halves of surrogate pairs, which UTF-8 does not have;
    and nesting too deep to be stored.
    """
    try:
        value: Any = json.loads(
            text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique
        )
    except InvalidJson:
        raise
    except json.JSONDecodeError as error:
        raise InvalidJson(f"not valid JSON ({error.msg} at character {error.pos})") from None
    except (ValueError, RecursionError):
        raise InvalidJson("not valid JSON") from None
    if is_too_deep(value):
        raise InvalidJson(f"nested more than {MAX_DEPTH} deep")
    if not _is_valid_unicode(text, value):
        raise InvalidJson("not valid Unicode text")
    return value


def _is_valid_unicode(text: str, value: Any) -> bool:
    if "\\u" not in text and text.isascii():
        return True
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise InvalidJson("not valid JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise InvalidJson("not valid JSON (a number is too large)")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise InvalidJson(f"ambiguous: it has the key {twice[:_SHOWN_KEY_CHARS]!r} twice")
    return found


def joined(text: str) -> str:
    """The text with halves of surrogate pairs joined. A half that is alone is replaced, so UTF-8 can hold the text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def joined_exactly(text: object) -> str | None:
    """The text with halves of surrogate pairs joined. None: it is no text, or has a half that is alone."""
    if not isinstance(text, str):
        return None
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None
