"""Tools of kind `lambda`: a function of this account and region named `acta-tool-…` (design §7).

It gets `{"arguments", "effect_id", "session_id", "tenant"}`; `effect_id` is the idempotency key of the effect
(design §6.3). What it returns is the result: a text as it is, everything else as JSON. An exception is a failure.
"""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from shared.adapters.aws_clients import Service, make_client
from shared.adapters.aws_errors import AwsRefused
from shared.domain.errors import StoreThrottled, StoreUnavailable, ToolFailed, ToolUnanswered
from shared.domain.fence import Outside, fenced
from shared.domain.tool import LambdaConfig, ToolDefinition
from shared.ports.tools import CallContext

MAX_BYTES = 2_097_152
SHOWN_CHARS = 1_000
GRAIN_SECONDS = 5
"""Clients have their time limit for good; limits are rounded down to few different ones."""


@lru_cache(maxsize=8)
def _client(seconds: int) -> Any:
    """One attempt: a repeat of the SDK's own would be a second effect."""
    return make_client("lambda", read_seconds=seconds, attempts=1)


class LambdaTool:
    """`client`: for a number of seconds, a botocore Lambda client that waits so long, once."""

    def __init__(self, client: Callable[[int], Any] = _client) -> None:
        self._client = client

    def run(
        self, tool: ToolDefinition, config: LambdaConfig, arguments: Mapping[str, Any], context: CallContext
    ) -> Outside:
        """Raises ToolFailed, ToolUnanswered."""
        payload = {
            "arguments": dict(arguments),
            "effect_id": context.effect_id,
            "session_id": context.session_id,
            "tenant": context.tenant,
        }
        seconds = int(context.deadline_seconds)
        lambdas = Service("lambda", self._client(max(1, seconds - seconds % GRAIN_SECONDS)))
        try:
            answer = lambdas.call(
                "invoke",
                FunctionName=config.function,
                InvocationType="RequestResponse",
                Payload=json.dumps(payload).encode(),
            )
            body: bytes = answer["Payload"].read(MAX_BYTES + 1)
        except StoreThrottled:
            raise ToolFailed(f"{tool.name} is busy and did not run. Try again later.") from None
        except AwsRefused as refused:
            why = (
                "there is no such function" if refused.code == "ResourceNotFoundException" else "AWS refused"
            )
            raise ToolFailed(f"{tool.name} did not run: {why}. Tell the user, or try another way.") from None
        except (StoreUnavailable, OSError):
            if tool.effect == "read":
                raise ToolFailed(f"{tool.name} did not answer in time. Try again later.") from None
            raise ToolUnanswered("a tool of kind lambda did not answer") from None
        if len(body) > MAX_BYTES:
            raise ToolFailed(
                f"{tool.name} answered with more than {MAX_BYTES} bytes. It has run; ask for less."
            )
        if "FunctionError" in answer:
            said = fenced("answer", tool.name, _message(body)[:SHOWN_CHARS])
            raise ToolFailed(f"{tool.name} failed.\n{said}")
        return Outside("answer", tool.name, _text(body))


def _text(body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, str) else text


def _message(body: bytes) -> str:
    """Type and message of what a function raised; its stack trace stays where it is."""
    try:
        raised = json.loads(body)
        return f"{raised.get('errorType', 'Error')}: {raised.get('errorMessage', '')}"
    except (ValueError, RecursionError, AttributeError):
        return "Error"
