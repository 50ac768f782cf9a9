"""The query of a tool of kind `http`: parameters that its URL has are fixed, and the model's arguments come beside them
(design §7).
"""

import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""Anthropic refuses each request that offers a tool with another name of a property."""
_SEPARATORS = re.compile(r"[][ ._+-]")


def with_pairs(url: str, pairs: Iterable[tuple[str, Any]]) -> str:
    """Adds names and values to the URL. Texts are written as they are, all other values as JSON."""
    texts = [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in pairs
    ]
    if not texts:
        return url
    query = urlencode(texts, errors="replace")
    return f"{url}{'&' if '?' in url else '?'}{query}"


def fixed_names(url: str, names: Iterable[str]) -> list[str]:
    """Those of `names` that a server may take for a parameter in the URL's query, sorted.

    Of a name that comes twice some servers take the last value, and some let the body decide; so the method does not
    matter. What servers read as one name is one name here: `Limit`, `page-size` and `pageSize` for `page_size`, `a.b`
    for `a_b` (PHP), and all that begins with the same object: `filter`, `filter[limit]`, `filter.limit`. Where the
    query fixes anything, a name of other characters than a property's is always one of them: servers undo escapes,
    fold wide letters, and cut at what they take for an end.
    """
    return clashing(names, query_names(url))


def query_names(url: str) -> list[str]:
    """Names of the parameters in the URL's query."""
    pairs = parse_qsl(urlsplit(url).query.replace(";", "&"), keep_blank_values=True)
    return [name for name, _ in pairs]


def whole_names(names: Iterable[str]) -> list[str]:
    """The names as servers read them, of a field of an object with the object's."""
    return [_SEPARATORS.sub("", _plain(name)) for name in names]


def clashing(names: Iterable[str], fixed: Iterable[str]) -> list[str]:
    """Those of `names` that a server may take for one of `fixed`, sorted (`fixed_names`)."""
    taken = {read for name in fixed for read in _as_servers_read(name)}
    if not taken:
        return []
    return sorted(
        name for name in names if not PROPERTY.fullmatch(name) or not taken.isdisjoint(_as_servers_read(name))
    )


def _as_servers_read(name: str) -> set[str]:
    """The whole name, and the object that it is a field of."""
    plain = _plain(name)
    outer = plain.partition("[")[0].partition(".")[0]
    return {_SEPARATORS.sub("", plain), _SEPARATORS.sub("", outer)}


def _plain(name: str) -> str:
    return name.partition("\0")[0].strip(" .[").casefold()
