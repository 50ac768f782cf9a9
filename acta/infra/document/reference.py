"""The pages of docs/reference that `make generate` writes: operations of the API, errors, settings of the Lambdas,
and tools with their arguments.
"""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from acta.engine.agents.agent import SubAgent
from acta.engine.api.answer_schemas import field_docs
from acta.engine.api.arguments import Parameter
from acta.engine.api.operation import Operation
from acta.engine.api.operations import BY_TAG
from acta.engine.errors import SessionError
from acta.engine.recovery.outage import EXPLAINED
from acta.engine.settings import REQUIRED, Settings
from acta.engine.subagents.tool import input_schema
from acta.engine.tools.builtin import builtins
from acta.engine.tools.tool import BuiltinTool
from acta.infra.document.openapi import (
    answered,
    below,
    codes_of,
    parameters_of_handlers,
    words_about,
    words_of,
)
from acta.infra.document.words import TAG_WORDS
from acta.tools.call import Files

OPERATIONS = """\
# Operations of the API

Made by `make generate` from the table of operations. Schemas of bodies and answers are in the
document that each deployment serves (`/v1/openapi.json`); [the page on the API](../api.md) shows how to use it.
"""
SETTINGS = """\
# Settings of the Lambdas

Made by `make generate` from the settings themselves.

A setting is a variable of the functions. An environment sets those of people in `settings={…}`, and the local stack
takes them from [its own environment](../design/deployment.md#what-the-local-stack-takes-from-its-environment).
Templates alone set the others.

| variable | default | set by | for | meaning |
|---|---|---|---|---|
"""
TOOLS = """\
# Tools and their arguments

Made by `make generate` from the tools themselves. [The page on tools](../tools.md) says what they are for and how more
are added. The descriptions are those that models read.
"""
AS_TOOL = """\
## An agent as a tool

Of each agent that an agent [may call](../sub-agents.md).
"""
FILES = """\
## `call.files` of a Python tool

A Python tool with `files="read"` or `files="write"` reaches the tenant's files
([own-tools.md](../own-tools.md)). A `File` has `path` and `bytes`.

| method | |
|---|---|
"""
KINDS = {"string": "text", "boolean": "true or false", "integer": "whole number", "object": "object"}


