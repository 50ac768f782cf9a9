"""The query of a tool of kind `http`: parameters that its URL has are fixed, and the model's arguments come beside them
(design §7).
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

_SEPARATORS = re.compile(r"[ ._+-]")


def with_query(url: str, arguments: Mapping[str, Any]) -> str:
    """Adds the arguments to the URL. Texts are written as they are, null is left out, all other values as JSON."""
    pairs = [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in arguments.items()
        if value is not None
    ]
    if not pairs:
        return url
    query = urlencode(pairs, errors="replace")
    return f"{url}{'&' if '?' in url else '?'}{query}"


def fixed_names(url: str, names: Iterable[str]) -> list[str]:
    """Those of `names` that a server may take for a parameter in the URL's query, sorted.

    Of a name that comes twice some servers take the last value, and some let the body decide; so the method does not
    matter. What servers read as one name is one name here: `Limit`, `limit[]`, `limit[x]`, and `a.b` for `a_b` (PHP).
    """
    pairs = parse_qsl(urlsplit(url).query.replace(";", "&"), keep_blank_values=True)
    fixed = {_as_servers_read(name) for name, _ in pairs}
    return sorted(name for name in names if _as_servers_read(name) in fixed)


def _as_servers_read(name: str) -> str:
    return _SEPARATORS.sub("_", name.partition("\0")[0].strip().partition("[")[0].casefold())
