"""What models write, made safe to store: tool arguments as strict JSON, texts as valid Unicode.

What becomes of a call that is `malformed` is decided in `shared/acta_engine/turn/reply.py`.
"""

import json
from typing import Any

from acta_engine.models.model import RequestedCall
from acta_engine.untrusted.exact_json import MAX_DEPTH, is_too_deep, read_exactly

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
    """The message completes "the input is …". It says what is wrong and quotes no more than a key or a number."""


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

    Refused are what `read_exactly` does not keep; halves of surrogate pairs, which UTF-8 does not have; and nesting too
    deep to be stored.
    """
    try:
        value: Any = read_exactly(text)
    except json.JSONDecodeError as error:
        raise InvalidJson(f"not valid JSON ({error.msg} at character {error.pos})") from None
    except ValueError as error:
        raise InvalidJson(f"not valid JSON ({error})") from None
    except RecursionError:
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
