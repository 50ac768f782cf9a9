"""What `@tool` makes of a function, and what it refuses, with words that help."""

import json
import re
import types
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

import acta
from acta import Call, tool
from acta.engine.tools import tool as product
from acta.engine.tools.schema import check_input
from acta.engine.tools.tenant.definition import check_schema
from acta.engine.tools.tool import ToolSpec
from acta.tools import define
from acta.tools.call import MAX_LATER_DEFAULT_CHARS, MAX_LATER_SECONDS, BadTool
from acta.tools.define import Tool, tool_of, tools_in


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Line(BaseModel):
    """One line of an order."""

    article: str
    count: int = Field(ge=1)


class Tree(BaseModel):
    name: str
    below: list["Tree"] = []


def made(function: Callable[..., Any], **more: Any) -> Tool:
    found = tool_of(tool(**{"effect": "read", **more})(function))
    assert found is not None
    return found


def look_up(order_id: str, call: Call, verbose: bool = False) -> str:
    """Looks up an order.

    By its number.
    """
    return f"{order_id} for {call.tenant}{'!' if verbose else ''}"


def test_schema_and_description_come_from_the_function() -> None:
    assert made(look_up, timeout_seconds=20).to_spec() == {
        "name": "look_up",
        "description": "Looks up an order.\n\nBy its number.",
        "input_schema": {
            "type": "object",
            "properties": {
                "order_id": {"type": "string"},
                "verbose": {"type": "boolean", "default": False},
            },
            "required": ["order_id"],
            "additionalProperties": False,
        },
        "effect": "read",
        "risk": "read",
        "timeout_seconds": 20,
        "repeatable": False,
        "result_limit_bytes": 65_536,
    }


def test_what_is_said_of_a_tool_is_in_its_spec() -> None:
    said = {
        "name": "find",
        "effect": "once",
        "risk": "network",
        "high_stakes": True,
        "approver_role": "billing",
        "approver_must_differ": False,
        "repeatable": True,
        "result_limit_bytes": 1_000,
        "files": "write",
    }

    spec = made(look_up, **said).to_spec()

    assert {field: spec[field] for field in said} == said


def test_a_spec_is_one_that_the_engine_takes() -> None:
    spec = made(look_up, effect="idempotent", approver_role="billing", later=60).to_spec()

    read = ToolSpec.model_validate(spec)

    assert read.later is not None
    assert (read.later.seconds, read.later.default) == (60, None)

    assert (read.name, read.effect, read.risk, read.timeout_seconds) == ("look_up", "idempotent", "write", 60)


def test_limits_are_those_of_the_engine() -> None:
    assert f"^{define.NAME_PATTERN}$" == product.TOOL_NAME_PATTERN
    assert define.MAX_DESCRIPTION_CHARS == product.MAX_DESCRIPTION_CHARS
    assert define.MAX_SCHEMA_BYTES == product.MAX_SCHEMA_BYTES
    assert define.MAX_TOOL_SECONDS == product.MAX_TOOL_SECONDS
    assert define.USUAL_TOOL_SECONDS == product.USUAL_TOOL_SECONDS
    assert define.MAX_RESULT_BYTES == product.MAX_RESULT_LIMIT_BYTES
    assert MAX_LATER_SECONDS == product.MAX_LATER_SECONDS
    assert MAX_LATER_DEFAULT_CHARS == product.MAX_LATER_DEFAULT_CHARS


def order(
    line: Line,
    due: date,
    price: Decimal,
    colour: Colour,
    size: Literal["s", "m"],
    tree: Tree,
    note: Annotated[str, Field(description="For the packer", max_length=20)] = "",
    tags: list[str] | None = None,
    copy: bool = False,  # a method of pydantic's models has the name, too
    schema: dict[str, int] | None = None,
) -> Line:
    """Orders."""
    return line


def test_models_and_what_json_has_are_described_so_that_the_engine_can_check_them() -> None:
    spec = ToolSpec.model_validate(made(order).to_spec())

    check_schema(spec.input_schema)
    check_input(
        spec,
        {
            "line": {"article": "pen", "count": 2},
            "due": "2026-01-02",
            "price": 1.5,
            "colour": "red",
            "size": "s",
            "tree": {"name": "a", "below": [{"name": "b"}]},
            "copy": True,
        },
    )
    assert spec.input_schema["properties"]["note"]["description"] == "For the packer"
    assert "title" not in spec.input_schema["properties"]["line"]


def test_the_function_stays_directly_callable(example_call: Call) -> None:
    decorated = tool(effect="read")(look_up)

    assert decorated is look_up
    assert decorated("7", call=example_call) == "7 for acme"


async def later(order_id: str) -> str:
    """Looks up later."""
    return order_id


def test_an_async_function_is_a_tool() -> None:
    assert made(later).to_spec()["input_schema"]["required"] == ["order_id"]


def no_words(order_id: str) -> str:
    return order_id


def no_type(order_id) -> str:  # type: ignore[no-untyped-def]
    """Looks up."""
    return str(order_id)


def stars(*order_ids: str) -> str:
    """Looks up."""
    return ""


def named_stars(**fields: str) -> str:
    """Looks up."""
    return ""


def positional(order_id: str, /) -> str:
    """Looks up."""
    return ""


