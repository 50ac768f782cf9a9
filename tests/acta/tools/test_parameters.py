"""Bounds, defaults and names of a tool's parameters hold in every spelling that pydantic and FastAPI take."""

import dataclasses
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, NotRequired, Optional

import fastapi
import pydantic
import pytest
from annotated_types import Le
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, Field
from typing_extensions import TypedDict

from acta.tools.call import BadTool, Call, ToolError
from acta.tools.define import tool, tool_of
from acta.tools.run import run

CALL = Call("acme", "ses_1", "ann", "eff_1", datetime.now(UTC) + timedelta(minutes=1))
MISSING: Any = object()


class Money(BaseModel):
    amount: float = Field(gt=0, le=100)
    currency: str = Field("EUR", max_length=3)


class Loose(BaseModel):
    value: float


class Order(BaseModel):
    lines: list[Money] = Field(min_length=1)


@dataclasses.dataclass
class Parcel:
    weight: float = Field(gt=0, le=100)
    size: Annotated[int, Field(le=9)] = dataclasses.field(default=1, metadata={"unit": "m"})
    labels: list[str] = dataclasses.field(default_factory=list)


@pydantic.dataclasses.dataclass
class Letter:
    pages: int = Field(1, le=9)


class Address(TypedDict):
    floor: Annotated[int, Field(le=9)]
    note: NotRequired[str]


def required(x: float = Field(gt=0, le=100)) -> Any:
    return x


def ellipsis(x: float = Field(..., gt=0, le=100)) -> Any:
    return x


def annotated(x: Annotated[float, Field(gt=0, le=100)]) -> Any:
    return x


def both(x: Annotated[float, Field(le=100)] = Field(gt=0)) -> Any:
    return x


def from_annotated_types(x: Annotated[float, Le(100)] = Field(gt=0)) -> Any:
    return x


def optional_and_required(x: Optional[float] = Field(gt=0, le=100)) -> Any:  # noqa: UP045
    return x


def aliased(x: float = Field(gt=0, le=100, alias="amount")) -> Any:
    return x


def with_validation_alias(x: Annotated[float, Field(gt=0, le=100, validation_alias="amount")]) -> Any:
    return x


def described(x: float = Field(gt=0, le=100, description="In euros.")) -> Any:
    return x


REQUIRED = (
    required, ellipsis, annotated, both, from_annotated_types, optional_and_required, aliased,
    with_validation_alias, described,
)  # fmt: skip


def called(function: Callable[..., Any], **arguments: Any) -> Any:
    made = tool_of(tool(effect="read")(documented(function)))
    assert made is not None
    return run(made, arguments, CALL)


def schema(function: Callable[..., Any]) -> dict[str, Any]:
    made = tool_of(tool(effect="read")(documented(function)))
    assert made is not None
    return made.parameters.schema


def documented(function: Callable[..., Any]) -> Callable[..., Any]:
    function.__doc__ = function.__doc__ or "It."
    return function


@pytest.mark.parametrize("function", REQUIRED)
def test_a_bound_holds_and_an_argument_without_a_default_is_required(function: Callable[..., Any]) -> None:
    name = "amount" if function in (aliased, with_validation_alias) else "x"
    told = schema(function)
    assert told["required"] == list(told["properties"]) == [name]
    said = told["properties"][name]
    assert {"exclusiveMinimum": 0, "maximum": 100, "type": "number"}.items() <= said.get("anyOf", [said])[
        0
    ].items()
    assert called(function, **{name: 100}) == 100
    for wrong in ({name: 100.1}, {name: 0}, {}, {name: 5, "p0": 5}, {name: 5, "x1": 5}):
        with pytest.raises(ToolError, match="do not fit"):
            called(function, **wrong)


def positional(x: float = Field(5, le=9)) -> Any:
    return x


def named(x: float = Field(default=5, le=9)) -> Any:
    return x


