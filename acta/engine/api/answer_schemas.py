"""Reads the docstrings of bodies and answers from their sources, for the API's document and the MCP tools."""

import ast
from functools import cache
from inspect import getsource
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, NotRequired, get_args, get_origin, get_type_hints

from pydantic import Field
from typing_extensions import TypedDict

from acta.engine.api.json_body import WORDS_OF


def field_docs(model: type) -> dict[str, str]:
    """The docstrings under the fields of a class of ours and of its parents. They are in the source alone, which is
    read here.
    """
    found: dict[str, str] = {}
    for each in (vars(each).get(WORDS_OF, each) for each in reversed(model.__mro__)):
        if not each.__module__.startswith("acta.engine."):
            continue
        body = ast.parse(dedent(getsource(each))).body[0].body  # type: ignore[attr-defined]
        for one, after in pairwise(body):
            match one, after:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    found[name] = " ".join(text.split())
    return found


@cache
def as_typed_dict(shape: Any) -> Any:
    """A TypedDict with the class's name, fields and docstrings."""
    words, hints = field_docs(shape), get_type_hints(shape, include_extras=True)
    fields = {name: _worded(hint, words.get(name)) for name, hint in hints.items()}
    make: Any = TypedDict
    made = make(shape.__name__, fields)
    made.__doc__, made.__module__ = shape.__doc__, shape.__module__
    made.__pydantic_config__ = getattr(shape, "__pydantic_config__", {})
    return made


def _worded(hint: Any, words: str | None) -> Any:
    if words is None:
        return hint
    if get_origin(hint) is NotRequired:
        return NotRequired[Annotated[get_args(hint)[0], Field(description=words)]]
    return Annotated[hint, Field(description=words)]
