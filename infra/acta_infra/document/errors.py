"""The catalogue of errors, made from their classes: what is answered, why runs fail, what sessions wait for.

`python -m acta_infra.document.errors` writes it into docs/api.md.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from acta_engine.api.error_answers import STATUSES
from acta_engine.api.json_body import UnsupportedMediaType
from acta_engine.api.operations import MethodNotAllowed
from acta_engine.errors import CallerError, SessionError
from acta_engine.recovery.outage import explanations

ADDED = (UnsupportedMediaType, MethodNotAllowed)
"""Imported, so that they are among the classes."""
PAGE = Path(__file__).resolve().parents[3] / "docs" / "api.md"
BEGIN, END = "<!-- errors: made from their classes -->\n", "<!-- end of errors -->\n"

Raised = TypeVar("Raised", bound=Exception)


class Entry(NamedTuple):
    code: str
    status: int
    says: str


def answered() -> list[Entry]:
    """The codes of answers by status; of classes with the same code the first one's words."""
    found: dict[str, str] = {}
    classes: list[type[CallerError]] = [CallerError, *_below(CallerError)]
    for each in classes:
        if "code" in vars(each):
            found.setdefault(each.code, _words(each))
    assert set(found) == set(STATUSES), "every code has a status"
    return [Entry(code, status, found[code]) for code, status in STATUSES.items()]


def of_runs() -> list[tuple[str, str, str]]:
    """Code, what happened, and what a person can do, of `error` in a session: of the class that names the code."""
    found = {
        each.code: (each.code, _words(each), each.remedy)
        for each in _below(SessionError)
        if "code" in vars(each)
    }
    return [found[code] for code in sorted(found)]


def _below(one: type[Raised]) -> Iterator[type[Raised]]:
    for each in one.__subclasses__():
        yield each
        yield from _below(each)


def _words(one: type) -> str:
    """The first paragraph of its docstring."""
    said = inspect.cleandoc(one.__doc__ or "").partition("\n\n")[0]
    assert said, f"{one.__name__} has no docstring"
    return " ".join(said.split())


def catalogue() -> str:
    rows_of_answers = [f"| `{each.code}` | {each.status} | {each.says} |" for each in answered()]
    rows_of_runs = [f"| `{code}` | {says} | {remedy} |" for code, says, remedy in of_runs()]
    rows_of_waits = [f"| `{code}` | {says} |" for code, says in sorted(explanations().items())]
    return f"""\
### What is answered

| code | status | what it means |
|---|---|---|
{chr(10).join(rows_of_answers)}

### Why a run has failed

`error.code` of a session, beside `PLAN_FAILED` (the agent found no plan that could work),
`STUCK` (it did the same again and again, whatever it was told) and `STEP_FAILED`
(stored data is damaged).

| code | what it means | what to do |
|---|---|---|
{chr(10).join(rows_of_runs)}

### What a session waits for

`cause.code` of a session. It goes on by itself; `retry_at` says when it tries again, and
`retrying` that it does now.

| code | what it means |
|---|---|
{chr(10).join(rows_of_waits)}
"""


def with_catalogue(page: str) -> str:
    """The page, with the catalogue as it is now. Raises ValueError for a page without its place."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("docs/api.md has no place for the catalogue of errors")
    return f"{before}{BEGIN}\n{catalogue()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_catalogue(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
