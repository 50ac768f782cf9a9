"""JSON Schemas by pydantic: of request bodies, parameters and answers for the document, and of definitions as files,
which `acta` reads where `make generate` writes them (ADR 90).

A rule that is only in a validator's code is added here if JSON Schema can express it.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import is_typeddict

import acta.engine
from acta.engine.agents.routes import PutAgent
from acta.engine.api.answer_schemas import as_typed_dict, field_docs
from acta.engine.api.answers import TypedDict
from acta.engine.notifications.receiver import usable_secret
from acta.engine.prompts.routes import PutPrompt
from acta.engine.schedules.routes import PutSchedule
from acta.engine.tools import tool
from acta.engine.tools.mcp.routes import PutMcpServer
from acta.engine.tools.routes import PutTool
from acta.engine.tools.secret_routes import usable_value
from acta.engine.tools.tool import (
    FUNCTION_PATTERN,
    MAX_FUNCTION_CHARS,
    MAX_VALUE_CHARS,
    MIN_VALUE_CHARS,
    NAME_PATTERN,
)
from acta.engine.triggers.routes import PutTrigger
from acta.engine.untrusted import texts

Json = dict[str, Any]
REF = "#/components/schemas/{model}"
VIEW = "View"
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
"""A validator -> as much of its rule as JSON Schema can express."""


class Schemas(GenerateJsonSchema):
    def normalize_name(self, name: str) -> str:
        return published_name(super().normalize_name(name))

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """The schema of a model, with the docstrings of the class and its fields as descriptions."""
        made = super().model_schema(schema)
        if "description" in made:
            made["description"] = " ".join(made["description"].split())
        words_of = field_docs(schema["cls"])
        for field in made.get("properties", {}).keys() & words_of.keys():
            each, words = made["properties"][field], words_of[field]
            each["description"] = words
            if each.get("default", 0) is None:
                del each["default"]  # absent and null mean the same
        return made

    def function_after_schema(self, schema: core_schema.AfterValidatorFunctionSchema) -> JsonSchemaValue:
        made = super().function_after_schema(schema)
        return {**made, **BY_CODE.get(schema["function"]["function"], {})}

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Writes `type: [string, null]` where that is enough, as people do, instead of `anyOf`."""
        made = super().nullable_schema(schema)
        options = made.get("anyOf", [])
        if len(options) == 2 and isinstance(options[0].get("type"), str) and "enum" not in options[0]:
            return {**options[0], "type": [options[0]["type"], "null"]}
        return made


def schemas_of(
    wanted: Iterable[tuple[str, JsonSchemaMode, TypeAdapter[Any]]],
) -> tuple[dict[str, Json], dict[str, Json]]:
    """Key -> its schema, and the definitions to which these schemas refer."""
    found, rest = TypeAdapter.json_schemas(list(wanted), ref_template=REF, schema_generator=Schemas)
    defined: dict[str, Json] = rest.get("$defs", {})
    for name, each in defined.items():
        _tidy(each, name)
    by_key = {key: each for (key, _), each in found.items()}
    for each in by_key.values():
        _without_titles(each)
    return by_key, defined


def published_name(name: str) -> str:
    """What the document and the client call the shape of an answer: `Session` for the class `SessionView`."""
    return name.removesuffix(VIEW)


def shapes_with_words() -> dict[str, Any]:
    """Published name -> the shape of an answer, from every module of the engine whose name ends with `answers`. The
    docstrings of their fields become descriptions. Raises ValueError for a shape whose name does not end in `View`.
    """
    found: dict[str, Any] = {}
    base: Any = TypedDict
    for each in walk_packages(acta.engine.__path__, "acta.engine."):
        module = import_module(each.name) if each.name.endswith("answers") else None
        for name, shape in vars(module).items() if module is not None else ():
            if getattr(shape, "__module__", "") != each.name or not isinstance(shape, type):
                continue  # it is only imported there, or is not a class
            if shape is base or not (is_typeddict(shape) or issubclass(shape, base)):
                continue
            if not name.endswith(VIEW):
                raise ValueError(f"{each.name}.{name}: the name of an answer's shape ends in {VIEW}")
            found[published_name(name)] = shape if is_typeddict(shape) else as_typed_dict(shape)
    return found


