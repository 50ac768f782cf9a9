"""The page `docs/reference/api.md`: every operation, from its row, its handler's parameters and its body's fields."""

from collections.abc import Iterator

from acta_engine.api.answer_schemas import field_docs
from acta_engine.api.arguments import Parameter
from acta_engine.api.operation import Operation
from acta_engine.api.operations import BY_TAG
from acta_infra.document.openapi import codes_of, parameters_of_handlers, words_about
from acta_infra.document.words import TAG_WORDS

HEAD = """\
# Operations of the API

Made by `make generate` from the table of operations. Schemas of bodies and answers are in the
document that each deployment serves (`/v1/openapi.json`); [the page on the API](../api.md) shows how to use it.
"""


def page() -> str:
    parameters = parameters_of_handlers()
    lines = [HEAD]
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
        yield f"- In the audit trail: `{row.action}`."
