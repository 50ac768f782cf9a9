"""The catalogue of errors, made from their classes: what is answered, why runs fail, what sessions wait for."""

import inspect
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from shared.api.request.json_body import UnsupportedMediaType
from shared.api.response.errors import STATUSES
from shared.api.routes import MethodNotAllowed
from shared.domain.errors import CallerError, SessionError
from shared.domain.rules.outage_causes import explanations

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


def of_waits() -> list[tuple[str, str]]:
    """Code and meaning of `cause` in a session."""
    return sorted(explanations().items())


def _below(one: type[Raised]) -> Iterator[type[Raised]]:
    for each in one.__subclasses__():
        yield each
        yield from _below(each)


def _words(one: type) -> str:
    """The first paragraph of its docstring."""
    said = inspect.cleandoc(one.__doc__ or "").partition("\n\n")[0]
    assert said, f"{one.__name__} has no docstring"
    return " ".join(said.split())