def two_calls(one: Call, other: Call) -> str:
    """Looks up."""
    return ""


def no_call(call: Call | None = None) -> str:
    """Looks up."""
    return ""


def no_json(socket: types.ModuleType) -> str:
    """Looks up."""
    return ""


def unknown_type(order: "Nowhere") -> str:  # type: ignore[name-defined]  # noqa: F821
    """Looks up."""
    return ""


def grüße(größe: str) -> str:
    """Greets."""
    return größe


def yields(order_id: str) -> Any:
    """Looks up."""
    yield order_id


@pytest.mark.parametrize(
    ("function", "more", "says"),
    [
        (no_words, {}, "no_words: it has no docstring. Write one"),
        (no_type, {}, "the parameter order_id has no type. Write one, such as order_id: str"),
        (stars, {}, "*order_ids cannot be described to a model. Name each parameter, or take a list"),
        (named_stars, {}, "**fields cannot be described to a model"),
        (positional, {}, "Leave out the / among the parameters"),
        (two_calls, {}, "one and other are both a Call. Leave one out"),
        (no_call, {}, "write call: Call. Every call has one"),
        (no_json, {}, "pydantic cannot describe the parameters"),
        (unknown_type, {}, "the type Nowhere is not known where the function stands. Import it"),
        (grüße, {}, "a tool's name is a letter, then up to 63 letters"),
        (yields, {}, "Return a list where this one yields"),
        (Line, {}, "Line: a tool is a function defined with def"),
        (look_up, {"name": "look up"}, "a tool's name is a letter"),
        (look_up, {"effect": "reads"}, "effect is one of 'read', 'idempotent', 'once', not 'reads'"),
        (look_up, {"risk": "none"}, "risk is one of 'read', 'write', 'network', 'system', not 'none'"),
        (look_up, {"files": "all"}, "files is one of 'read', 'write', not 'all'"),
        (look_up, {"timeout_seconds": 601}, "timeout_seconds is a whole number from 1 to 600, not 601"),
        (look_up, {"timeout_seconds": 1.5}, "timeout_seconds is a whole number from 1 to 600, not 1.5"),
        (look_up, {"result_limit_bytes": 0}, "result_limit_bytes is a whole number from 256 to 2,097,152"),
        (look_up, {"later": 0}, "later is a whole number from 1 to 2,592,000, not 0"),
        (look_up, {"later": True}, "later is a whole number from 1 to 2,592,000, not True"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_with_what_to_do(
    function: Callable[..., Any], more: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadTool, match=re.escape(says)):
        made(function, **more)


def test_a_decorator_without_its_brackets_is_told_so() -> None:
    with pytest.raises(BadTool, match=re.escape('look_up: write @tool(effect="read") above the function')):
        tool(look_up)


def test_a_tool_without_an_effect_is_told_which_there_are() -> None:
    with pytest.raises(BadTool, match=re.escape('write @tool(effect="read"), or "idempotent", or "once"')):
        tool()


def test_descriptions_and_schemas_that_are_too_long_are_refused() -> None:
    def wordy(order_id: Annotated[str, Field(description="x" * 20_000)]) -> str:
        """Looks up."""
        return order_id

    with pytest.raises(BadTool, match="the schema of its parameters has 20,"):
        made(wordy)
    wordy.__doc__ = "x" * 2_001
    with pytest.raises(BadTool, match="its docstring has 2,001 characters"):
        made(wordy)


def test_words_that_no_request_to_a_model_could_carry_are_refused() -> None:
    def half(name: Annotated[str, Field(description="such as \ud83d")]) -> str:
        """Looks up."""
        return name

    with pytest.raises(BadTool, match="half: its docstring or its schema has half of a surrogate pair"):
        made(half)
    half.__annotations__["name"] = str
    half.__doc__ = "Looks up \udce9."
    with pytest.raises(BadTool, match="half of a surrogate pair"):
        made(half)


def module(source: str, name: str = "folder") -> types.ModuleType:
    made = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), vars(made))  # noqa: S102
    return made


ONE = '''
from acta import tool

@tool(effect="read")
def a(x: str) -> str:
    """A."""
    return x
'''


def test_two_tools_of_one_name_are_refused_where_the_second_is_defined() -> None:
    with pytest.raises(BadTool, match=r"a: there is a tool a here already\. Rename one of the two\."):
        module(ONE + ONE)
    with pytest.raises(BadTool, match="b: there is a tool a here already"):
        module(ONE + ONE.replace("def a", "def b").replace('"read"', '"read", name="a"'))


def test_a_modules_tools_are_those_it_defines_or_imports_by_name() -> None:
    first = module(ONE)
    second = module(ONE.replace("def a", "def b"), "other")
    vars(second)["imported"] = vars(second)["same"] = vars(first)["a"]

    assert sorted(tools_in(second)) == ["a", "b"]


def test_two_imported_tools_of_one_name_are_refused() -> None:
    first, second = module(ONE), module(ONE, "other")
    vars(first)["again"] = vars(second)["a"]

    with pytest.raises(BadTool, match="there is a tool a here already"):
        tools_in(first)


def test_the_package_names_what_tools_are_made_with() -> None:
    assert {"tool", "Call", "ToolError", "later", "LaterAnswer"} <= set(acta.__all__)
    json.dumps(made(order).to_spec())