def _tidy(schema: Json, name: str) -> None:
    _without_titles(schema)
    properties: dict[str, Json] = schema.get("properties", {})
    for field in [field for field, each in properties.items() if each.get("type") == "null"]:
        del properties[field]  # a field that exists only so that it is refused with a reason
    change = CHANGES.get(name)
    if change is not None:
        change(properties)


def _without_titles(schema: Any) -> None:
    """Removes titles: they only repeat the name in other letters."""
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
    """The schema of an object with these fields and no others."""
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


FILES = Path(__file__).resolve().parents[3] / "acta" / "cli" / "apply" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
DEFS = "#/$defs/"


WITHOUT = ("applied", "expected_version", "version")
"""Fields of request bodies that files do not have: which version a file replaces is looked up."""


class FileKind(NamedTuple):
    """`body`: the request body that the file becomes. `without`: further fields of it that the file does not have.
    `rules`: rules in addition to those of the body.
    """

    body: type[BaseModel]
    says: str
    without: tuple[str, ...] = ("name",)
    rules: Mapping[str, Any] = MappingProxyType({})


def _config_of(kind: str, config: Json) -> Json:
    """The rule that a tool of this kind has this config."""
    return {
        "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
        "then": {"properties": {"config": config}},
    }


CONFIGS: Json = {"allOf": [_config_of("http", HTTP_CONFIG), _config_of("lambda", LAMBDA_CONFIG)]}
FILE_KINDS: Mapping[str, FileKind] = MappingProxyType(
    {
        "tool": FileKind(
            PutTool, "A tool over HTTP, or a Lambda. The file's name is its name.", rules=CONFIGS
        ),
        "prompt": FileKind(
            PutPrompt, "A managed prompt. The file's name is its name.", without=("name", "active")
        ),
        "mcp-server": FileKind(
            PutMcpServer,
            "An MCP server, and the tools of it that agents may have. The file's name is its name.",
        ),
        "agent": FileKind(PutAgent, "An agent. The file's name is its id.", without=()),
        "schedule": FileKind(
            PutSchedule, "Sessions that start at times. The file's name is the schedule's id."
        ),
        "trigger": FileKind(
            PutTrigger,
            "Events from outside that start sessions. The file's name is the trigger's id.",
            without=("trigger_id",),
        ),
    }
)


def schema_of(kind: FileKind) -> Json:
    """The schema of a kind of file. It contains all definitions to which it refers."""
    by_key, defined = schemas_of([("file", "validation", TypeAdapter(kind.body))])
    (whole,) = by_key.values()
    name = whole["$ref"].removeprefix(REF.format(model=""))
    body = defined.pop(name)
    without = {*WITHOUT, *kind.without}
    properties = {field: each for field, each in body["properties"].items() if field not in without}
    required = [field for field in body.get("required", ()) if field not in without]
    made = {
        "$schema": DIALECT,
        **body,
        "description": kind.says,
        "properties": properties,
        "required": required,
        **kind.rules,
    }
    if "config" in properties:  # the rules say what it contains
        properties["config"] = {"type": "object", "description": properties["config"]["description"]}
    used = _used(made, defined)
    made["$defs"] = {each: defined[each] for each in sorted(used)}
    inside: Json = _refs_inside(made)
    return inside


def _used(schema: Any, defined: Mapping[str, Json]) -> set[str]:
    """Names of the definitions that the schema refers to, directly or by another one."""
    found: set[str] = set()
    waiting: list[Any] = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            name = str(each.get("$ref", "")).removeprefix(REF.format(model=""))
            if name in defined and name not in found:
                found.add(name)
                waiting.append(defined[name])
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return found


def _refs_inside(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: DEFS + each.removeprefix(REF.format(model="")) if name == "$ref" else _refs_inside(each)
            for name, each in value.items()
        }
    return [_refs_inside(each) for each in value] if isinstance(value, list) else value


def definition_files() -> dict[str, str]:
    """File name -> its text."""
    return {
        f"{name}.json": json.dumps(schema_of(kind), indent=1, ensure_ascii=False) + "\n"
        for name, kind in FILE_KINDS.items()
    }
