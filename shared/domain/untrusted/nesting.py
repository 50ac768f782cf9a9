"""How deep JSON from outside may be nested.

Documents are read again by a parser that refuses 200 levels, so a deeper value would be stored and then make its
session unreadable. Half of that leaves room for the document around it.
"""

from typing import Any

MAX_DEPTH = 100


def is_too_deep(value: Any) -> bool:
    """More than `MAX_DEPTH` objects and lists inside each other."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        level = [each for one in level for each in _parts(one) if isinstance(each, dict | list)]
    return bool(level)


def _parts(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value
