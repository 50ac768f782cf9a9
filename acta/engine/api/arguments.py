"""The arguments of a route's handler: taken from the request as the handler's signature says, and validated.

    def list_messages(api: Api, session_id: str, limit: Annotated[int, Field(ge=1, le=200)] = 100) -> Response

The first parameter is the API. One that the route's path names is a variable of the path. One whose type is a
`RequestBody` is the JSON body. Every other one is a query parameter; `from_` is called `from` in a query, because
`from` is a keyword in Python. Any other query parameter is refused (ADR 66). Modules with handlers keep real
annotations (no `from __future__ import annotations`), so that local types can be read.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_type_hints

from pydantic import TypeAdapter, ValidationError

from acta.engine.api.etag import PRECONDITIONS, TAGS
from acta.engine.api.incoming import Request
from acta.engine.api.json_body import SOME_WRONG, Bounds, RequestBody, bounds_of, parse_json
from acta.engine.api.operation import Operation
from acta.engine.errors import FieldsInvalid, NotFound
from acta.engine.settings import Settings
from acta.engine.untrusted.validation_messages import error_sentence, too_long

MAX_FIELDS = 20
"""A request with more wrong fields is answered with the first ones."""
MAX_NAME_CHARS = 100
_PATH_VARIABLE = re.compile(r"[-._~()'!*:@,;=+&$%<> \[\]{}|^\w]+")
"""The characters of ids and names: none has control characters, quotes, `#`, `?` or backslashes."""

Where = Literal["path", "query", "body"]


class Parameter(NamedTuple):
    name: str
    where: Where
    type: Any
    adapter: TypeAdapter[Any]
    default: Any
    """`inspect.Parameter.empty`: it is required."""


_NOT_TAKEN = {
    "type": "precondition",
    "msg": "This route does not compare states, so nothing was done. Send the request without this header.",
}
_NO_TAGS = {
    "type": "precondition",
    "msg": "Send the ETag that you have read, with its quotation marks, or `*`. Nothing was done.",
}
_REPEATED = {"type": "repeated_parameter", "msg": "It is given twice. Send it once."}
"""What is wrong with a header or a query parameter, in the form of pydantic's errors."""


class Arguments:
    """The arguments of one route's handler. Making this object takes time, so it is made at the first request."""

    def __init__(self, route: Operation, handle: Callable[..., Any], settings: Settings) -> None:
        hints = get_type_hints(handle, include_extras=True)
        self.parameters = tuple(
            Parameter(
                name,
                _where(route, name, hints[name]),
                hints[name],
                TypeAdapter(hints[name]),
                parameter.default,
            )
            for name, parameter in list(inspect.signature(handle).parameters.items())[1:]
        )
        body = next((one.type for one in self.parameters if one.where == "body"), None)
        self.bounds = bounds_of(route, body, settings)
        self._takes_any_query = route.is_page
        self._not_taken = [name for name in PRECONDITIONS if name not in (*route.takes, *route.needs)]
        self._takes_if_match = "If-Match" in (*route.takes, *route.needs)
        self._query = [one.name.removesuffix("_") for one in self.parameters if one.where == "query"]
        taken = f"It takes {', '.join(self._query)}." if self._query else "It takes none."
        message = f"There is no such query parameter here. {taken}"
        self._unknown = {"type": "unknown_parameter", "msg": message}

    def bind(self, request: Request) -> dict[str, Any]:
        """Raises ValidationFailed naming every parameter, precondition and field of the body that is wrong or that the
        route does not have; NotFound where a variable of the path has a character that no name has.
        """
        bound: dict[str, Any] = {}
        unknown = [name for name in request.query if not self._takes_any_query and name not in self._query]
        errors: list[tuple[str, Mapping[str, Any]]] = [
            (field_name([name]), self._unknown) for name in unknown
        ]
        errors += [(name, _NOT_TAKEN) for name in self._not_taken if name.lower() in request.headers]
        if_match = request.headers.get("if-match", "*") if self._takes_if_match else "*"
        if if_match != "*" and not re.fullmatch(TAGS, if_match):
            errors.append(("If-Match", _NO_TAGS))
        for name, where, _, adapter, default in self.parameters:
            sent_as = name.removesuffix("_")
            value = _value(request, where, sent_as, self.bounds)
            if value is None:
                if default is inspect.Parameter.empty:
                    errors.append((sent_as, {"type": "missing"}))
                bound[name] = default
                continue
            if where == "query" and isinstance(value, list):
                errors.append((sent_as, _REPEATED))
                continue
            try:
                bound[name] = adapter.validate_python(value)
            except ValidationError as error:
                names = () if where == "body" else (sent_as,)
                errors += [
                    (field_name((*names, *each["loc"])), each)
                    for each in error.errors(include_url=False, include_input=False, include_context=False)
                ]
                continue
            for field, most in self.bounds.texts.items() if where == "body" else ():
                text = getattr(bound[name], field) or ""
                if len(text) > most:
                    errors.append((field, {"type": "too_long", "msg": too_long(text, most)}))
        if errors:
            raise FieldsInvalid(details_of(errors))
        return bound


