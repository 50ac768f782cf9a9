"""The generated part of `acta.Client`: the methods for operations that take one request, and the types of answers.

A method takes the variables of the path, then the fields of the body or the whole definition, then the query. Required
parameters come first. Two of the optional ones can be passed by position, the others only by name.
"""

import re
import textwrap
from collections.abc import Iterator
from inspect import Parameter as Python
from keyword import iskeyword
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel

from acta.client.errors import class_of
from acta.engine.api.arguments import Parameter
from acta.engine.api.json_body import RequestBody
from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from acta.infra.document.openapi import codes_of, parameters_of_handlers
from acta.infra.document.schemas import VIEW, shapes_with_words
from acta.infra.document.words import TAG_WORDS

ROOT = Path(__file__).resolve().parents[3]
CALLS = ROOT / "acta" / "client" / "calls.py"
SHAPES = ROOT / "acta" / "client" / "shapes.py"
HEAD = '''\
"""Made from the table of operations by `make generate`: change the row, not this file."""

# fmt: off
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from acta.client.callers import C, Calls, listing, operation
from acta.client.flows import Flow, HttpRequest, Stream, data, given, key, pages, path_of

if TYPE_CHECKING:
    from acta.client import shapes
'''
GROUPS = {
    "": ("ApiCalls", "Calls about sessions and about the deployment."),
    "agents": ("AgentCalls", TAG_WORDS["Agents"]),
    "tools": ("ToolCalls", TAG_WORDS["Tools"]),
    "mcp_servers": ("McpServerCalls", "Servers whose tools agents may have, once they are confirmed."),
    "tool_secrets": ("ToolSecretCalls", "Credentials that tools send along. Nobody reads them."),
    "notifications": ("NotificationCalls", TAG_WORDS["Notifications"]),
    "triggers": ("TriggerCalls", TAG_WORDS["Triggers"]),
    "prompts": ("PromptCalls", TAG_WORDS["Prompts"]),
    "memories": ("MemoryCalls", TAG_WORDS["Memories"]),
    "schedules": ("ScheduleCalls", TAG_WORDS["Schedules"]),
}
"""The first part of a method's name in the table of operations -> its class, and the docstring of that class."""
TAKES_MORE = ("startSession", "forkSession")
"""A program may give a new session fields that its version of the client does not know yet."""
WIDTH = 118
UNBROKEN = "\N{NO-BREAK SPACE}"
RENAMED = {"from_": "since", "to": "until"}


class Argument(NamedTuple):
    """One parameter of a method. `sent`: what goes into the request under `field`."""

    name: str
    field: str
    type: str
    where: Literal["path", "body", "query"]
    default: str | None
    """None: it is required."""
    sent: str

    def __str__(self) -> str:
        written = f"{self.name}: {self.type}" + ("" if self.default is None else f" = {self.default}")
        return written.replace(" ", UNBROKEN) if len(written) < WIDTH - 12 else written


def calls() -> str:
    parameters = parameters_of_handlers()
    text = HEAD
    for group, (name, says) in GROUPS.items():
        text += f'\n\nclass {name}(Calls[C]):\n    """{says}"""\n'
        for row in OPERATIONS:
            owner, _, method = row.client.rpartition(".")
            if row.client and owner == group and row.client_form != "by hand":
                text += "\n" + _method(row, method, parameters[row])
    return text


def _method(row: Operation, name: str, parameters: tuple[Parameter, ...]) -> str:
    answer = next(each for each in row.answers if each.status < 300)
    is_listing = answer.form in ("page", "searched page")
    arguments = sorted(
        _arguments(row, parameters), key=lambda one: (one.where != "path", one.default is not None)
    )
    optional = [str(one) for one in arguments if one.default is not None]
    takes = [str(one) for one in arguments if one.default is None] + optional[:2]
    named = optional[2:]
    if "Idempotency-Key" in row.takes:
        named.append("idempotency_key: str | None = None".replace(" ", UNBROKEN))
    if row.name in TAKES_MORE:
        takes.insert(0, "/")
        named.append("**more: Any")
    signature = ", ".join(["self", *takes, *(["*"] if named and named[0][0] != "*" else []), *named])
    shape = f"shapes.{answer.shapes[0]}" if answer.shapes else "None"
    query = {one.field: one.sent for one in arguments if one.where == "query"}
    body = [f"{one.field}={one.sent}" for one in arguments if one.where == "body"]
    if is_listing:
        # a keyword of Python cannot be written as an argument's name
        asked = [f'**{{"{n}": {sent}}}' if iskeyword(n) else f"{n}={sent}" for n, sent in query.items()]
        does = f"pages({', '.join([_path(row), *asked])})"
    else:
        given = [f'"{row.method}"', _path(row)]
        if query:
            given.append("{" + ", ".join(f'"{name}": {sent}' for name, sent in query.items()) + "}")
        if row.client_form == "definition":
            given.append("body=dict(definition)")
        elif body:
            given.append(f"body=given({', '.join(body + (['**more'] if row.name in TAKES_MORE else []))})")
        elif row.method == "POST":
            given.append("body={}")
        if "Idempotency-Key" in row.takes:
            given.append("headers=key(idempotency_key)")
        does = f"data(HttpRequest({', '.join(given)}))"
    returns = f"{'Stream' if is_listing else 'Flow'}[{shape}]"
    return "\n".join(
        [
            f"    @{'listing' if is_listing else 'operation'}",
            *_wrapped(f"    def {name}(", signature, f") -> {returns}:"),
            *_docstring(row),
            *_wrapped(f"        return {does.partition('(')[0]}(", does.partition("(")[2][:-1], ")"),
            "",
        ]
    )


