"""`@tool(…)`: a Python function becomes a tool of agents (docs/own-tools.md).

The function stays as it is and can be called in tests. `tool_of(function)` returns what `@tool` has found out.
"""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, TypeVar, get_args

from acta.tools.call import MAX_LATER_SECONDS, BadTool
from acta.tools.signature import Function, Parameters, parameters_of

Effect = Literal["read", "idempotent", "once"]
Risk = Literal["read", "write", "network", "system"]
FileAccess = Literal["read", "write"]

NAME_PATTERN = r"[a-zA-Z][a-zA-Z0-9_-]{0,63}"
MAX_DESCRIPTION_CHARS = 2_000
MAX_SCHEMA_BYTES = 16_384
USUAL_TOOL_SECONDS, MAX_TOOL_SECONDS = 60, 600
MIN_RESULT_BYTES, MAX_RESULT_BYTES = 256, 2_097_152
"""Acta's own limits (`acta/engine/tools/tool.py`); a test compares them."""
MARK = "__acta_tool__"
MODULE = "tools"
"""The module of a folder that defines or imports its tools."""

F = TypeVar("F", bound=Function)


@dataclass(frozen=True)
class Tool:
    """A function and what the engine and the model know about it. `high_stakes` None: it follows from the effect."""

    function: Function
    parameters: Parameters
    name: str
    description: str
    effect: Effect
    risk: Risk
    timeout_seconds: int
    high_stakes: bool | None
    approver_role: str | None
    approver_must_differ: bool | None
    repeatable: bool
    result_limit_bytes: int
    files: FileAccess | None
    later: int | None

    def to_spec(self) -> dict[str, Any]:
        """The tool's entry in the catalogue, as JSON, without fields that were not set."""
        said = {
            "name": self.name,
            "description": self.description,
            "input_schema": self.parameters.schema,
            "effect": self.effect,
            "risk": self.risk,
            "timeout_seconds": self.timeout_seconds,
            "high_stakes": self.high_stakes,
            "approver_role": self.approver_role,
            "approver_must_differ": self.approver_must_differ,
            "repeatable": self.repeatable,
            "result_limit_bytes": self.result_limit_bytes,
            "files": self.files,
            "later": None if self.later is None else {"seconds": self.later},
        }
        return {field: value for field, value in said.items() if value is not None}


def tool(
    bare: object = None,
    /,
    *,
    effect: Effect | None = None,
    timeout_seconds: int = USUAL_TOOL_SECONDS,
    name: str | None = None,
    risk: Risk | None = None,
    high_stakes: bool | None = None,
    approver_role: str | None = None,
    approver_must_differ: bool | None = None,
    repeatable: bool = False,
    result_limit_bytes: int = 65_536,
    files: FileAccess | None = None,
    later: int | None = None,
) -> Callable[[F], F]:
    """Makes a function a tool. The function's docstring is the description for the model, and its parameters are the
    arguments; a parameter of the type `Call` gets the call. The function may be `async`. It returns a text, or
    something that pydantic can make JSON of.

    `effect`: required. What happens to a call whose worker died: `read`, it runs again; `idempotent`, it runs again
    with the same `call.effect_id`; `once`, it never runs again by itself and a person is asked whether it happened.
    `timeout_seconds`: how long the engine waits for one call, 1 to 600. `risk`: what the tool touches; by default
    `read` if that is the effect, else `write`. `high_stakes`: a person approves each call; this is the default unless
    `effect` is `read`. `approver_role`, `approver_must_differ`: who approves. `repeatable`: equal calls do not mean
    that the agent is stuck. `result_limit_bytes`: the model gets the beginning of a longer result and may page through
    the rest. `files`: `call.files` reads, or reads and writes, the tenant's files. `later`: a call may return
    `later()`, and its result is awaited at `call.callback_url` for this many seconds, at most 30 days. Raises BadTool.
    """
    if bare is not None:
        raise BadTool(f'{_named(bare)}: write @tool(effect="read") above the function, not @tool alone.')
    if effect is None:
        raise BadTool('a tool says what it does: write @tool(effect="read"), or "idempotent", or "once".')

    def decorate(function: F) -> F:
        made = Tool(
            function=function,
            parameters=parameters_of(_checked(function)),
            name=name or function.__name__,
            description=inspect.cleandoc(function.__doc__ or ""),
            effect=effect,
            risk=risk or ("read" if effect == "read" else "write"),
            timeout_seconds=timeout_seconds,
            high_stakes=high_stakes,
            approver_role=approver_role,
            approver_must_differ=approver_must_differ,
            repeatable=repeatable,
            result_limit_bytes=result_limit_bytes,
            files=files,
            later=later,
        )
        _check(made)
        setattr(function, MARK, made)
        return function

    return decorate


