"""The catalogue of errors, made from their classes: what is answered, why runs fail, what sessions wait for.

`make generate` writes it into docs/reference/errors.md.
"""

import inspect
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from acta_engine.api.error_answers import STATUSES
from acta_engine.api.json_body import UnsupportedMediaType
from acta_engine.api.operations import MethodNotAllowed
from acta_engine.errors import CallerError, SessionError
from acta_engine.recovery.outage import explanations

ADDED = (UnsupportedMediaType, MethodNotAllowed)
"""Imported, so that they are among the classes."""

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


def page() -> str:
    rows_of_answers = [f"| `{each.code}` | {each.status} | {each.says} |" for each in answered()]
    rows_of_runs = [f"| `{code}` | {says} | {remedy} |" for code, says, remedy in of_runs()]
    rows_of_waits = [f"| `{code}` | {says} |" for code, says in sorted(explanations().items())]
    return f"""\
# Errors

Made by `make generate` from the classes of errors.

## What is answered

| code | status | what it means |
|---|---|---|
{chr(10).join(rows_of_answers)}

## Why a run has failed

`error.code` of a session, beside `PLAN_FAILED` (the agent found no plan that could work),
`STUCK` (it did the same again and again, whatever it was told) and `STEP_FAILED`
(stored data is damaged).

| code | what it means | what to do |
|---|---|---|
{chr(10).join(rows_of_runs)}

## What a session waits for

`cause.code` of a session. It goes on by itself; `retry_at` says when it tries again, and
`retrying` that it does now.

| code | what it means |
|---|---|
{chr(10).join(rows_of_waits)}
"""
