"""Where the arguments of a tool of kind `http` go: into the path, the query, a header or the body (ADR 97).

As in OpenAPI: `{order_id}` in the URL's path is an argument, and `parameters` says of others
`{"in": "query", "name": "q"}`. An argument that is not named goes into the query of a GET, or else into a JSON body.
What the admin wrote stays what it is, whatever a model says: no value changes the path's parts, adds a parameter or a
header, or takes the place of one.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from acta.engine.errors import ToolInputInvalid
from acta.engine.tools.tenant.headers import FieldRefused, as_servers_read, no_arguments
from acta.engine.tools.tool import HttpConfig, HttpParameter
from acta.engine.untrusted.visible import hidden_in

PROPERTY = re.compile(r"[A-Za-z0-9_.$-]{1,64}")
"""Names that every server reads as what they are, but for case and separators."""
_SEPARATORS = re.compile(r"[][ ._+$-]")
"""`$` is one, because OData 4.01 reads `top` as `$top`."""


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
    """The names as servers read them. The name of an object's field includes that of the object."""
    return [_SEPARATORS.sub("", _plain(name)) for name in names]


def clashing(names: Iterable[str], fixed: Iterable[str]) -> list[str]:
    """Those of `names` that a server may take for one of `fixed`, sorted (`fixed_names`)."""
    taken = {read for name in fixed for read in _parts_read(name)}
    if not taken:
        return []
    return sorted(
        name for name in names if not PROPERTY.fullmatch(name) or not taken.isdisjoint(_parts_read(name))
    )


def _parts_read(name: str) -> set[str]:
    """The whole name, and the object that it is a field of."""
    plain = _plain(name)
    outer = plain.partition("[")[0].partition(".")[0]
    return {_SEPARATORS.sub("", plain), _SEPARATORS.sub("", outer)}


def _plain(name: str) -> str:
    return name.partition("\0")[0].strip(" .[").casefold()


_VARIABLE = re.compile(r"\{([A-Za-z0-9_.-]{1,64})\}")
MAX_PATH_CHARS = 500
"""The most characters of a value in the path."""
MAX_HEADER_CHARS = 1_024
_SLASHES = frozenset("/\\⁄∕⧸⧵")
"""What a server may take for the end of a part, after it has folded look-alikes."""
SENT = ("query", "body")
"""Where an API finds an argument by its name: some merge the two."""
MAX_UNESCAPED = 8
"""How many times escapes of a value are undone to see what a server may read. A value that needs more is refused."""

Problems = dict[str, list[str]]


class ToolRequest(NamedTuple):
    """`url`: with its path and query. `body`: what goes as JSON; None: no body."""

    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None


