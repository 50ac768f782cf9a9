"""The OpenAPI 3.1 document of `/v1` (ADR 64)."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from http import HTTPStatus
from inspect import Parameter as Python
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from acta_engine.api.admin_routes import build as build_admin
from acta_engine.api.app import Api
from acta_engine.api.arguments import Arguments, Parameter
from acta_engine.api.fallback import build as build_fallback
from acta_engine.api.routes import ROUTES, Route
from acta_engine.console.routes import build as build_console
from acta_engine.mcp_server.routes import build as build_mcp
from acta_engine.models.routes import build as build_step
from acta_engine.people.routes import build as build_intervene
from acta_engine.sessions.routes import build as build_status
from acta_engine.sessions.start_routes import build as build_start
from acta_engine.settings import Settings
from acta_infra.document import errors, webhooks
from acta_infra.document.operations import OPERATIONS, TAGS
from acta_infra.document.operations.operation import Answer, Operation
from acta_infra.document.schemas import REF, schemas_of, shapes_with_words
from acta_infra.document.words import DESCRIPTION, HEADERS, NEEDED, RESPONSE_HEADERS, TAG_WORDS

Json = dict[str, Any]
PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"

GATEWAY: Json = {
    "description": "The gateway's own refusal: no function of Acta has seen the request.",
    "type": "object",
    "properties": {"message": {"type": ["string", "null"]}},
    "required": ["message"],
}
BY_GATEWAY = (401, 403, 404, 413, 429, 500, 503, 504)
"""Statuses that the gateway answers with by itself, too."""
OF_NO_OPERATION = 405
"""A method that the path does not have is in no operation, so its answer is in words alone."""
WITHOUT_LIMITS = (401,)
"""Statuses of requests whose tenant is not known."""
ROUTE_BUSY = "TooManyRequestsToThisRoute"
"""429 of the gateway alone; `TooManyRequests` may be the tenant's limits, too."""
RATE_HEADERS: Json = {
    name: {"$ref": f"#/components/headers/{name}"} for name in ("RateLimit-Policy", "RateLimit")
}
EVERYWHERE = ("VALIDATION_ERROR", "FORBIDDEN", "INTERNAL_ERROR", "UNAVAILABLE")
"""`VALIDATION_ERROR`: of a query parameter that the route does not have, at least."""
WITH_TOKEN = ("UNAUTHORIZED",)


class Undescribed(Exception):
    """A route that no operation describes, or an operation that no route has."""


