"""What the server of a tool asks a person before it goes on with a call (MCP 2026-07-28, Multi round-trip requests)."""

from collections.abc import Mapping
from typing import Any

from shared.domain.schema.stored_model import StoredModel


class ToolQuestion(StoredModel):
    """`requests`: by the server's keys, each with the server's `message` and either the JSON `schema` of a form or a
    `url` that it wants a person to open. `state`: the server's own, which it gets back as it is. `responses`: by the
    same keys, what it is answered; None: nobody has answered yet.
    """

    requests: dict[str, dict[str, Any]]
    state: str | None = None
    responses: dict[str, Any] | None = None

    def accepted(self, contents: Mapping[str, Mapping[str, Any]]) -> "ToolQuestion":
        """Answered with the fields of each form."""
        responses = {
            key: {"action": "accept", **({"content": dict(contents.get(key, {}))} if "schema" in one else {})}
            for key, one in self.requests.items()
        }
        return self.model_copy(update={"responses": responses})

    def declined(self) -> "ToolQuestion":
        return self.model_copy(update={"responses": {key: {"action": "decline"} for key in self.requests}})