def operations_page() -> str:
    """The page with every operation, made from its row, its handler's parameters and its body's fields."""
    parameters = parameters_of_handlers()
    lines = [OPERATIONS]
    for tag, rows in BY_TAG.items():
        lines += [f"## {tag}", "", TAG_WORDS[tag], ""]
        for row in rows:
            lines += [*_operation(row, parameters[row]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _operation(row: Operation, parameters: tuple[Parameter, ...]) -> Iterator[str]:
    yield f"### `{row.method} {row.plain_path}`"
    yield ""
    yield f"{row.summary}. {row.about}".strip()
    yield ""
    needed = "no token" if row.role is None else f"a token with the role `{row.role}`"
    yield f"- Needs {needed}."
    for name in (one.name.removesuffix("_") for one in parameters if one.where == "query"):
        yield f"- Query `{name}`: {words_about(row, name)}"
    for one in parameters:
        if one.where == "body":
            words = field_docs(one.type)
            yield from (f"- Body `{name}`: {words[name]}" for name in one.type.model_fields if name in words)
    if row.takes or row.needs:
        yield f"- Headers: {', '.join(f'`{name}`' for name in (*row.takes, *row.needs))}."
    for answer in row.answers:
        yield f"- {answer.status}: {answer.says}"
    if codes := codes_of(row):
        yield f"- Errors of its own: {', '.join(f'`{code}`' for code in codes)}."
    if row.client:
        yield f"- In Python: `client.{row.client}`."
    if row.mcp is not None:
        yield f"- Over MCP: the tool `{row.mcp.name}`."
    if row.action is not None:
        where = ", where the environment records reads" if row.method == "GET" else ""
        yield f"- In the audit trail{where}: `{row.action}`."
    if row.unrecorded:
        yield f"- Not in the audit trail: {row.unrecorded}"


def errors_page() -> str:
    """The page of errors, made from their classes: what is answered, why runs fail, what sessions wait for."""
    failed = {each.code: each for each in below(SessionError) if "code" in vars(each)}
    rows_of_answers = [f"| `{each.code}` | {each.status} | {each.says} |" for each in answered()]
    rows_of_runs = [
        f"| `{code}` | {words_of(failed[code])} | {failed[code].remedy} |" for code in sorted(failed)
    ]
    rows_of_waits = [f"| `{code}` | {says} |" for code, says in sorted(EXPLAINED.items())]
    return f"""\
# Errors

Made by `make generate` from the classes of errors.

## What is answered

| code | status | what it means |
|---|---|---|
{chr(10).join(rows_of_answers)}

## Why a run has failed

`error.code` of a session, beside `PLAN_FAILED` (the agent found no plan that could work),
`STUCK` (it did the same again and again, whatever it was told) and `STEP_FAILED`
(stored data is damaged).

| code | what it means | what to do |
|---|---|---|
{chr(10).join(rows_of_runs)}

## What a session waits for

`cause.code` of a session. It goes on by itself; `retry_at` says when it tries again, and
`retrying` that it does now.

| code | what it means |
|---|---|
{chr(10).join(rows_of_waits)}
"""


def settings_page() -> str:
    """The page with every setting of the Lambdas, made from its field and the text under it."""
    return SETTINGS + "".join(f"{row}\n" for row in _setting_rows())


def _setting_rows() -> Iterator[str]:
    words = field_docs(Settings)
    for name, each in Settings.fields.items():
        bounds = [
            f"{word} {_number(bound)}"
            for word, bound in (("at least", each.least), ("more than", each.above), ("at most", each.most))
            if bound is not None
        ]
        one_of = [f"one of {', '.join(f'`{value}`' if value else 'empty' for value in each.one_of)}"]
        meaning = " ".join(
            [
                words.get(name, "").replace("|", "\\|"),
                *(f"({text})" for text in [*bounds, *one_of[: len(each.one_of)]]),
            ]
        )
        functions = ", ".join(f"`{function}`" for function in each.to) or "all"
        yield f"| `{each.variable}` | {_value(each.default)} | {each.by} | {functions} | {meaning.strip()} |"


def _value(value: object) -> str:
    if value is REQUIRED:
        return "it has to be set"
    if value == "":
        return "empty"
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return _number(value)
    return f"`{dict(value) if isinstance(value, Mapping) else value}`"


def _number(value: float) -> str:
    return f"{value:,}" if abs(value) >= 1_000 else f"{value:g}"


def tools_page() -> str:
    """The page with the arguments of each built-in tool, of an agent as a tool, and the methods of `call.files`."""
    lines = [TOOLS]
    for tool in builtins().values():
        lines += [f"## `{tool.name}`", "", tool.description, "", *_tool_facts(tool)]
        lines += [*_arguments(tool.input_schema), ""]
    lines += [AS_TOOL, *_arguments(input_schema(SubAgent(agent="other"))), "", FILES + "\n".join(_methods())]
    return "\n".join(lines) + "\n"


def _tool_facts(tool: BuiltinTool) -> Iterator[str]:
    if tool.high_stakes:
        yield "- A person approves each call."
    elif tool.file is not None and tool.file.replace is not None:
        yield f"- A person approves a call with `{tool.file.replace}`."
    if tool.optional:
        yield "- Only where the environment's `optional_tools` name it."


def _arguments(schema: Mapping[str, Any]) -> Iterator[str]:
    """A line for each field."""
    for name, each in schema["properties"].items():
        need = "" if name in schema["required"] else ", optional"
        words = f" {each['description']}." if "description" in each else ""
        yield f"- `{name}`: {_kind(each)}{need}.{words}"


def _kind(schema: Mapping[str, Any]) -> str:
    """What a schema takes, in words."""
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if schema["type"] == "array":
        most = f"up to {schema['maxItems']}" if "maxItems" in schema else "a list"
        return f"{most} of: {_kind(schema['items'])}"
    if "properties" in schema:
        return "object with " + ", ".join(
            f"`{name}` ({_kind(each)})" for name, each in schema["properties"].items()
        )
    kind = KINDS.get(schema["type"], schema["type"])
    bounds = [
        word.format(_number(schema[bound]))
        for bound, word in (
            ("minimum", "at least {}"),
            ("maximum", "at most {}"),
            ("maxLength", "at most {} characters"),
        )
        if bound in schema
    ]
    return ", ".join([kind, *bounds])


def _methods() -> Iterator[str]:
    for name, method in vars(Files).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            signature = str(inspect.signature(method)).replace("(self, ", "(").replace("acta.tools.call.", "")
            yield f"| `{name}{signature}` | {inspect.getdoc(method)} |"