def with_places(given: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration as it is stored: `in` of a parameter is its `place`. Raises FieldRefused."""
    parameters = given.get("parameters")
    if not isinstance(parameters, Mapping):
        return dict(given)
    stored: dict[str, Any] = {}
    for name, said in parameters.items():
        field = f"config.parameters.{name}"[:100]
        if not isinstance(said, Mapping) or not said.keys() <= {"in", "name"} or "in" not in said:
            example = '{"in": "query"}, or {"in": "query", "name": "q"} under another name'
            raise FieldRefused(field, f"It says where an argument goes: {example}.")
        if said["in"] not in ("path", "query", "header", "body"):
            raise FieldRefused(field, "An argument goes in path, query, header or body.")
        stored[name] = {"place": said["in"], **({"name": said["name"]} if "name" in said else {})}
    return {**given, "parameters": stored}


def sample_url(url: str) -> str:
    """The URL with a value for each argument in it, as the rules for hosts see it."""
    return _VARIABLE.sub("x", url)


def in_path(url: str) -> list[str]:
    """The arguments that the URL names."""
    return _VARIABLE.findall(url)


def check_parameters(config: HttpConfig, schema: Mapping[str, Any]) -> Problems:
    """What is wrong with where the arguments go, by field."""
    found: Problems = {}
    for field, sentence in (*_wrong_in_url(config, schema), *_wrong_places(config, schema)):
        found.setdefault(field, []).append(sentence)
    return found


def request_of(tool: str, config: HttpConfig, arguments: Mapping[str, Any]) -> ToolRequest:
    """The request of a call. Raises ToolInputInvalid, whose message is for the model, where a value cannot go where it
    has to.
    """
    path = frozenset(in_path(config.url))
    sent = {name: value for name, value in arguments.items() if name not in path}
    unmapped = [name for name in sent if name not in config.parameters]
    mapped = [wire for place, wire in (_place(config, name) for name in config.parameters) if place in SENT]
    if clashing(unmapped, mapped) or fixed_names(config.url, unmapped):
        raise ToolInputInvalid(
            f"the tool {tool} has fixed some of these fields itself. Leave out what its schema does not name."
        )
    query: list[tuple[str, str]] = []
    headers: dict[str, str] = {}
    body: dict[str, Any] = {}
    for name, value in sent.items():
        place, wire = _place(config, name)
        if place == "body":
            body[wire] = value
        elif value is not None and place == "query":
            # A list is repeated as in OpenAPI's `form` style, but one that no parameter names stays JSON.
            is_repeated = name in config.parameters and isinstance(value, list)
            values = [each for each in value if each is not None] if is_repeated else [value]
            query += [(wire, _as_text(each)) for each in values]
        elif value is not None:
            headers |= _header(name, wire, value)
    url = _filled(config.url, arguments)
    if query:
        url += f"{'&' if '?' in url else '?'}{urlencode(query, errors='replace')}"
    is_mapped = bool(path or config.parameters)
    has_body = config.method != "GET" and (bool(body) or not is_mapped)
    return ToolRequest(url, headers, body if has_body else None)


def _place(config: HttpConfig, name: str) -> tuple[str, str]:
    """Where the argument goes, and under which name."""
    said = config.parameters.get(name)
    if said is None:
        return ("query" if config.method == "GET" else "body"), name
    return said.place, said.name or name


def _filled(url: str, arguments: Mapping[str, Any]) -> str:
    """The URL with the arguments in its path."""
    if "{" not in url:
        return url
    head, mark, query = url.partition("?")
    parts = head.split("/")
    # of https://host/a/b the first three are the scheme and the host, which have no arguments
    filled = [*parts[:3], *(_part(part, arguments) for part in parts[3:])]
    return "/".join(filled) + mark + query


def _part(part: str, arguments: Mapping[str, Any]) -> str:
    """One part of the path. Raises ToolInputInvalid where it would be another number of parts, or lead elsewhere."""
    names = _VARIABLE.findall(part)
    if not names:
        return part
    texts = {name: _path_text(name, arguments.get(name)) for name in names}
    read = unquote(_VARIABLE.sub(lambda found: texts[found[1]], part))
    for form in _as_servers_read(names[0], read):
        if not form.partition(";")[0].strip(" .") or not _SLASHES.isdisjoint(form) or hidden_in(form):
            raise _unusable(
                names[0], "it is a part of a path: no slash, no control character, not empty and not dots"
            )
    return _VARIABLE.sub(lambda found: quote(texts[found[1]], safe=""), part)


def _path_text(name: str, value: Any) -> str:
    if not isinstance(value, str | int | float):
        raise _unusable(name, "it is a part of a path: a text or a number")
    text = _as_text(value)
    if not 1 <= len(text) <= MAX_PATH_CHARS:
        raise _unusable(name, f"it is a part of a path: 1 to {MAX_PATH_CHARS} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _unusable(name, "it has half a character") from None
    return text


def _as_text(value: Any) -> str:
    """A text as it is, all else as JSON. A whole number has only its digits: servers look for order 5, and not 5.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _as_servers_read(name: str, text: str) -> Iterator[str]:
    """The text, and what it may become where escapes are undone again or look-alikes are folded. Raises
    ToolInputInvalid where that does not end.
    """
    for _ in range(MAX_UNESCAPED):
        yield text
        yield unicodedata.normalize("NFKC", text)
        former, text = text, unquote(unicodedata.normalize("NFKC", text), errors="replace")
        if text == former:
            return
    raise _unusable(name, "it is escaped too often")


def _header(name: str, wire: str, value: Any) -> dict[str, str]:
    """A list is written with commas, as in OpenAPI's `simple` style; an empty one is left out."""
    items = [each for each in value if each is not None] if isinstance(value, list) else [value]
    if not items:
        return {}
    if any(isinstance(each, list | dict) for each in items):
        raise _unusable(name, "it is a header: a text, a number, or a list of them")
    text = ",".join(map(_as_text, items))
    is_plain = text.isascii() and text.isprintable() and text == text.strip(" ")
    if not is_plain or not 1 <= len(text) <= MAX_HEADER_CHARS:
        raise _unusable(name, f"it is a header: 1 to {MAX_HEADER_CHARS:,} printable ASCII characters")
    return {wire: text}


def _unusable(name: str, why: str) -> ToolInputInvalid:
    return ToolInputInvalid(f"the field {name} cannot be sent: {why}.")


def _wrong_in_url(config: HttpConfig, schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    names = in_path(config.url)
    outside = _VARIABLE.sub("", config.url)
    if "{" in outside or "}" in outside:
        yield "config.url", "Braces stand around the name of an argument, such as /orders/{order_id}."
        return
    if not names:
        return
    parts = urlsplit(config.url)
    if "{" in parts.scheme + parts.netloc + parts.query or len(_VARIABLE.findall(parts.path)) != len(names):
        yield (
            "config.url",
            (
                "Arguments stand in the path alone, never in the host. For the query write "
                '"parameters": {"term": {"in": "query", "name": "q"}}.'
            ),
        )
    properties, required = schema.get("properties", {}), schema.get("required", ())
    for name in dict.fromkeys(names):
        if name not in properties or name not in required:
            yield "config.url", f"The input schema has to name {name} among its properties and as required."
        elif _may_be_more(properties[name]):
            yield "config.url", f"{name} stands in the path: its type is string, integer, number or boolean."


def _may_be_more(schema: Any) -> bool:
    said = schema.get("type") if isinstance(schema, Mapping) else None
    types = said if isinstance(said, list) else [said]
    return not {each for each in types if isinstance(each, str)} <= {"string", "integer", "number", "boolean"}


def _wrong_places(config: HttpConfig, schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    named, path = schema.get("properties", {}), frozenset(in_path(config.url))
    for name, said in config.parameters.items():
        yield from (
            (f"config.parameters.{name}", each) for each in _wrong_place(config, name, said, named, path)
        )
    yield from _named_twice(config, named, path)
    headers = [said.name or name for name, said in config.parameters.items() if said.place == "header"]
    fixed = {as_servers_read(name) for name in (*config.headers, *config.secret_headers)}
    if len({as_servers_read(name) for name in headers}) < len(headers):
        yield "config.parameters", "A header is named twice."
    taken = sorted(name for name in headers if as_servers_read(name) in fixed)
    if taken:
        yield "config.parameters", f"config.headers sets these already: {', '.join(taken)}."
    never = no_arguments(headers)
    if never:
        yield "config.parameters", f"No argument sets these headers: {', '.join(never)}."


def _wrong_place(
    config: HttpConfig, name: str, said: HttpParameter, named: Any, path: frozenset[str]
) -> Iterator[str]:
    if name not in named:
        yield f"The input schema has no property {name}."
    if (said.place == "path") != (name in path):
        yield f"What goes into the path stands in config.url as {{{name}}}, and nothing else does."
    elif said.place == "path" and said.name is not None:
        yield "In the path an argument has its own name."
    if said.place == "body" and config.method == "GET":
        yield "A GET has no body."
    if said.place == "header" and not set(said.name or "").isdisjoint("[]"):
        yield "No header has such a name."


def _named_twice(config: HttpConfig, named: Any, path: frozenset[str]) -> Iterator[tuple[str, str]]:
    """What the admin has named is compared by its whole name: `filter[state]` stands beside a fixed `filter[limit]`."""
    mapped = [
        (place, wire) for place, wire in (_place(config, name) for name in config.parameters) if place in SENT
    ]
    seen = {("query", whole) for whole in whole_names(query_names(config.url))}
    twice = set()
    for place, wire in mapped:
        (whole,) = whole_names([wire])
        if (place, whole) in seen:
            twice.add(wire)
        seen.add((place, whole))
    unmapped = [name for name in named if name not in config.parameters and name not in path]
    twice |= {*clashing(unmapped, [wire for _, wire in mapped])}
    if twice:
        yield "config.parameters", f"These would be sent twice: {', '.join(sorted(twice))}."
