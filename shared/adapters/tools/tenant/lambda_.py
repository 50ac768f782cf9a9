"""Tools of kind `lambda`: a function of this account and region named `acta-tool-…` (design §7).

It gets `{"arguments", "effect_id", "session_id", "tenant"}`; `effect_id` is the idempotency key of the effect
(design §6.3). What it returns is the result: a text as it is, everything else as JSON. An exception is a failure;
a function that Lambda ended, because it timed out or crashed, gave no answer.
"""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NoReturn

from shared.adapters.aws.clients import Service, make_client
from shared.adapters.aws.errors import AwsRefused
from shared.domain.definitions.tool import LambdaConfig, ToolDefinition
from shared.domain.errors import StoreThrottled, StoreUnavailable, ToolFailed, ToolUnanswered
from shared.domain.untrusted.quoting import OutsideText, quoted
from shared.ports.tools import CallContext

MAX_BYTES = 2_097_152
SHOWN_CHARS = 1_000
GRAIN_SECONDS = 5
"""Clients have their time limit for good; limits are rounded down to few different ones."""

ENDED = ("Extension.", "Runtime.", "Sandbox.")
"""How the error types begin that are Lambda's, not the function's: it was timed out or killed, or it crashed."""
NEVER_BEGAN = frozenset((
    "Runtime.HandlerNotFound", "Runtime.ImportModuleError", "Runtime.MalformedHandlerName", "Runtime.UnmarshalError",
    "Runtime.UserCodeSyntaxError",
))  # fmt: skip
HAS_RUN = frozenset(("Function.ResponseSizeTooLarge", "Runtime.MarshalError"))
"""It returned, and only what it returned cannot be passed on."""


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
    ) -> OutsideText:
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
            _failed(tool, body)
        return OutsideText("answer", tool.name, _text(body))


def _text(body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, str) else text


def _failed(tool: ToolDefinition, body: bytes) -> NoReturn:
    """Type and message of what a function raised; its stack trace stays where it is."""
    try:
        raised = json.loads(body)
    except (ValueError, RecursionError):
        raised = None
    if not isinstance(raised, dict):
        raised = {}
    kind = raised.get("errorType")
    if not isinstance(kind, str):  # how some runtimes' time limits are told: with a message alone
        kind = ""
    has_run = kind in HAS_RUN
    ended = not kind or kind.startswith(ENDED)
    if ended and not has_run and kind not in NEVER_BEGAN and tool.effect != "read":
        raise ToolUnanswered("a tool of kind lambda ended without an answer")
    said = quoted("answer", tool.name, f"{kind or 'Error'}: {raised.get('errorMessage', '')}"[:SHOWN_CHARS])
    how = "has run, but its answer cannot be passed on" if has_run else "failed"
    raise ToolFailed(f"{tool.name} {how}.\n{said}")
