"""The beginning of a call's input, small enough to be shown and kept in the head. The log has the whole."""

import json
from typing import Any

MAX_SHOWN_BYTES = 2_048
MAX_TEXT_CHARS = 200
MAX_ITEMS = 10
MAX_DEPTH = 4


def excerpt(arguments: dict[str, Any], most: int = MAX_SHOWN_BYTES) -> tuple[dict[str, Any], bool]:
    """At most `most` bytes of JSON to show, and whether anything is missing. Cut parts say how large they were."""
    if _size(arguments) <= most:
        return arguments, False
    cut: dict[str, Any] = _cut(arguments, MAX_DEPTH)
    if _size(cut) > most:
        cut = {_key(name): _total(value) for name, value in list(arguments.items())[:MAX_ITEMS]}
    if _size(cut) > most:
        cut = {"…": f"{len(arguments)} fields ({_size(arguments)} bytes of JSON)"}
    return cut, True


def ends(text: str, most: int) -> str:
    """At most `most` characters: the beginning, how much is left out, and the end, where a question usually is."""
    if len(text) <= most:
        return text
    mark = "…\n[{:,} characters are left out here]\n…"
    side = (most - len(mark.format(len(text)))) // 2
    return text[:side] + mark.format(len(text) - 2 * side) + text[-side:]


def amended_note(ran: dict[str, Any] | None) -> str:
    """Tells the model, after a result, with which input the call really ran."""
    shown = json.dumps(excerpt(ran or {})[0], ensure_ascii=False)
    return f"\n\n(A person changed the input of this call before it ran. It ran with: {shown})"


def _cut(value: Any, depth: int) -> Any:
    match value:
        case str() if len(value) > MAX_TEXT_CHARS:
            return f"{value[:MAX_TEXT_CHARS]}… ({len(value.encode('utf-8', 'replace'))} bytes)"
        case dict() | list() if value and not depth:
            return _total(value)
        case dict():
            shown = {_key(name): _cut(item, depth - 1) for name, item in list(value.items())[:MAX_ITEMS]}
            return shown | {"…": f"{len(value)} fields"} if len(value) > MAX_ITEMS else shown
        case list():
            shown_items = [_cut(item, depth - 1) for item in value[:MAX_ITEMS]]
            return [*shown_items, f"… ({len(value)} items)"] if len(value) > MAX_ITEMS else shown_items
        case _:
            return value


def _key(name: str) -> str:
    return name if len(name) <= 64 else f"{name[:64]}…"


def _total(value: Any) -> str:
    return f"… ({_size(value)} bytes of JSON)"


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