def _where(route: Operation, name: str, type_: Any) -> Where:
    if f"{{{name}}}" in route.path:
        return "path"
    return "body" if isinstance(type_, type) and issubclass(type_, RequestBody) else "query"


def _value(request: Request, where: Where, name: str, bounds: Bounds) -> Any:
    """None: it was not sent. A query parameter that was sent twice is a list. Raises NotFound, ValidationFailed."""
    match where:
        case "path":
            if not _PATH_VARIABLE.fullmatch(request.variables[name]):
                raise NotFound("There is nothing at this path.")
            return request.variables[name]
        case "body":
            body = parse_json(request.text, bounds)
            if wrong := _wrong_fields(body, bounds.fields):
                raise FieldsInvalid(wrong)
            return body
        case "query":
            values = request.query.get(name, [])
            return values[0] if len(values) == 1 else values or None


def _wrong_fields(body: Mapping[str, Any], most: Mapping[str, int]) -> dict[str, list[str]]:
    """Sentences, by field, about a body that has so many surplus values or unknown fields that pydantic would make
    thousands of errors. Empty: pydantic checks it. `most`: the values that each field may have.
    """
    found = {name: _values(body.get(name)) for name in most}
    wrong = {
        name: [f"It has {values:,} keys and values, far more than this field takes."]
        for name, values in found.items()
        if values > most[name] + SOME_WRONG
    }
    unknown = [name for name in body if name not in most]
    if len(unknown) > SOME_WRONG:
        sentence = error_sentence({"type": "extra_forbidden"})
        wrong |= {field_name([name]): [sentence] for name in unknown[:SOME_WRONG]}
    return wrong


def _values(value: Any) -> int:
    """Keys and members in the value, and in what is in it."""
    if isinstance(value, dict):
        return 2 * len(value) + sum(map(_values, value.values()))
    return len(value) + sum(map(_values, value)) if isinstance(value, list) else 0


def details_of(errors: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, list[str]]:
    """Field -> messages for the person who sent the request. The values are never quoted."""
    details: dict[str, list[str]] = {}
    for name, error in errors:
        if name in details or len(details) < MAX_FIELDS:
            details.setdefault(name, []).append(error_sentence(error))
    return details


def field_name(place: Sequence[int | str]) -> str:
    """The path of a value, such as `metadata.key`. The body as a whole is `body`. Parts in brackets are no fields: they
    say that a key is wrong, or which of several types a value was taken for.
    """
    name = ".".join(str(part) for part in place if part not in ("[key]", "[names]")) or "body"
    return name[:MAX_NAME_CHARS].encode("utf-8", "replace").decode()
