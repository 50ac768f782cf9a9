"""Tools of kind `lambda`: a call invokes a function `acta-<env>-tool-…` of this account and region (design §7).

The function gets `{"arguments", "effect_id", "session_id", "tenant"}`. `effect_id` is the idempotency key of the effect
(design §6.3). The result is what the function returns: a text as it is, everything else as JSON. How it may fail:
`shared/adapters/tools/tenant/invoke.py`. All of it for those who write functions: docs/tools.md.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from shared.adapters.tools.tenant.functions import FunctionGuard, FunctionRefused
from shared.adapters.tools.tenant.invoke import function_client, invoke
from shared.domain.definitions.tool import LambdaConfig, ToolDefinition
from shared.domain.errors import ToolFailed
from shared.domain.untrusted.quoting import OutsideText
from shared.ports.tools import CallContext


class LambdaTool:
    """Runs calls. `guard`: says which functions may be called. `client`: makes a botocore Lambda client that makes one
    attempt. Its argument is the time limit in seconds, from `CallContext.deadline_seconds`.
    """

    def __init__(self, guard: FunctionGuard, client: Callable[[int], Any] = function_client) -> None:
        self._guard = guard
        self._client = client

    def run(
        self, tool: ToolDefinition, config: LambdaConfig, arguments: Mapping[str, Any], context: CallContext
    ) -> OutsideText:
        """Raises ToolFailed, ToolUnanswered, ToolNotRun, FunctionUnavailable."""
        try:
            self._guard.check(context.tenant, config.function)
        except FunctionRefused as refused:
            raise ToolFailed(
                f"{tool.name} did not run: {refused}. Tell the user, or try another way.",
                ran=False,
                remedy=refused.remedy,
            ) from None
        payload = {
            "arguments": dict(arguments),
            "effect_id": context.effect_id,
            "session_id": context.session_id,
            "tenant": context.tenant,
        }
        body = invoke(self._client, tool, config.function, payload, context.deadline_seconds)
        return OutsideText("answer", tool.name, _text(body))


def _text(body: bytes) -> str:
    """What the function returned: a JSON string as its text, everything else as the JSON itself."""
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, str) else text
