"""The work of every keyword of JSON Schema grows no faster than its schema and its input together, all of it is
counted, and no message keeps a large value.

A keyword that is left to the package may use functions of the package that are known to be linear, no others: what a
loop in C does inside them cannot be counted from here.
"""

import json
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType
from typing import Any

import pytest

from acta.engine.tools import schema as own
from acta.engine.tools.schema import (
    MAX_MESSAGE_CHARS,
    MOST_WORK,
    TooMuchWork,
    limited_work,
    validator_of,
)
from acta.engine.tools.tool import MAX_SCHEMA_BYTES
from tests.growth.test_schemas import CALLS_A_UNIT

Grown = Callable[[int], tuple[Any, Any]]
"""A schema and a value for it, both as large as the number says."""


def texts(n: int) -> list[str]:
    return [f"x{place}" for place in range(n)]


def fields(n: int, value: Any = 0) -> dict[str, Any]:
    return dict.fromkeys(texts(n), value)


def to(n: int) -> dict[str, Any]:
    return {"$defs": {"a/" * n: {"type": "integer"}}}


CASES: dict[str, tuple[Grown, ...]] = {
    "$dynamicRef": (lambda n: ({"$dynamicRef": "#/$defs/" + "a~1" * n, **to(n)}, "x" * n),),
    "$ref": (lambda n: ({"$ref": "#/$defs/" + "a~1" * n, **to(n)}, "x" * n),),
    "additionalProperties": (
        lambda n: ({"properties": fields(n, True), "additionalProperties": False}, fields(2 * n)),
        lambda n: ({"additionalProperties": {"type": "string"}}, fields(n)),
    ),
    "allOf": (lambda n: ({"allOf": [{"type": "integer"}] * n}, "x"),),
    "anyOf": (
        lambda n: ({"anyOf": [{"type": "integer"}] * n}, "x"),
        lambda n: ({"anyOf": [False] * n}, "x"),
        lambda n: ({"anyOf": [False]}, "x" * n),
    ),
    "const": (lambda n: ({"const": [0] * n}, [*[0] * (n - 1), 1]),),
    "contains": (
        lambda n: ({"contains": {"type": "string"}}, [0] * n),
        lambda n: ({"contains": False}, [0] * n),
    ),
    "dependentRequired": (lambda n: ({"dependentRequired": {"x0": texts(2 * n)}}, fields(n)),),
    "dependentSchemas": (lambda n: ({"dependentSchemas": fields(n, False)}, fields(n)),),
    "enum": (lambda n: ({"enum": texts(n)}, "x" * n),),
    "exclusiveMaximum": (lambda n: ({"exclusiveMaximum": 0}, 10**n),),
    "exclusiveMinimum": (lambda n: ({"exclusiveMinimum": 0}, -(10**n)),),
    "format": (lambda n: ({"format": "email"}, "x" * n),),
    "if": (lambda n: ({"if": {"items": False}, "then": True, "else": False}, [0] * n),),
    "items": (
        lambda n: ({"items": {"type": "string"}}, [0] * n),
        lambda n: ({"items": False}, [0] * n),
    ),
    "maxItems": (lambda n: ({"maxItems": 1}, [0] * n),),
    "maxLength": (lambda n: ({"maxLength": 1}, "x" * n),),
    "maxProperties": (lambda n: ({"maxProperties": 1}, fields(n)),),
    "maximum": (lambda n: ({"maximum": 0}, 10**n),),
    "minItems": (lambda n: ({"minItems": 2 * n}, [0] * n),),
    "minLength": (lambda n: ({"minLength": 2 * n}, "x" * n),),
    "minProperties": (lambda n: ({"minProperties": 2 * n}, fields(n)),),
    "minimum": (lambda n: ({"minimum": 0}, -(10**n)),),
    "multipleOf": (lambda n: ({"multipleOf": 0.3}, 10 ** (n // 2)), lambda n: ({"multipleOf": 7}, 10**n)),
    "not": (lambda n: ({"not": {"type": "array"}}, [0] * n), lambda n: ({"not": False}, [0] * n)),
    "oneOf": (
        lambda n: ({"oneOf": [{"type": "integer"}] * n}, "x"),
        lambda n: ({"oneOf": [True] * n}, "x" * n),
    ),
    "pattern": (lambda n: ({"pattern": "^(x|x)*$"}, "x" * n + "!"),),
    "patternProperties": (lambda n: ({"patternProperties": {"^x": False, "y": True}}, fields(n)),),
    "prefixItems": (lambda n: ({"prefixItems": [False] * n}, [0] * n),),
    "properties": (lambda n: ({"properties": fields(n, False)}, fields(n)),),
    "propertyNames": (lambda n: ({"propertyNames": {"maxLength": 1}}, fields(n)),),
    "required": (lambda n: ({"required": texts(2 * n)}, fields(n)),),
    "type": (lambda n: ({"type": ["integer", "object"]}, [0] * n),),
    "unevaluatedItems": (
        lambda n: ({"items": True, "unevaluatedItems": False}, [0] * n),
        lambda n: ({"unevaluatedItems": {"type": "string"}}, [0] * n),
        lambda n: ({"allOf": [{"contains": {"type": "string"}}], "unevaluatedItems": False}, [0] * n),
    ),
    "unevaluatedProperties": (
        lambda n: ({"properties": fields(n, True), "unevaluatedProperties": False}, fields(2 * n)),
        lambda n: ({"unevaluatedProperties": {"type": "string"}}, fields(n)),
    ),
    "uniqueItems": (
        lambda n: ({"uniqueItems": True}, [{"a": place} for place in range(n)]),
        lambda n: ({"uniqueItems": True}, ["x" * 100_000 * n] * 2),
    ),
}
"""By keyword."""
LINEAR = {
    "ValidationError": "the message",
    "ensure_list": "makes a list of one text",
    "equal": "goes through the smaller of two values; `const` and `enum` cost what they have",
    "Fraction": "of one number",
}
"""What keywords that are left to the package may use of it."""
BUILTINS = {
    "OverflowError",
    "all",
    "any",
    "enumerate",
    "float",
    "int",
    "isinstance",
    "len",
    "list",
    "range",
    "repr",
    "zip",
}
METHODS = {
    "TYPE_CHECKER", "_validate_reference", "append", "cause", "check", "denominator", "descend", "evolve", "extend",
    "format_checker", "get", "is_type", "is_valid", "items", "join", "message", "FormatError",
}  # fmt: skip
"""Names after a dot, and of an error that is caught. `check` is of formats, and the validator has none."""


def made(schema: Any) -> Any:
    with limited_work():
        return validator_of(json.dumps(schema))


KEYWORDS: dict[str, Any] = {name: counted.__wrapped__ for name, counted in made({}).VALIDATORS.items()}


def test_every_keyword_is_grown_here() -> None:
    assert CASES.keys() == KEYWORDS.keys()


def used(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from used(constant)


@pytest.mark.parametrize("name", KEYWORDS)
def test_a_keyword_of_the_package_uses_nothing_that_may_compare_each_with_each(name: str) -> None:
    keyword = KEYWORDS[name]
    if keyword.__module__ != own.__name__:
        assert set(used(keyword.__code__)) <= LINEAR.keys() | BUILTINS | METHODS


def spent(schema: Any, value: Any) -> tuple[int, int, list[Any]]:
    """Units, calls of Python functions, and the errors."""
    validator = made(schema)
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    with limited_work(10**9) as left:
        before = left.units
        sys.setprofile(count)
        try:
            errors = list(validator.iter_errors(value))
        finally:
            sys.setprofile(None)
        return before - left.units, calls, errors


def with_context(errors: Iterable[Any]) -> Iterator[Any]:
    for error in errors:
        yield error
        yield from with_context(error.context)


@pytest.mark.parametrize("name", CASES)
def test_the_work_of_a_keyword_grows_with_schema_and_value_and_all_of_it_is_counted(name: str) -> None:
    for grown in CASES[name]:
        few, _, _ = spent(*grown(200))
        units, calls, _ = spent(*grown(400))
        assert units <= 2 * few + 10
        assert calls <= CALLS_A_UNIT * units


@pytest.mark.parametrize("name", CASES)
def test_no_message_keeps_a_large_value(name: str) -> None:
    for grown in CASES[name]:
        for error in with_context(spent(*grown(400))[2]):
            assert len(error.message) <= MAX_MESSAGE_CHARS
            assert len(str(error.args[0])) <= MAX_MESSAGE_CHARS


def test_a_check_that_is_given_up_has_taken_a_limited_amount_of_memory() -> None:
    schema = {"anyOf": [False] * 900, "items": {"$ref": "#"}}
    assert len(json.dumps(schema)) <= MAX_SCHEMA_BYTES
    value: Any = "x" * 20_000
    for _ in range(95):
        value = [value]
    validator = made(schema)
    tracemalloc.start()
    try:
        with pytest.raises(TooMuchWork), limited_work():
            list(validator.iter_errors(value))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 400 * MOST_WORK, "bytes: 80 MB of a function's 512"