def made(x: float = Field(default_factory=lambda: 5, le=9)) -> Any:
    return x


def made_in_the_type(x: Annotated[float, Field(default_factory=lambda: 5, le=9)]) -> Any:
    return x


def in_the_type(x: Annotated[float, Field(default=5, le=9)]) -> Any:
    return x


def plain(x: Annotated[float, Field(le=9)] = 5) -> Any:
    return x


def both_with_a_default(x: Annotated[float, Field(le=9)] = Field(5, gt=0)) -> Any:
    return x


def optional(x: float | None = Field(5, le=9)) -> Any:
    return x


@pytest.mark.parametrize(
    "function",
    [positional, named, made, made_in_the_type, in_the_type, plain, both_with_a_default, optional],
)
def test_a_default_is_applied_where_the_argument_is_left_out(function: Callable[..., Any]) -> None:
    told = schema(function)
    assert "required" not in told
    if function not in (made, made_in_the_type):  # what a factory makes is not known before
        assert told["properties"]["x"]["default"] == 5
    assert (called(function), called(function, x=9)) == (5, 9)
    with pytest.raises(ToolError, match="less than or equal to 9"):
        called(function, x=9.5)


def test_a_factory_makes_another_value_for_each_call() -> None:
    def collect(found: list[str] = Field(default_factory=list)) -> Any:
        found.append("one")
        return found

    assert called(collect) == called(collect) == ["one"]


@pytest.mark.parametrize(
    ("kind", "fits", "wrong", "got"),
    [
        (Money, {"amount": 100}, {"amount": 101}, Money(amount=100)),
        (Order, {"lines": [{"amount": 1}]}, {"lines": [{"amount": 101}]}, Order(lines=[Money(amount=1)])),
        (Order, {"lines": [{"amount": 1}]}, {"lines": []}, Order(lines=[Money(amount=1)])),
        (Order, {"lines": [{"amount": 1}]}, {"lines": [{}]}, Order(lines=[Money(amount=1)])),
        (Parcel, {"weight": 1}, {"weight": 101}, Parcel(weight=1, size=1, labels=[])),
        (Parcel, {"weight": 1}, {"weight": 1, "size": 10}, Parcel(weight=1, size=1, labels=[])),
        (Parcel, {"weight": 1}, {}, Parcel(weight=1, size=1, labels=[])),
        (Letter, {}, {"pages": 10}, Letter(pages=1)),
        (Address, {"floor": 9}, {"floor": 10}, {"floor": 9}),
        (Address, {"floor": 9}, {"note": "x"}, {"floor": 9}),
    ],
)
def test_bounds_and_defaults_hold_inside_what_a_parameter_takes(
    kind: Any, fits: Any, wrong: Any, got: Any
) -> None:
    def take(x: Any) -> Any:
        return x

    take.__annotations__["x"] = kind
    assert called(take, x=fits) == got
    with pytest.raises(ToolError, match="do not fit"):
        called(take, x=wrong)
    with pytest.raises(ToolError, match="do not fit"):
        called(take)


def test_what_a_field_says_to_the_model_is_in_the_schema() -> None:
    assert schema(described)["properties"]["x"]["description"] == "In euros."