def _wrapped(before: str, inside: str, after: str) -> list[str]:
    """The text in one line, or with `inside` on lines of its own if it is too long."""
    if len(before + inside + after) <= WIDTH:
        return [(before + inside + after).replace(UNBROKEN, " ")]
    indent = " " * (len(before) - len(before.lstrip()))
    lines = textwrap.wrap(inside, WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False)
    return [before, *(f"{indent}    {line.replace(UNBROKEN, ' ')}" for line in lines), indent + after]


def _arguments(row: Operation, parameters: tuple[Parameter, ...]) -> Iterator[Argument]:
    types = {one.name: _type(one.type) for one in parameters if one.where == "path"}
    for name in re.findall(r"{(\w+)}", row.plain_path):
        yield Argument(name, name, types.get(name, "str"), "path", None, name)
    for one in parameters:
        if one.where == "body" and row.client_form == "definition":
            yield Argument("definition", "", "Mapping[str, Any]", "body", None, "")
        elif one.where == "body":
            yield from _fields(one.type)
        elif one.where == "query" and one.name != "cursor":
            yield _optional_or_not(one.name, one.type, one.default, "query")


def _fields(body: type[RequestBody]) -> Iterator[Argument]:
    """The arguments for the body's fields. Fields of the class itself come before those that it inherits."""
    own = [name for name in body.model_fields if name in body.__annotations__]
    for name in (*own, *(name for name in body.model_fields if name not in own)):
        field = body.model_fields[name]
        if field.annotation is not NoneType:
            default = Python.empty if field.is_required() else field.default
            yield _optional_or_not(name, field.annotation, default, "body")


def _optional_or_not(name: str, kind: Any, default: Any, where: Literal["body", "query"]) -> Argument:
    """What is left out is not sent, so the API's own default holds."""
    called, field, type_ = RENAMED.get(name, name), name.removesuffix("_"), _type(kind)
    if default is Python.empty:
        return Argument(called, field, type_, where, None, called)
    if default is False and type_ == "bool":
        return Argument(
            called, field, type_, where, "False", f"{called} or None" if where == "query" else called
        )
    return Argument(called, field, f"{type_.removesuffix(' | None')} | None", where, "None", called)


def _type(kind: Any) -> str:
    """The type as a caller writes it, without bounds and patterns, which the API checks."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _type(inner[0])
    if origin in (Union, UnionType):
        return " | ".join(
            dict.fromkeys(_type(each) for each in sorted(inner, key=lambda one: one is NoneType))
        )
    if origin is Literal:
        values = (f'"{value}"' if isinstance(value, str) else repr(value) for value in inner)
        return f"Literal[{', '.join(values)}]"
    if origin is dict:
        return f"Mapping[{_type(inner[0])}, {_type(inner[1])}]"
    if origin is list:
        return f"Sequence[{_type(inner[0])}]"
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return "Mapping[str, Any]"
    return {str: "str", int: "int", float: "float", bool: "bool", NoneType: "None", Any: "Any"}.get(
        kind, "str"
    )


def _path(row: Operation) -> str:
    parts = row.plain_path.removeprefix("/v1/").split("/")
    return f"path_of({', '.join(_part(each) for each in parts)})"


def _part(part: str) -> str:
    if not part.startswith("{"):
        return f'"{part}"'
    name = part.strip("{}")
    return f"str({name})" if name == "version" else name


def _docstring(row: Operation) -> list[str]:
    codes = [code for code in codes_of(row) if code != "IDEMPOTENCY_MISMATCH"]
    raised = [class_of(0, code).__name__ for code in codes]
    said = [f"{row.summary}.", row.about, "It is for admins." if row.role == "admin" else ""]
    if raised:
        said.append(f"Raises {', '.join(raised)}.")
    indent, text = " " * 8, " ".join(filter(None, said))
    lines = textwrap.wrap(f'"""{text}', WIDTH - 3, initial_indent=indent, subsequent_indent=indent)
    return [*lines, f'{indent}"""'] if len(lines) > 1 else [lines[0] + '"""']


SHAPES_HEAD = '''\
"""The types of what the API answers. Made by `make generate`: change a room's shapes, not this file.

They are there for type checkers. A program that only calls an API never loads them, nor pydantic, which they need; one
that names a type while it runs (`from acta.client.shapes import Session`) loads that type's module.
"""

# fmt: off
# isort: off
from importlib import import_module
from typing import TYPE_CHECKING, Any

'''
SHAPES_TAIL = f"""

def __getattr__(name: str) -> Any:
    module = MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    return getattr(import_module(f"acta.engine.{{module}}"), f"{{name}}{VIEW}")
"""


def shapes() -> str:
    modules: dict[str, list[str]] = {}
    for name, shape in sorted(shapes_with_words().items()):
        modules.setdefault(shape.__module__, []).append(name)
    lines = ["if TYPE_CHECKING:"]
    for module, names in sorted(modules.items()):
        lines += _wrapped(
            f"    from {module} import (",
            ", ".join(f"{name}{VIEW}{UNBROKEN}as{UNBROKEN}{name}" for name in names),
            ")",
        )
    exported = ", ".join(f'"{name}"' for name in sorted(shapes_with_words()))
    lines += ["", *_wrapped("__all__ = (", exported, ")"), "", "MODULES = {"]
    for module, names in sorted(modules.items()):
        inside = ", ".join(f'"{name}"' for name in names)
        lines += _wrapped("    **dict.fromkeys((", inside, f',), "{module.removeprefix("acta.engine.")}"),')
    return SHAPES_HEAD + "\n".join([*lines, "}", ""]) + SHAPES_TAIL
