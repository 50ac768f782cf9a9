"""Final answers against the schema of their session (ADR 69)."""

from typing import Protocol

from shared.domain.rules.structured_answer import CheckedAnswer


class AnswerCheck(Protocol):
    def __call__(self, schema: str, text: str) -> CheckedAnswer:
        """Whether the text is JSON that fits the schema, bare or in one block of Markdown. Never raises. `schema`: as
        JSON; it was checked when the session was started, or its agent written.
        """
        ...