def of_dataclasses(x: int = dataclasses.field(default=5)) -> None: ...
def depends(x: str = fastapi.Depends(str)) -> None: ...
def depends_in_the_type(x: Annotated[str, fastapi.Depends(str)]) -> None: ...
def of_a_query(x: int = fastapi.Query(5, le=9)) -> None: ...
def of_a_body(x: Annotated[int, fastapi.Body(le=9)]) -> None: ...
def private(x: int = pydantic.PrivateAttr(5)) -> None: ...
def sentinel(x: str = MISSING) -> None: ...
def sentinel_in_a_field(x: str = Field(MISSING)) -> None: ...
def twice_bounded(x: Annotated[float, Field(le=100)] = Field(le=50)) -> None: ...
def choices(x: int = Field(validation_alias=AliasChoices("a", "b"))) -> None: ...
def two_of_a_name(x: int = Field(alias="a"), a: int = 1) -> None: ...
def factory_with_data(x: int = Field(default_factory=lambda data: len(data))) -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (of_dataclasses, "x has dataclasses.field as its default"),
        (depends, "x is marked with fastapi.params.Depends"),
        (depends_in_the_type, "x is marked with fastapi.params.Depends"),
        (of_a_query, "x is marked with fastapi.params.Query"),
        (of_a_body, "x is marked with fastapi.params.Body"),
        (private, "x has PrivateAttr as its default"),
        (sentinel, "the default of x, a object, is no value of its type"),
        (sentinel_in_a_field, "the default of x, a object, is no value of its type"),
        (twice_bounded, "x says le twice"),
        (choices, "x has several aliases"),
        (two_of_a_name, "x and a are both called a"),
        (factory_with_data, "default_factory of x takes an argument"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name_where_the_tool_is_defined(
    function: Callable[..., Any], said: str
) -> None:
    with pytest.raises(BadTool) as refused:
        tool(effect="read")(documented(function))
    assert function.__name__ in str(refused.value)
    assert said in str(refused.value)


@given(
    st.integers(2**53, 2**80) | st.integers(-(2**80), -(2**53)), st.sampled_from(["bare", "inside", "whole"])
)
def test_a_whole_number_arrives_to_its_last_digit_or_is_refused(number: int, way: str) -> None:
    def bare(x: float | Decimal) -> Any:
        return x

    def inside(x: list[Loose]) -> Any:
        return x[0].value

    def whole(x: int) -> Any:
        return x

    functions: dict[str, Callable[..., Any]] = {"bare": bare, "inside": inside, "whole": whole}
    try:
        got = called(functions[way], x=[{"value": number}] if way == "inside" else number)
    except ToolError:
        assert way != "whole"
        assert int(float(number)) != number
    else:
        assert got == number


@pytest.mark.parametrize("text", ["12345678901234567890.123456789", "0.10", "-0.0", "5e-324"])
def test_a_decimal_that_comes_as_text_has_the_digits_of_the_text(text: str) -> None:
    def exact(x: Decimal) -> Any:
        return x

    assert called(exact, x=text) == Decimal(text)


def test_a_call_beside_fields_is_still_given() -> None:
    def with_call(call: Call, x: int = Field(1, le=2)) -> Any:
        return call.tenant, x

    assert called(with_call) == (CALL.tenant, 1)


class Stay(BaseModel):
    nights: dict[str, list[date]]


def booked(
    at: datetime | None = None, days: list[date | str] | None = None, stay: Stay | None = None, text: str = ""
) -> str:
    return str([at, days, stay, text])


@pytest.mark.parametrize("digits", ["20261201", "2026", "0", "-86400", "86400.0", "8.64e4", "1764547200000"])
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"at": ...}, "at"),
        ({"at": ..., "text": "7"}, "at"),
        ({"stay": {"nights": {"a": ["2026-12-01", ...]}}}, "stay"),
    ],
)
def test_a_date_in_digits_is_no_count_of_seconds(digits: str, arguments: Any, field: str) -> None:
    told = json.loads(json.dumps(arguments, default=lambda _: digits))
    with pytest.raises(ToolError, match=f"do not fit: {field}"):
        called(booked, **told)


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": "20261201"},
        {"at": "1970-01-01T00:00:00Z", "text": "0"},
        {"at": "2026-12-01", "days": ["2026-12-01", "20261201"]},
        {"stay": {"nights": {"20261201": ["2026-12-01"]}}, "text": "2026"},
        {"at": None, "days": None},
    ],
)
def test_digits_beside_a_date_stay_what_they_are(arguments: Any) -> None:
    assert arguments.get("text", "") in called(booked, **arguments)
