"""Invokes the function of a tool and reads its answer, for tools of kind `lambda` and `python` (design §7).

An exception of the function means that the call failed. A function that timed out or crashed gave no answer. Where
Lambda turns a call away, fails or cannot be reached, that is an outage of AWS, which the session waits out where the
call may be made again (design §2, §6.3).

Of kind `lambda` a call invokes a function `acta-<env>-tool-…` of this account and region. It gets `{"arguments",
"effect_id", "session_id", "tenant"}`; `effect_id` is the idempotency key of the effect. The result is what it returns:
a text as it is, everything else as JSON. All of it for those who write functions: docs/tools.md.
"""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NoReturn

from acta_engine.aws.clients import Service, keeping_alive, make_client
from acta_engine.aws.errors import NOT_FOUND, AwsRefused, is_overdue, read_body, was_sent
from acta_engine.errors import (
    ActaError,
    AwsDenied,
    FunctionUnavailable,
    StoreThrottled,
    StoreUnavailable,
    ToolFailed,
    ToolNotRun,
    ToolUnanswered,
)
from acta_engine.tools.port import CallContext
from acta_engine.tools.tenant.functions import FunctionGuard, FunctionRefused
from acta_engine.tools.tool import LambdaConfig, ToolDefinition, ToolSpec
from acta_engine.untrusted.quoting import OutsideText

MAX_BYTES = 2_097_152
SHOWN_CHARS = 1_000
LAMBDA_ERRORS = ("Extension.", "Runtime.", "Sandbox.")
"""The beginnings of error types that come from Lambda, not from the function: it timed out, crashed or was killed."""
NOT_STARTED = frozenset((
    "Runtime.HandlerNotFound", "Runtime.ImportModuleError", "Runtime.MalformedHandlerName", "Runtime.UnmarshalError",
    "Runtime.UserCodeSyntaxError",
))  # fmt: skip
HAS_RUN = frozenset(("Function.ResponseSizeTooLarge", "Runtime.MarshalError"))
"""The function has returned, but Lambda cannot pass on what it returned."""


@lru_cache(maxsize=16)
def function_client(seconds: int) -> Any:
    """A client that makes one attempt: the SDK's repeats could have the effect twice. Its time limit cannot be changed,
    so there is one for each limit; tools name few. While the function works the connection is silent.
    """
    return keeping_alive(make_client("lambda", read_seconds=seconds, attempts=1))


def invoke(
    client: Callable[[int], Any],
    tool: ToolSpec,
    function: str,
    payload: Mapping[str, Any],
    seconds: float,
    *,
    tells_messages: bool = True,
) -> bytes:
    """What the function returned. `client`: makes a botocore Lambda client that makes one attempt, for a time limit in
    seconds. `function`: its name, with a version after a colon or without. `tells_messages`: the model is told what an
    exception of the function says, else its type alone.

    Raises ToolFailed, ToolUnanswered, ToolNotRun, FunctionUnavailable.
    """
    lambdas = Service("lambda", client(max(1, int(seconds))))
    try:
        answer = lambdas.call(
            "invoke",
            FunctionName=function,
            InvocationType="RequestResponse",
            Payload=json.dumps(payload).encode(),
        )
        body = read_body("invoke", answer["Payload"], MAX_BYTES + 1)
    except StoreThrottled as throttled:
        raise ToolNotRun(FunctionUnavailable(str(throttled))) from None
    except AwsDenied as denied:
        raise ToolNotRun(denied) from None
    except AwsRefused as refused:
        missing = refused.code == NOT_FOUND
        why = "there is no such function" if missing else "AWS refused"
        remedy = (
            f"Deploy the function {function} in this account and region, or name another one."
            if missing
            else ""
        )
        message = f"{tool.name} did not run: {why}. Tell the user, or try another way."
        raise ToolFailed(message, ran=False, remedy=remedy) from None
    except StoreUnavailable as unavailable:
        raise _no_answer(tool, unavailable) from None
    if len(body) > MAX_BYTES:
        raise ToolFailed(f"{tool.name} answered with more than {MAX_BYTES} bytes. It has run; ask for less.")
    if "FunctionError" in answer:
        _failed(tool, body, tells_messages)
    return body


def _no_answer(tool: ToolSpec, error: StoreUnavailable) -> ActaError:
    """What to raise. A function that works for longer than its tool may is no outage: a further attempt would take as
    long.
    """
    if not was_sent(error):
        return ToolNotRun(FunctionUnavailable(str(error)))
    if tool.effect == "once":
        return ToolUnanswered("a tool's function did not answer")
    if not is_overdue(error):
        return FunctionUnavailable(str(error))
    if tool.effect == "read":
        return ToolFailed(f"{tool.name} did not answer in time. Try again later.")
    return ToolUnanswered("a tool's function did not answer in time")


def _failed(tool: ToolSpec, body: bytes, tells_messages: bool) -> NoReturn:
    """Raises ToolFailed with the type of the function's error, without its stack trace. Raises
    ToolUnanswered where nobody knows whether the function had its effect.
    """
    try:
        raised = json.loads(body)
    except (ValueError, RecursionError):
        raised = None
    if not isinstance(raised, dict):
        raised = {}
    kind = raised.get("errorType")
    if not isinstance(kind, str):  # some runtimes report a timeout with a message and no type
        kind = ""
    has_run = kind in HAS_RUN
    by_lambda = not kind or kind.startswith(LAMBDA_ERRORS)
    if by_lambda and not has_run and kind not in NOT_STARTED and tool.effect != "read":
        raise ToolUnanswered("a tool's function ended without an answer")
    message = f": {raised.get('errorMessage', '')}" if tells_messages else ""
    said = f"{kind or 'Error'}{message}"[:SHOWN_CHARS]
    how = "has run, but its answer cannot be passed on" if has_run else "failed"
    raise ToolFailed(f"{tool.name} {how}.", OutsideText("answer", tool.name, said))


class LambdaTool:
    """Runs calls. `guard`: says which functions may be called. `client`: makes a botocore Lambda client that makes one
    attempt. Its argument is the time limit in seconds, from `CallContext.deadline_seconds`.
    """

    def __init__(self, guard: FunctionGuard, client: Callable[[int], Any] = function_client) -> None:
        self._guard = guard
        self._client = client

    def run(self, tool: ToolDefinition, arguments: Mapping[str, Any], context: CallContext) -> OutsideText:
        """Raises ToolFailed, ToolUnanswered, ToolNotRun, FunctionUnavailable."""
        config = tool.config
        assert isinstance(config, LambdaConfig)
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