def tool_of(function: object) -> Tool | None:
    """What `@tool` has found out about the function; None if it is no tool."""
    found = getattr(function, MARK, None) if inspect.isfunction(function) else None
    return found if isinstance(found, Tool) else None


def tools_in(module: ModuleType) -> Mapping[str, Tool]:
    """The tools that a module defines or imports, by name. Raises BadTool if two tools have the same name."""
    found: dict[str, Tool] = {}
    for value in vars(module).values():
        made = tool_of(value)
        if made is None:
            continue
        if made.name in found and found[made.name].function is not made.function:
            raise _twice(made)
        found[made.name] = made
    return found


def _checked(function: F) -> F:
    if not inspect.isfunction(function):
        raise BadTool(f"{_named(function)}: a tool is a function defined with def, outside of classes.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise BadTool(f"{_named(function)}: a tool returns its result. Return a list where this one yields.")
    return function


def _check(made: Tool) -> None:
    """Raises BadTool."""
    name = made.function.__name__
    _check_values(name, made)
    if not re.fullmatch(NAME_PATTERN, made.name):
        raise BadTool(f"{name}: a tool's name is a letter, then up to 63 letters, digits, _ and -.")
    if not made.description:
        raise BadTool(
            f"{name}: it has no docstring. Write one: the model learns from it what the tool is for."
        )
    if len(made.description) > MAX_DESCRIPTION_CHARS:
        raise BadTool(
            f"{name}: its docstring has {len(made.description):,} characters, a tool's description at most "
            f"{MAX_DESCRIPTION_CHARS:,}. Keep what the model needs to choose and use the tool."
        )
    size = len(json.dumps(made.parameters.schema).encode())
    if size > MAX_SCHEMA_BYTES:
        raise BadTool(
            f"{name}: the schema of its parameters has {size:,} bytes, at most {MAX_SCHEMA_BYTES:,} are taken. Take "
            "fewer or simpler parameters."
        )
    try:
        f"{made.description}{json.dumps(made.parameters.schema, ensure_ascii=False)}".encode()
    except UnicodeEncodeError:
        raise BadTool(
            f"{name}: its docstring or its schema has half of a surrogate pair. Take it out."
        ) from None
    beside = [tool_of(value) for value in made.function.__globals__.values()]
    others = [each for each in beside if each is not None and each.function is not made.function]
    is_taken = any(each.name == made.name for each in others)
    if is_taken and made.function.__module__ != "__main__":  # a Python prompt may define it again
        raise _twice(made)


def _check_values(name: str, made: Tool) -> None:
    for field, value, known in (
        ("effect", made.effect, get_args(Effect)),
        ("risk", made.risk, get_args(Risk)),
        ("files", made.files, (None, *get_args(FileAccess))),
    ):
        if value not in known:
            words = ", ".join(repr(each) for each in known if each is not None)
            raise BadTool(f"{name}: {field} is one of {words}, not {value!r}.")
    for field, number, low, high in (
        ("timeout_seconds", made.timeout_seconds, 1, MAX_TOOL_SECONDS),
        ("result_limit_bytes", made.result_limit_bytes, MIN_RESULT_BYTES, MAX_RESULT_BYTES),
        *(() if made.later is None else [("later", made.later, 1, MAX_LATER_SECONDS)]),
    ):
        if type(number) is not int or not low <= number <= high:
            raise BadTool(f"{name}: {field} is a whole number from {low:,} to {high:,}, not {number!r}.")


def _twice(made: Tool) -> BadTool:
    return BadTool(
        f"{made.function.__name__}: there is a tool {made.name} here already. Rename one of the two."
    )


def _named(function: object) -> str:
    return getattr(function, "__name__", type(function).__name__)
