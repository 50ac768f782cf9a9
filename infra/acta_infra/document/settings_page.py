"""The page `docs/reference/settings.md`: every setting of the Lambdas, from its field and the text under it."""

import ast
import inspect
from collections.abc import Iterator, Mapping

from acta_engine.settings import REQUIRED, Settings

HEAD = """\
# Settings of the Lambdas

Made by `make generate` from the settings themselves.

A setting is a variable of the functions. An environment sets those of people in `settings={…}`, and the local stack
takes them from [its own environment](../design/deployment.md#what-the-local-stack-takes-from-its-environment).
Templates alone set the others.

| variable | default | set by | for | meaning |
|---|---|---|---|---|
"""


def page() -> str:
    return HEAD + "".join(f"{row}\n" for row in _rows())


def _rows() -> Iterator[str]:
    words = _words_under_fields(Settings)
    for name, each in Settings.fields.items():
        bounds = [
            f"{word} {_number(bound)}"
            for word, bound in (("at least", each.least), ("more than", each.above), ("at most", each.most))
            if bound is not None
        ]
        one_of = [f"one of {', '.join(f'`{value}`' if value else 'empty' for value in each.one_of)}"]
        meaning = " ".join(
            [_cell(words.get(name, "")), *(f"({text})" for text in [*bounds, *one_of[: len(each.one_of)]])]
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


def _words_under_fields(model: type) -> dict[str, str]:
    """Field -> the text that stands under it in the class."""
    body = ast.parse(inspect.getsource(model)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = text
            case _:
                pass
    return found


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
