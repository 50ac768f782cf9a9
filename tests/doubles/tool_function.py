"""The function `tool` as the API asks it, in this process."""

from collections.abc import Callable, Mapping
from typing import Any

from acta.engine.tools.port import ToolOperation

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class FakeToolFunction:
    """A ToolFunction. `answers`: by operation, what it does with what is given."""

    def __init__(self, answers: Mapping[ToolOperation, Answer] | None = None) -> None:
        self.answers = dict(answers or {})
        self.asked: list[tuple[ToolOperation, str, str, Mapping[str, Any]]] = []

    def ask(
        self, operation: ToolOperation, tenant: str, user: str, given: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        self.asked.append((operation, tenant, user, given))
        return self.answers[operation](given)
