"""A tool call's input as the model wrote it, trusted to be nothing.

A cut-off answer is the dangerous case: what is left of its JSON may parse into something else. The text
counts only if all of it is one JSON object; anything else becomes `malformed`, which goes back to the model.
"""

import json
from typing import Any, NoReturn

from shared.ports.model import RequestedCall

_NAMES = {list: "array", str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}
CUT_OFF = "the input was cut off at the output limit"


def requested(name: str, text: str, *, cut: bool) -> RequestedCall:
    """`cut`: the answer ended at `max_tokens` and this was its last call."""
    name = readable(name)
    if not text.strip():
        # no input at all is how providers write `{}`, unless they were stopped before they could write it
        return RequestedCall(name, None, CUT_OFF) if cut else RequestedCall(name, {})
    try:
        value: Any = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        reason = CUT_OFF if cut else f"the input is not valid JSON ({error.msg} at character {error.pos})"
        return RequestedCall(name, None, reason)
    except (ValueError, RecursionError):
        return RequestedCall(name, None, "the input is not valid JSON")
    if not isinstance(value, dict):
        return RequestedCall(name, None, f"the input is a JSON {_NAMES[type(value)]}, not an object")
    if not _encodable(text, value):
        return RequestedCall(name, None, "the input contains characters that are not valid Unicode")
    return RequestedCall(name, value)


def readable(text: str) -> str:
    """The text with halves of surrogate pairs joined, and lone ones replaced: it can be stored as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _encodable(text: str, value: dict[str, Any]) -> bool:
    if "\\u" not in text and text.isascii():
        return True
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are not JSON, and no store takes them
