"""The OpenAPI 3.1 document of `/v1`, made when Acta is built (ADR 64).

Nothing in it is written twice: routes, parameters and bodies come from the functions, answers from the engine's
`answers` modules, errors from their classes. The words about each route are in `acta.engine.api.operations`; `words.py`
next to this file has what code does not say.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from http import HTTPStatus
from inspect import Parameter as Python
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter

from acta import __version__
from acta.engine.api.arguments import Arguments, Parameter
from acta.engine.api.error_answers import STATUSES
from acta.engine.api.json_body import UnsupportedMediaType
from acta.engine.api.operation import AnswerSpec, Operation
from acta.engine.api.operations import BY_TAG, OPERATIONS, MethodNotAllowed
from acta.engine.errors import CallerError
from acta.engine.prompts.prompt import SEEDS
from acta.engine.settings import Settings
from acta.infra.document import webhooks
from acta.infra.document.schemas import REF, schemas_of, shapes_with_words
from acta.infra.document.words import (
    DESCRIPTION,
    HEADERS,
    MISSING,
    OF_NEW,
    RESPONSE_HEADERS,
    SEARCHED_TO,
    TAG_WORDS,
)

Json = dict[str, Any]
Raised = TypeVar("Raised", bound=Exception)
ADDED = (UnsupportedMediaType, MethodNotAllowed)
"""Errors that no handler's module defines. Importing them here puts them among the known error classes."""

GATEWAY: Json = {
    "description": "The gateway's own refusal: no function of Acta has seen the request.",
    "type": "object",
    "properties": {"message": {"type": ["string", "null"]}},
    "required": ["message"],
}
BY_GATEWAY = (401, 403, 404, 413, 429, 500, 503, 504)
"""Statuses that also come from the gateway itself."""
OF_NO_OPERATION = 405
"""The status for a method that the path does not have. No operation has it, so only the text describes this answer."""
WITHOUT_LIMITS = (401,)
"""Statuses without rate headers, because the tenant is not known."""
ROUTE_BUSY = "TooManyRequestsToThisRoute"
"""The gateway's own 429. `TooManyRequests` may also come from the tenant's limits."""
RATE_HEADERS: Json = {
    name: {"$ref": f"#/components/headers/{name}"} for name in ("RateLimit-Policy", "RateLimit")
}
EVERYWHERE = ("VALIDATION_ERROR", "FORBIDDEN", "INTERNAL_ERROR", "UNAVAILABLE")
"""Errors of every operation. `VALIDATION_ERROR` at least answers a query parameter that the route does not have."""
WITH_TOKEN = ("UNAUTHORIZED",)


class Entry(NamedTuple):
    """An error that is answered."""

    code: str
    status: int
    says: str


@cache
def document() -> Json:
    """The document as JSON values. It is the same each time; callers must not change it."""
    shapes = shapes_with_words()
    parameters = parameters_of_handlers()
    schemas = _Schemas(parameters, shapes)
    paths: dict[str, Json] = {}
    for tag, rows in BY_TAG.items():
        for row in rows:
            described = {"tags": [tag], **_operation(row, parameters[row], schemas)}
            paths.setdefault(row.plain_path, {})[row.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Acta",
            "version": __version__,
            "description": DESCRIPTION,
        },
        "servers": [{"url": "/", "description": "The deployment that this document comes from."}],
        "security": [{"token": []}],
        "tags": [{"name": name, "description": says} for name, says in TAG_WORDS.items()],
        "paths": paths,
        "webhooks": webhooks.webhooks(),
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "RS256, of the deployment's issuer. It names the subject, the tenant and the roles.",
                }
            },
            "headers": RESPONSE_HEADERS,
            "responses": _refusals(),
            "schemas": {**schemas.defined, "GatewayRefusal": GATEWAY},
        },
    }


def parameters_of_handlers() -> dict[Operation, tuple[Parameter, ...]]:
    """What each operation takes."""
    settings = Settings(env="document", table="", bucket="")
    return {row: Arguments(row, row.load(), settings).parameters for row in OPERATIONS}


class _Schemas:
    """`by_key`: the schema of every parameter; `defined`: the components to which parameters and answers refer."""

    def __init__(
        self, parameters: Mapping[Operation, tuple[Parameter, ...]], shapes: Mapping[str, Any]
    ) -> None:
        wanted: dict[str, tuple[str, Any, TypeAdapter[Any]]] = {}
        for row, each in parameters.items():
            for one in each:
                key = f"{row.name} {one.name}"
                wanted[key] = (key, "validation", one.adapter)
        for row in OPERATIONS:
            for name in (name for answer in row.answers for name in answer.shapes):
                wanted[name] = (name, "serialization", TypeAdapter(shapes[name]))
        wanted.update(webhooks.wanted())
        self.by_key, self.defined = schemas_of(wanted.values())
        webhooks.describe(self.defined)


