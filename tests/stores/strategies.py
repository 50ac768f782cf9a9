"""Hypothesis strategies for the stored documents, made from their fields: a new one is tried by itself."""

from collections.abc import Callable
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from hypothesis import strategies as st
from pydantic import BaseModel

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
NUMBERS = st.integers(min_value=1) | st.integers(min_value=1, max_value=9)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
Document = TypeVar("Document", bound=BaseModel)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


def documents(model: type[Document]) -> st.SearchStrategy[Document]:
    """Any document of this model; schema versions are this release's."""
    return st.builds(
        model,
        **{
            name: st.just(info.default)
            if name == "version" and not info.is_required()
            else values(info.annotation)
            for name, info in model.model_fields.items()
        },
    )


def values(annotation: Any) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return values(arguments[0])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of([values(each) for each in arguments])
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=2)
    if isinstance(annotation, type) and issubclass(annotation, tuple):  # a NamedTuple
        return st.builds(annotation, *map(values, annotation.__annotations__.values()))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return st.deferred(lambda: documents(annotation))
    return _PLAIN[annotation]()


_PLAIN: dict[Any, Callable[[], st.SearchStrategy[Any]]] = {
    Any: lambda: JSON,
    str: lambda: TEXT,
    int: lambda: NUMBERS,
    float: lambda: FLOATS,
    bool: st.booleans,
    NoneType: st.none,
    datetime: lambda: st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
}
