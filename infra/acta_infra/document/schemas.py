"""JSON Schemas of request bodies, parameters and answers, by pydantic.

A rule that only a validator's code has is added here where JSON Schema can say it.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, get_args

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import is_typeddict

import acta_engine
from acta_engine.api.answer_schemas import as_typed_dict, field_docs
from acta_engine.api.answers import TypedDict
from acta_engine.notifications.routes import usable_secret
from acta_engine.tools import tool
from acta_engine.tools.secret_routes import usable_value
from acta_engine.tools.tool import (
    FUNCTION_PATTERN,
    MAX_FUNCTION_CHARS,
    MAX_VALUE_CHARS,
    MIN_VALUE_CHARS,
    NAME_PATTERN,
)
from acta_engine.untrusted import texts

Json = dict[str, Any]
REF = "#/components/schemas/{model}"
MIDDLE = f"{{{MIN_VALUE_CHARS - 2},{MAX_VALUE_CHARS - 2}}}"
VISIBLE = {"pattern": r"\S"}
BASE64 = "[A-Za-z0-9+/]"
LAST = f"({BASE64}{{4}}|{BASE64}{{3}}=|{BASE64}{{2}}==)"
SIGNING_SECRET = rf"^(whsec_({BASE64}{{4}}){{5,125}}{LAST}|(?!whsec_)[!-~]{{16,512}})$"
BY_CODE: Mapping[Callable[..., Any], Json] = {
    texts.not_blank: VISIBLE,
    texts.readable: {"pattern": r"^[^\x00]*$"},
    usable_secret: {"pattern": SIGNING_SECRET, "writeOnly": True},
    usable_value: {"pattern": rf"^[!-~][ -~]{MIDDLE}[!-~]$", "writeOnly": True},
}
"""A validator -> what JSON Schema can say of it."""


class Schemas(GenerateJsonSchema):
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """With what the docstrings of the class and of its fields say."""
        made = super().model_schema(schema)
        if "description" in made:
            made["description"] = " ".join(made["description"].split())
        words_of = field_docs(schema["cls"])
        for field in made.get("properties", {}).keys() & words_of.keys():
            each, words = made["properties"][field], words_of[field]
            each["description"] = words
            if each.get("default", 0) is None:
                del each["default"]  # absent and null say the same
        return made

    def function_after_schema(self, schema: core_schema.AfterValidatorFunctionSchema) -> JsonSchemaValue:
        made = super().function_after_schema(schema)
        return {**made, **BY_CODE.get(schema["function"]["function"], {})}

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """`type: [string, null]` where that says it, as people write it."""
        made = super().nullable_schema(schema)
        options = made.get("anyOf", [])
        if len(options) == 2 and isinstance(options[0].get("type"), str) and "enum" not in options[0]:
            return {**options[0], "type": [options[0]["type"], "null"]}
        return made


def schemas_of(
    wanted: Iterable[tuple[str, JsonSchemaMode, TypeAdapter[Any]]],
) -> tuple[dict[str, Json], dict[str, Json]]:
    """By key, the schema of each; and the definitions that they refer to."""
    found, rest = TypeAdapter.json_schemas(list(wanted), ref_template=REF, schema_generator=Schemas)
    defined: dict[str, Json] = rest.get("$defs", {})
    for name, each in defined.items():
        _tidy(each, name)
    by_key = {key: each for (key, _), each in found.items()}
    for each in by_key.values():
        _without_titles(each)
    return by_key, defined


def shapes_with_words() -> dict[str, Any]:
    """The shapes of answers by name, from every module of the engine whose name ends with `answers`. The docstrings of
    their fields become descriptions.
    """
    found: dict[str, Any] = {}
    base: Any = TypedDict
    for each in walk_packages(acta_engine.__path__, "acta_engine."):
        module = import_module(each.name) if each.name.endswith("answers") else None
        for name, shape in vars(module).items() if module is not None else ():
            if getattr(shape, "__module__", "") != each.name or not isinstance(shape, type):
                continue  # it is imported there, or no class
            if is_typeddict(shape):
                found[name] = shape
            elif issubclass(shape, base) and shape is not base:
                found[name] = as_typed_dict(shape)
    return found


def _tidy(schema: Json, name: str) -> None:
    _without_titles(schema)
    properties: dict[str, Json] = schema.get("properties", {})
    for field in [field for field, each in properties.items() if each.get("type") == "null"]:
        del properties[field]  # a field that is there only to be refused with a reason
    change = CHANGES.get(name)
    if change is not None:
        change(properties)


def _without_titles(schema: Any) -> None:
    """A title that repeats a name in other letters says nothing."""
    if isinstance(schema, dict):
        if isinstance(schema.get("title"), str):
            del schema["title"]
        for name, each in schema.items():
            if name not in ("examples", "default", "enum", "const"):
                _without_titles(each)
    elif isinstance(schema, list):
        for each in schema:
            _without_titles(each)


def _tool(properties: dict[str, Json]) -> None:
    """Of kind `mcp` there are none yet, and `config` depends on the kind."""
    rules: Json = {
        "kind": {"type": "string", "enum": ["http", "lambda"]},
        "config": {"anyOf": [HTTP_CONFIG, LAMBDA_CONFIG]},
        "name": {"type": "string", "pattern": tool.TOOL_NAME_PATTERN},
    }
    for field, rule in rules.items():
        properties[field] = {**rule, "description": properties[field]["description"]}


def _object(says: str, required: list[str], **properties: Json) -> Json:
    """With these fields and no other."""
    return {
        "type": "object",
        "description": says,
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


SECRET = _object(
    "The secret that has the value.", ["secret"], secret={"type": "string", "pattern": NAME_PATTERN}
)
PLACES: Json = {"type": "string", "enum": ["path", "query", "header", "body"]}
PARAMETER = _object(
    "Where an argument goes, and what the API calls it.",
    ["in"],
    **{"in": PLACES, "name": {"type": "string", "pattern": tool.WIRE_NAME_PATTERN}},
)
HTTP_CONFIG = _object(
    "Of kind `http`.",
    ["url", "method"],
    url={
        "type": "string",
        "minLength": 1,
        "maxLength": tool.MAX_URL_CHARS,
        "description": "`{name}` in its path is an argument.",
    },
    parameters={
        "type": "object",
        "maxProperties": tool.MAX_PARAMETERS,
        "description": "By argument. All others go into the query of a GET, else into a JSON body.",
        "additionalProperties": PARAMETER,
    },
    method={"type": "string", "enum": list(get_args(tool.Method))},
    headers={
        "type": "object",
        "maxProperties": tool.MAX_HEADERS,
        "propertyNames": {"pattern": tool.HEADER_PATTERN},
        "additionalProperties": {"anyOf": [{"type": "string", "pattern": tool.HEADER_VALUE_PATTERN}, SECRET]},
    },
)
LAMBDA_CONFIG = _object(
    "Of kind `lambda`.",
    ["function"],
    function={"type": "string", "pattern": FUNCTION_PATTERN, "maxLength": MAX_FUNCTION_CHARS},
)
CHANGES: Mapping[str, Callable[[dict[str, Json]], None]] = {"CreateTool": _tool, "PutTool": _tool}
