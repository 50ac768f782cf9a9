"""Asks the function `tool` for something by a synchronous invocation (ADR 96).

One attempt: the SDK's repeats could have an effect twice. If Lambda certainly turned the invocation away, nothing was
done. Source: Lambda API Reference, Invoke.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from acta.engine.aws.clients import Service, make_client
from acta.engine.aws.errors import AwsRefused, read_body, was_sent
from acta.engine.errors import (
    AnswerLost,
    AwsDenied,
    CallerError,
    Conflict,
    FunctionUnavailable,
    StoreThrottled,
    StoreUnavailable,
)
from acta.engine.tools.port import OPERATION_SECONDS, ToolOperation

START_SECONDS = 5
"""The most seconds until a cold function begins."""
MAX_ANSWER_BYTES = 1_048_576
NEVER_BEGAN = ("Refused", "Runtime.ImportModuleError", "Runtime.HandlerNotFound", "SettingsError")
"""Types of errors after which nothing was done: the function refused the operation, or it did not start."""
TOO_LARGE = (
    "It was done, but the answer is too large to be passed on. Sending it again gives the same: ask for less."
)


@cache
def _client() -> Any:
    return make_client("lambda", read_seconds=OPERATION_SECONDS + START_SECONDS, attempts=1)


class RefusedThere(CallerError):
    """A refusal by `tool`, which the caller is told under its own code."""

    def __init__(self, code: str, message: str, details: Mapping[str, list[str]] | None) -> None:
        super().__init__(message, details)
        self.code = code


class LambdaToolFunction:
    """A ToolFunction. `function`: the name of `tool` and its alias, `acta-<env>-tool:live`; empty: there is none.
    `client`: makes a botocore Lambda client that makes one attempt.
    """

    def __init__(self, function: str, client: Callable[[], Any] = _client) -> None:
        self._function = function
        self._client = client

    def ask(
        self, operation: ToolOperation, tenant: str, user: str, given: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        if not self._function:
            raise FunctionUnavailable("no name of the function tool")
        event = {"op": operation, "tenant": tenant, "user": user, "given": dict(given)}
        try:
            answer = Service("lambda", self._client()).call(
                "invoke",
                FunctionName=self._function,
                InvocationType="RequestResponse",
                Payload=json.dumps(event).encode(),
            )
        except (StoreThrottled, AwsDenied, AwsRefused) as turned_away:
            raise FunctionUnavailable(f"invoke: {type(turned_away).__name__}") from turned_away
        except StoreUnavailable as unavailable:
            if was_sent(unavailable):
                raise AnswerLost from unavailable
            raise FunctionUnavailable("invoke: not reached") from unavailable
        return _answer(answer["Payload"], "FunctionError" in answer)


def _answer(payload: Any, failed: bool) -> Mapping[str, Any]:
    """Raises FunctionUnavailable, AnswerLost, Conflict, RefusedThere."""
    try:
        body = read_body("invoke", payload, MAX_ANSWER_BYTES + 1)
        if len(body) > MAX_ANSWER_BYTES:
            raise Conflict(TOO_LARGE)
        said = json.loads(body)
    except (ValueError, RecursionError, StoreUnavailable) as error:
        raise AnswerLost from error
    match said:
        case {"errorType": str(kind)} if failed and kind in NEVER_BEGAN:
            raise FunctionUnavailable(f"invoke: {kind}")
        case {"errorType": "Function.ResponseSizeTooLarge" | "Runtime.MarshalError"} if failed:
            raise Conflict(TOO_LARGE)
        case {"answer": dict(answer)} if not failed:
            return answer
        case {"refused": {"code": str(code), "message": str(message), "details": details}} if not failed:
            raise RefusedThere(code, message, details)
        case _:
            raise AnswerLost
