"""The function `tool` does something for another one: it alone meets the network and tenants' credentials (ADR 96)."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

ToolOperation = Literal["try_tool"]
"""What `tool` does when the API asks. What each one is: `functions/tool/operations.py`."""
OPERATION_SECONDS = 20
"""The most that an operation may take. With the start of a cold function it still fits into a request to the API."""


class ToolFunction(Protocol):
    def ask(
        self, operation: ToolOperation, tenant: str, user: str, given: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Has `tool` do it for the tenant, once, and returns its answer. `user`: the subject of who asks. `given`:
        what the operation needs, without a secret: names, and what the caller has sent.

        Raises FunctionUnavailable where nothing was done, AnswerLost where nobody knows, and CallerError for what
        the operation itself has to say to the caller.
        """
        ...
