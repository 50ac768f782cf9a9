"""Arguments that a server wants to see in headers, too: properties of its schema with `x-mcp-header` (MCP 2026-07-28,
Streamable HTTP, "Custom headers from tool parameters").
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from shared.adapters.tools.mcp.wire import header_text

MARK = "x-mcp-header"
PREFIX = "Mcp-Param-"
MAX_HEADERS = 16
MAX_VALUE_CHARS = 2_000
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_PRIMITIVE = ("string", "integer", "boolean")
_SAFE_INTEGER = 2**53 - 1

Paths = Mapping[tuple[str, ...], str]
"""From a property's place to the name in its header."""


class BadHeaders(Exception):
    """The schema's marks break the specification's rules. The message is for an admin."""


def header_paths(schema: Mapping[str, Any]) -> Paths:
    """Raises BadHeaders."""
    found: dict[tuple[str, ...], str] = {}
    places = _marked(schema)
    if sum(1 for _ in places) != sum(1 for _ in _reachable(schema, ())):
        raise BadHeaders(f"{MARK} stands where a header cannot be taken from")
    for path, marked in _reachable(schema, ()):
        name = marked[MARK]
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise BadHeaders(f"{MARK} is no name that a header may have")
        if marked.get("type") not in _PRIMITIVE:
            raise BadHeaders(f"{MARK} is for a text, an integer or a boolean alone")
        found[path] = name
    if len({name.lower() for name in found.values()}) < len(found):
        raise BadHeaders(f"two properties have the same {MARK}")
    if len(found) > MAX_HEADERS:
        raise BadHeaders(f"more than {MAX_HEADERS} properties have {MARK}")
    return found


def param_headers(paths: Paths, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Raises BadHeaders for a value that no header can carry."""
    headers = {}
    for path, name in paths.items():
        value: Any = arguments
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is None:
            continue
        text = _text(value)
        if text is None or len(text) > MAX_VALUE_CHARS:
            raise BadHeaders(f"{'.'.join(path)} is too large for the header that the server wants it in")
        headers[f"{PREFIX}{name}"] = header_text(text)
    return headers


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) <= _SAFE_INTEGER else None
    if isinstance(value, float) and value.is_integer() and abs(value) <= _SAFE_INTEGER:
        return str(int(value))
    return value if isinstance(value, str) else None


def _reachable(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Marked properties to which nothing but `properties` leads."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, below in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(below, Mapping):
            if MARK in below:
                yield (*path, name), below
            yield from _reachable(below, (*path, name))


def _marked(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every schema with the mark, wherever it is. A property may itself be called so: its schema is no mark."""
    waiting: list[tuple[Any, bool]] = [(schema, True)]
    while waiting:
        item, is_schema = waiting.pop()
        if isinstance(item, Mapping):
            if is_schema and MARK in item:
                yield item
            waiting += [
                (
                    below,
                    not (is_schema and key in ("properties", "$defs", "definitions", "patternProperties")),
                )
                for key, below in item.items()
                if key not in ("const", "enum", "default", "examples")
            ]
        elif isinstance(item, list):
            waiting += [(below, True) for below in item]
