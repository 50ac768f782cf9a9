"""What a Task's Resource names: a Lambda, by its ARN or by `lambda:invoke`, or another service's action."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

from acta.local_aws.access import policies
from acta.local_aws.credentials import Credentials
from acta.local_aws.ministack import module
from acta.local_aws.settings import REGION
from acta.local_aws.step_functions import errors, invocation_check

_states: Any = module("services.stepfunctions")
_lambda: Any = module("services.lambda_svc")

_INTEGRATION = "arn:aws:states:::"
_TOKEN = ".waitForTaskToken"

Event = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Resource:
    """`arn` is without the integration pattern; `service` and `action` are what the history calls them."""

    arn: str
    service: str
    action: str
    waits_for_token: bool
    is_function: bool

    @classmethod
    def from_arn(cls, arn: str) -> Resource:
        waits = arn.endswith(_TOKEN)
        if not arn.startswith(_INTEGRATION):
            is_function = ":function:" in arn
            return cls(arn, "lambda" if is_function else "activity", arn, waits, is_function)
        service, _, action = arn.removeprefix(_INTEGRATION).rpartition(":")
        return cls(arn.removesuffix(_TOKEN), service, action, waits, False)

    def invoke(self, arguments: Any, credentials: Credentials) -> Any:
        """The task's result. Raises a state error. `credentials`: of the machine's role, which has to allow it.

        Of other services than Lambda the role is not asked.
        """
        if self.is_function:
            return _invoke_function(_states._extract_lambda_ref(self.arn), arguments, credentials)[0]
        if self.arn == f"{_INTEGRATION}lambda:invoke":
            reference = _states._resolve_lambda_function_ref(
                arguments.get("FunctionName", ""), optimized=True
            )
            reply, version = _invoke_function(reference, arguments.get("Payload", {}), credentials)
            return _with_metadata(reply, version)
        return _states._invoke_resource(self.arn, arguments)

    def scheduled(self, arguments: str, timeout: int, heartbeat: int | None) -> Event:
        limits = {"timeoutInSeconds": timeout} | ({"heartbeatInSeconds": heartbeat} if heartbeat else {})
        if self.is_function:
            details = {"resource": self.arn, "input": arguments, **limits}
            return "LambdaFunctionScheduled", {"lambdaFunctionScheduledEventDetails": details}
        return "TaskScheduled", {
            "taskScheduledEventDetails": self._named() | {"region": REGION, "parameters": arguments} | limits
        }

    def started(self) -> Event:
        if self.is_function:
            return "LambdaFunctionStarted", {}
        return "TaskStarted", {"taskStartedEventDetails": self._named()}

    def submitted(self, result: object) -> Event:
        return "TaskSubmitted", {"taskSubmittedEventDetails": self._named() | {"output": json.dumps(result)}}

    def succeeded(self, output: str) -> Event:
        if self.is_function:
            return "LambdaFunctionSucceeded", {"lambdaFunctionSucceededEventDetails": {"output": output}}
        return "TaskSucceeded", {"taskSucceededEventDetails": self._named() | {"output": output}}

    def ended(self, how: str, error: str, cause: str) -> Event:
        """`how` is Failed or TimedOut."""
        details = {"error": error, "cause": cause}
        if self.is_function:
            return f"LambdaFunction{how}", {f"lambdaFunction{how}EventDetails": details}
        return f"Task{how}", {f"task{how}EventDetails": self._named() | details}

    def _named(self) -> dict[str, Any]:
        return {"resourceType": self.service, "resource": self.action}


def _invoke_function(reference: str, event: Any, credentials: Credentials) -> tuple[Any, str]:
    """The reply and the version that gave it. Raises a state error with the `errorType` as name, the body as cause."""
    function, config, name = _lambda._get_func_record_for_ref(reference)
    if not function or not config:
        raise errors.failed("Lambda.ResourceNotFoundException", f"Function not found: {name}")
    refused = policies.refusal(credentials, "lambda:InvokeFunction", "lambda", _called(reference))
    if refused is not None:
        raise errors.failed("Lambda.AWSLambdaException", refused)
    invocation_check.check(name, event)
    record = _lambda._execution_record_for_config(function, config)
    result = _lambda._execute_function_with_config_scope(record, event)
    body = result.get("body")
    if result.get("throttle"):
        raise errors.failed("Lambda.TooManyRequestsException", "Rate Exceeded.")
    if result.get("error"):
        name = body.get("errorType") if isinstance(body, dict) else None
        raise errors.failed(str(name or "Lambda.Unknown"), json.dumps(body))
    return body, str(config.get("Version") or "$LATEST")


def _called(reference: str) -> str:
    """The ARN under which a function is called: with the alias or the version that the caller names. A role that may
    invoke the function itself may not invoke its aliases. Source: Lambda developer guide, "Resources and conditions for
    Lambda actions"."""
    name, qualifier = _lambda._resolve_name_and_qualifier(reference)
    arn: str = _lambda._func_arn(name)
    return f"{arn}:{qualifier}" if qualifier else arn


def _with_metadata(reply: Any, version: str) -> dict[str, Any]:
    """The integration's result. Its metadata is about 1 KB, which counts against the size limit."""
    request_id = str(uuid.uuid4())
    length = str(len(json.dumps(reply)))
    trace = "root=1-00000000-000000000000000000000000;parent=0000000000000000;sampled=0"
    headers = {
        "X-Amz-Executed-Version": version,
        "x-amzn-Remapped-Content-Length": "0",
        "Connection": "keep-alive",
        "x-amzn-RequestId": request_id,
        "Content-Length": length,
        "X-Amzn-Trace-Id": trace,
        "Content-Type": "application/json",
    }
    return {
        "ExecutedVersion": version,
        "Payload": reply,
        "SdkHttpMetadata": {
            "AllHttpHeaders": {name: [value] for name, value in headers.items()},
            "HttpHeaders": headers,
            "HttpStatusCode": 200,
        },
        "SdkResponseMetadata": {"RequestId": request_id},
        "StatusCode": 200,
    }
