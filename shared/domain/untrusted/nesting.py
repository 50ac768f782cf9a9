"""How deep JSON from outside may be nested.

The parser that reads stored documents refuses 200 levels. A deeper value could be stored, and would make its session
unreadable. Half of that leaves room for the document around the value.
"""

from typing import Any

MAX_DEPTH = 100


def is_too_deep(value: Any) -> bool:
    """Whether more than `MAX_DEPTH` objects and lists are inside each other."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        level = [each for one in level for each in _members(one) if isinstance(each, dict | list)]
    return bool(level)


def _members(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value
