"""JSON Schemas of definitions as files, from the models of the API's bodies (ADR 90).

`python -m acta_infra.document.definition_files FOLDER` writes them where `acta` reads them.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import BaseModel, TypeAdapter

from acta_engine.agents.routes import PutAgent
from acta_engine.prompts.routes import PutPrompt
from acta_engine.tools.mcp.routes import PutMcpServer
from acta_engine.tools.routes import PutTool
from acta_infra.document.schemas import HTTP_CONFIG, LAMBDA_CONFIG, REF, Json, schemas_of

FOLDER = Path(__file__).resolve().parents[3] / "acta" / "cli" / "apply" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
DEFS = "#/$defs/"


WITHOUT = ("applied", "expected_version", "version")
"""Fields of bodies that no file has: what it replaces is found out."""


class FileKind(NamedTuple):
    """`body`: what the file becomes. `without`: further fields that it does not have. `rules`: beside those of the
    body.
    """

    body: type[BaseModel]
    says: str
    without: tuple[str, ...] = ("name",)
    rules: Mapping[str, Any] = MappingProxyType({})


def _config_of(kind: str, config: Json) -> Json:
    """A tool of the kind has this config."""
    return {
        "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
        "then": {"properties": {"config": config}},
    }


CONFIGS: Json = {"allOf": [_config_of("http", HTTP_CONFIG), _config_of("lambda", LAMBDA_CONFIG)]}
KINDS: Mapping[str, FileKind] = MappingProxyType(
    {
        "tool": FileKind(
            PutTool, "A tool over HTTP, or a Lambda. The file's name is its name.", rules=CONFIGS
        ),
        "prompt": FileKind(PutPrompt, "A managed prompt. The file's name is its name."),
        "mcp-server": FileKind(
            PutMcpServer,
            "An MCP server, and the tools of it that agents may have. The file's name is its name.",
        ),
        "agent": FileKind(PutAgent, "An agent. The file's name is its id.", without=()),
    }
)


def schema_of(kind: FileKind) -> Json:
    """Complete in itself."""
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
    if "config" in properties:  # the rules have what it is
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


def made() -> dict[str, str]:
    """By the file's name, its text."""
    return {
        f"{name}.json": json.dumps(schema_of(kind), indent=1, ensure_ascii=False) + "\n"
        for name, kind in KINDS.items()
    }


if __name__ == "__main__":
    for name, text in made().items():
        (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER).joinpath(name).write_text(text, encoding="utf-8")