@cache
def document() -> Json:
    """As JSON has it. Raises Undescribed. It is the same each time, and nobody may change it."""
    shapes_with_words()
    parameters = parameters_of_routes()
    named = {key_of(route): route for route in ROUTES}
    strange = sorted(named.keys() ^ OPERATIONS.keys())
    if strange:
        raise Undescribed(f"a route without an operation, or the other way round: {', '.join(strange)}")
    schemas = _Schemas(parameters)
    paths: dict[str, Json] = {}
    for key, route in named.items():
        path = key.partition(" ")[2]
        paths.setdefault(path, {})[route.method.lower()] = _operation(
            route, OPERATIONS[key], parameters[route], schemas
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Acta",
            "version": tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"],
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


def key_of(route: Route) -> str:
    """Method and path, a variable that may have slashes written as any other: OpenAPI has one kind."""
    return str(route).replace("+}", "}")


class Absent:
    """Stands for whatever a function works with."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __getattr__(self, name: str) -> "Absent":
        return self


def parameters_of_routes() -> dict[Route, tuple[Parameter, ...]]:
    """Of each route's handler, in the order of the table of routes: the functions' APIs are built with nothing behind
    them, and none is asked. Raises LookupError for a route without a handler.
    """
    settings = Settings(env="document", table="none", bucket="none")
    absent: Any = Absent(settings)
    apis: list[Api] = [
        build(absent) for build in (build_start, build_status, build_intervene, build_admin, build_mcp)
    ]
    apis += [build_step(settings, absent), build_console(settings), build_fallback(settings)]
    handlers = {route: handle for api in apis for route, handle in api.handlers.items()}
    missing = [str(route) for route in ROUTES if route not in handlers]
    if missing:
        raise LookupError(f"no handler: {', '.join(missing)}")
    return {route: Arguments(route, handlers[route]).parameters for route in ROUTES}


class _Schemas:
    """`by_key`: of every parameter and shape; `defined`: the components that they refer to."""

    def __init__(self, parameters: Mapping[Route, tuple[Parameter, ...]]) -> None:
        wanted: dict[str, tuple[str, Any, TypeAdapter[Any]]] = {}
        for route, each in parameters.items():
            for one in each:
                name = f"{route} {one.name}"
                wanted[name] = (name, "validation", one.adapter)
        for operation in OPERATIONS.values():
            for shape in (shape for answer in operation.answers for shape in answer.shapes):
                wanted[shape.__name__] = (shape.__name__, "serialization", TypeAdapter(shape))
        wanted.update(webhooks.wanted())
        self.by_key, self.defined = schemas_of(wanted.values())
        webhooks.describe(self.defined)

    def of_shape(self, shape: Any) -> Json:
        assert shape.__name__ in self.defined
        return {"$ref": REF.format(model=shape.__name__)}


def _operation(
    route: Route, operation: Operation, parameters: tuple[Parameter, ...], schemas: _Schemas
) -> Json:
    key = key_of(route)
    codes = operation.codes_at(route.path)
    about = (
        operation.about,
        "Needs the role `admin`." if route.role == "admin" else "",
        "No limit of the tenant's refuses it." if route.role and route.rated == "never" else "",
        f"Errors of its own: {', '.join(f'`{code}`' for code in codes)}." if codes else "",
    )
    made: Json = {
        "operationId": operation.name,
        "tags": [TAGS[key]],
        "summary": operation.summary,
        "description": "\n\n".join(filter(None, about)),
    }
    if route.role is None:
        made["security"] = []
    made["parameters"] = [
        *_parameters(route, operation, parameters, schemas),
        *({"name": name, "in": "header", "required": False, **HEADERS[name]} for name in operation.takes),
        *({"name": name, "in": "header", "required": True, **NEEDED[name]} for name in operation.needs),
    ]
    body = next((one for one in parameters if one.where == "body"), None)
    sends, required = operation.sends, False
    if body is not None:
        schema = schemas.by_key[f"{route} {body.name}"]
        required = bool(schemas.defined.get(schema.get("$ref", "").rpartition("/")[2], {}).get("required"))
        sends = {"application/json": schema}
    if sends:
        content: Json = {kind: {"schema": schema} for kind, schema in sends.items()}
        if operation.bodies:
            examples = {name: {"value": value} for name, value in operation.bodies.items()}
            content["application/json"]["examples"] = examples
        made["requestBody"] = {"required": required, "content": content}
    made["responses"] = {
        **_errors(route, codes, takes_json="application/json" in sends),
        **{str(answer.status): _answer(route, answer, schemas) for answer in operation.answers},
    }
    return made


def _parameters(
    route: Route, operation: Operation, parameters: tuple[Parameter, ...], schemas: _Schemas
) -> Iterator[Json]:
    """Variables of the path, as it has them, and then what a query may have."""
    typed = {one.name for one in parameters if one.where == "path"}
    plain: Json = {"type": "string"}
    for name in re.findall(r"{(\w+)}", key_of(route)):
        schema = schemas.by_key[f"{route} {name}"] if name in typed else plain
        if schema == plain:
            schema = operation.values.get(name, {"type": "string", "minLength": 1})
        words = operation.words(key_of(route), name)
        yield {"name": name, "in": "path", "required": True, "description": words, "schema": schema}
    for one in parameters:
        if one.where != "query":
            continue
        name = one.name.removesuffix("_")
        schema = operation.values.get(name) or _not_null(schemas.by_key[f"{route} {one.name}"])
        is_required = one.default is Python.empty
        if not is_required and one.default is not None:
            schema = {**schema, "default": one.default}
        words = operation.words(key_of(route), name)
        yield {"name": name, "in": "query", "required": is_required, "description": words, "schema": schema}


def _not_null(schema: Json) -> Json:
    """A query has no null: a parameter that may be None is one that may be left out."""
    if isinstance(schema.get("type"), list):
        (kind,) = (each for each in schema["type"] if each != "null")
        return {**schema, "type": kind}
    options = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(options) == 1:
        return {**{name: each for name, each in schema.items() if name != "anyOf"}, **options[0]}
    return schema


def _is_rated(route: Route) -> bool:
    """Whether a limit of its tenant's may refuse it."""
    return route.role is not None and route.rated != "never"


def _answer(route: Route, answer: Answer, schemas: _Schemas) -> Json:
    made: Json = {"description": answer.says}
    headers: dict[str, Json] = {
        **{name: {**RESPONSE_HEADERS[name], "required": True} for name in answer.headers},
        **{name: {"$ref": f"#/components/headers/{name}"} for name in answer.sometimes},
        **(RATE_HEADERS if _is_rated(route) else {}),
    }
    if headers:
        made["headers"] = headers
    content: Json = {kind: {"schema": schema} if schema else {} for kind, schema in answer.raw.items()}
    if answer.form in ("data", "page"):
        content["application/json"] = {"schema": _envelope(answer, schemas)}
    if content:
        made["content"] = content
    return made


def _envelope(answer: Answer, schemas: _Schemas) -> Json:
    options = [schemas.of_shape(shape) for shape in answer.shapes]
    data = options[0] if len(options) == 1 else {"anyOf": options}
    if answer.form == "page":
        items = {"type": "array", "items": data}
        page: Json = {"items": items, "next_cursor": {"type": ["string", "null"]}}
        data = {**_object(page), "properties": {**page, **answer.beside}}
    return _object({"success": {"const": True}, "data": data})


def _object(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _errors(route: Route, own: tuple[str, ...], *, takes_json: bool) -> Json:
    """By status, the shared answers, with this route's codes."""
    codes = [*own, *EVERYWHERE]
    if route.role is not None:
        codes += WITH_TOKEN
    if "{" in route.path:
        codes.append("NOT_FOUND")
    if _is_rated(route):
        codes.append("RATE_LIMITED")
    if takes_json:
        codes += ("UNSUPPORTED_MEDIA_TYPE", "PAYLOAD_TOO_LARGE")
    names = {429: ROUTE_BUSY} | {
        entry.status: name_of(entry.status) for entry in errors.answered() if entry.code in codes
    }
    return {str(status): {"$ref": f"#/components/responses/{names[status]}"} for status in sorted(names)}


def _refusals() -> Json:
    """The errors by status: their codes, and the form of each."""
    by_status: dict[int, list[errors.Entry]] = {}
    for entry in errors.answered():
        if entry.status != OF_NO_OPERATION:
            by_status.setdefault(entry.status, []).append(entry)
    refusals = {name_of(status): _refusal(status, by_status[status]) for status in sorted(by_status)}
    return {**refusals, ROUTE_BUSY: _refusal(429, [])}


def _refusal(status: int, entries: list[errors.Entry]) -> Json:
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


def _failure(entries: list[errors.Entry]) -> Json:
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


def name_of(status: int) -> str:
    """`404` -> `NotFound`."""
    return HTTPStatus(status).phrase.title().replace(" ", "").replace("-", "")