def _operation(row: Operation, parameters: tuple[Parameter, ...], schemas: _Schemas) -> Json:
    codes = codes_of(row)
    about = (
        row.about,
        "Needs the role `admin`." if row.role == "admin" else "",
        "No limit of the tenant's refuses it." if row.role and row.rated == "never" else "",
        f"Errors of its own: {', '.join(f'`{code}`' for code in codes)}." if codes else "",
    )
    made: Json = {
        "operationId": row.name,
        "summary": row.summary,
        "description": "\n\n".join(filter(None, about)),
    }
    if row.role is None:
        made["security"] = []
    made["parameters"] = [
        *_parameters(row, parameters, schemas),
        *(
            {"name": name, "in": "header", "required": name in row.needs, **_header(row, name)}
            for name in (*row.takes, *row.needs)
        ),
    ]
    body = next((one for one in parameters if one.where == "body"), None)
    sends, examples, required = row.sends, row.examples, not row.takes_bytes  # a file may be empty
    if body is not None:
        schema = schemas.by_key[f"{row.name} {body.name}"]
        required = bool(schemas.defined[schema["$ref"].rpartition("/")[2]].get("required"))
        sends, examples = {"application/json": schema}, body.type.EXAMPLES
    if sends:
        content: Json = {kind: {"schema": schema} for kind, schema in sends.items()}
        if examples:
            content["application/json"]["examples"] = {
                name: {"value": value} for name, value in examples.items()
            }
        made["requestBody"] = {"required": required, "content": content}
    made["responses"] = {
        **_errors(row, codes),
        **{str(answer.status): _answer(row, answer) for answer in row.answers},
    }
    return made


def _header(row: Operation, name: str) -> Json:
    return OF_NEW if name == "If-None-Match" and row.method != "GET" else HEADERS[name]


def codes_of(row: Operation) -> tuple[str, ...]:
    """The error codes of this operation, in the order of `STATUSES`."""
    codes = {*row.codes, *(code for variable, code in MISSING.items() if variable in row.path)}
    if "Idempotency-Key" in row.takes:
        codes |= {"CONFLICT", "IDEMPOTENCY_MISMATCH"}
    if "If-Match" in (*row.takes, *row.needs):
        codes.add("PRECONDITION_FAILED")
    return tuple(code for code in STATUSES if code in codes)


def words_about(row: Operation, name: str) -> str:
    """About a parameter of the operation."""
    return row.words(name).replace("{prompts}", ", ".join(f"`{prompt}`" for prompt in SEEDS))


def _parameters(row: Operation, parameters: tuple[Parameter, ...], schemas: _Schemas) -> Iterator[Json]:
    """The path's variables in their order, and then the parameters that the query may have."""
    typed = {one.name for one in parameters if one.where == "path"}
    plain: Json = {"type": "string"}
    for name in re.findall(r"{(\w+)}", row.plain_path):
        schema = schemas.by_key[f"{row.name} {name}"] if name in typed else plain
        if schema == plain:
            schema = {"type": "string", "minLength": 1}
        words = words_about(row, name)
        yield {"name": name, "in": "path", "required": True, "description": words, "schema": schema}
    for one in parameters:
        if one.where != "query":
            continue
        name = one.name.removesuffix("_")
        schema = _not_null(schemas.by_key[f"{row.name} {one.name}"])
        is_required = one.default is Python.empty
        if not is_required and one.default is not None:
            schema = {**schema, "default": one.default}
        words = words_about(row, name)
        yield {"name": name, "in": "query", "required": is_required, "description": words, "schema": schema}


def _not_null(schema: Json) -> Json:
    """A query has no null, so a parameter that may be None is simply optional."""
    if isinstance(schema.get("type"), list):
        (kind,) = (each for each in schema["type"] if each != "null")
        return {**schema, "type": kind}
    options = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(options) == 1:
        return {**{name: each for name, each in schema.items() if name != "anyOf"}, **options[0]}
    return schema


def _answer(row: Operation, answer: AnswerSpec) -> Json:
    made: Json = {"description": answer.says}
    headers: dict[str, Json] = {
        **{name: {**RESPONSE_HEADERS[name], "required": True} for name in answer.headers},
        **{name: {"$ref": f"#/components/headers/{name}"} for name in answer.sometimes},
        **(RATE_HEADERS if row.role is not None and row.rated != "never" else {}),
    }
    if headers:
        made["headers"] = headers
    content: Json = {kind: {"schema": schema} if schema else {} for kind, schema in answer.raw.items()}
    if answer.form in ("data", "page", "searched page"):
        content["application/json"] = {"schema": _envelope(answer)}
    if content:
        made["content"] = content
    return made


