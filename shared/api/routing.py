"""From a method and a path to the route of the table that answers it."""

import re
from typing import NamedTuple

from shared.api.routes import ROUTES, Route

_NAME = re.compile(r"\{(\w+)(\+?)\}")


class Match(NamedTuple):
    """`route` None: nothing answers. `allowed`: the methods the path has; empty: there is no such path."""

    route: Route | None
    allowed: tuple[str, ...] = ()


def _pattern(path: str) -> re.Pattern[str]:
    """`{name}` is one part of the path, `{name+}` all the rest of it, which may not be empty."""
    out, end = "", 0
    for found in _NAME.finditer(path):
        out += re.escape(path[end : found.start()]) + (".+" if found[2] else "[^/]+")
        end = found.end()
    return re.compile(out + re.escape(path[end:]), re.DOTALL)


_PATTERNS = tuple((_pattern(route.path), route) for route in ROUTES)


def match(method: str, path: str) -> Match:
    """A path without variables wins over one with them, as at the gateway."""
    fitting = [route for pattern, route in _PATTERNS if pattern.fullmatch(path)]
    exact = [route for route in fitting if "{" not in route.path]
    fitting = exact or fitting
    allowed = tuple(sorted({route.method for route in fitting}))
    return Match(next((route for route in fitting if route.method == method), None), allowed)


def rule(path: str) -> str:
    """The route's path as the Powertools resolver wants it. A rest-of-path is not named there: the resolver's
    own variables match neither `/` nor every other character a file's name may have (see `Incoming.rest`).
    """
    return _NAME.sub(lambda found: "(?s:.+)" if found[2] else f"<{found[1]}>", path)