def _envelope(answer: AnswerSpec) -> Json:
    options: list[Json] = [{"$ref": REF.format(model=shape)} for shape in answer.shapes]
    data = options[0] if len(options) == 1 else {"anyOf": options}
    if answer.form != "data":
        items = {"type": "array", "items": data}
        page: Json = {"items": items, "next_cursor": {"type": ["string", "null"]}}
        beside = {"searched_to": SEARCHED_TO} if answer.form == "searched page" else answer.beside
        data = {**_object(page), "properties": {**page, **beside}}
    return _object({"success": {"const": True}, "data": data})


def _object(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _errors(row: Operation, own: tuple[str, ...]) -> Json:
    """Status -> the shared error answer, with this route's codes."""
    codes = [*own, *EVERYWHERE]
    if row.role is not None:  # a wrong request is refused for a rate whatever its route
        codes += (*WITH_TOKEN, "RATE_LIMITED")
    if "{" in row.path:
        codes.append("NOT_FOUND")
    if row.takes_body:
        codes += ("UNSUPPORTED_MEDIA_TYPE", "PAYLOAD_TOO_LARGE")
    names = {429: ROUTE_BUSY} | {
        entry.status: name_of(entry.status) for entry in answered() if entry.code in codes
    }
    return {str(status): {"$ref": f"#/components/responses/{names[status]}"} for status in sorted(names)}


def _refusals() -> Json:
    """The errors by status: their codes, and the form of each."""
    by_status: dict[int, list[Entry]] = {}
    for entry in answered():
        if entry.status != OF_NO_OPERATION:
            by_status.setdefault(entry.status, []).append(entry)
    refusals = {name_of(status): _refusal(status, by_status[status]) for status in sorted(by_status)}
    return {**refusals, ROUTE_BUSY: _refusal(429, [])}


def _refusal(status: int, entries: list[Entry]) -> Json:
    schemas: list[Json] = []
    if entries:
        schemas.append(_failure(entries))
    if status in BY_GATEWAY:
        schemas.append({"$ref": REF.format(model="GatewayRefusal")})
    words = [f"`{entry.code}`: {entry.says}" for entry in entries] or [
        "Too many requests to this route, of all tenants together: come again later."
    ]
    made: Json = {
        "description": "\n\n".join(words),
        "content": {"application/json": {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}}},
    }
    if entries:
        shown = {
            "success": False,
            "error": {"code": entries[0].code, "message": "What is wrong, in a sentence."},
        }
        made["content"]["application/json"]["example"] = shown
    headers: Json = {}
    if status in (429, 503) and entries:
        headers["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
    if entries and status not in WITHOUT_LIMITS:
        headers |= RATE_HEADERS
    if headers:
        made["headers"] = headers
    return made


def _failure(entries: list[Entry]) -> Json:
    details: Json = {
        "type": "object",
        "description": "By field, parameter or header: what is wrong with it, in sentences or in words such as "
        "`one of a, b`. Of 403 `role` has names of roles: one of these is needed.",
        "additionalProperties": {"type": "array", "items": {"type": "string"}},
    }
    code = {"type": "string", "enum": [entry.code for entry in entries]}
    error = _object({"code": code, "message": {"type": "string"}, "details": details})
    error["description"] = "The code is stable, the message is for people."
    error["required"] = ["code", "message"]
    return _object({"success": {"const": False}, "error": error})


def answered() -> list[Entry]:
    """The errors that are answered, by status. If several classes have one code, the text is the first one's."""
    found: dict[str, str] = {}
    classes: list[type[CallerError]] = [CallerError, *below(CallerError)]
    for each in classes:
        if "code" in vars(each):
            found.setdefault(each.code, words_of(each))
    assert set(found) == set(STATUSES), "every code has a status"
    return [Entry(code, status, found[code]) for code, status in STATUSES.items()]


def below(one: type[Raised]) -> Iterator[type[Raised]]:
    for each in one.__subclasses__():
        yield each
        yield from below(each)


def words_of(one: type) -> str:
    """The first paragraph of its docstring."""
    said = inspect.cleandoc(one.__doc__ or "").partition("\n\n")[0]
    assert said, f"{one.__name__} has no docstring"
    return " ".join(said.split())


def name_of(status: int) -> str:
    """`404` -> `NotFound`."""
    return HTTPStatus(status).phrase.title().replace(" ", "").replace("-", "")
