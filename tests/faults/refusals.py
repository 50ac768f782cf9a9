"""How each service says that it was asked for too much, that it has failed, or that the caller may not."""

import json
from typing import Literal

from tests.faults.calls import LAMBDA, MODEL, Answer, Request, is_invocation

Refusal = Literal["throttled", "failing", "denied"]

_SAID = "the test says so"
_S3 = {"throttled": (503, "SlowDown"), "failing": (500, "InternalError"), "denied": (403, "AccessDenied")}
_MODEL = {
    "throttled": (429, "rate_limit_error"),
    "failing": (500, "api_error"),
    "denied": (401, "authentication_error"),
}
_ENGINE = {
    "throttled": "Lambda.TooManyRequestsException",
    "failing": "Lambda.ServiceException",
    "denied": "Lambda.AWSLambdaException",
}
"""What a state machine calls a refusal of the Lambda service. Of a missing permission it has no other name."""
_DYNAMODB = {
    "throttled": (400, "ThrottlingException"),
    "failing": (500, "InternalServerError"),
    "denied": (400, "AccessDeniedException"),
}
_STS = {
    "throttled": (400, "Throttling"),
    "failing": (500, "InternalFailure"),
    "denied": (403, "AccessDenied"),
}
_LAMBDA = {
    "throttled": (429, "TooManyRequestsException"),
    "failing": (500, "ServiceException"),
    "denied": (403, "AccessDeniedException"),
}
_OTHERS = {**_DYNAMODB, "failing": (500, "InternalFailure")}


def refusal(request: Request, how: Refusal) -> Answer:
    target = request.headers.get("x-amz-target", "")
    if request.at == LAMBDA:
        return _json(200, {"error": _ENGINE[how], "cause": _SAID})
    if request.at == MODEL:
        status, name = _MODEL[how]
        return _json(status, {"type": "error", "error": {"type": name, "message": _SAID}})
    if request.is_for_sts:
        status, name = _STS[how]
        inner = f"<Error><Code>{name}</Code><Message>{_SAID}</Message></Error>"
        body = f'<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">{inner}</ErrorResponse>'
        return Answer(status, {"Content-Type": "text/xml"}, body.encode())
    if is_invocation(request):
        status, name = _LAMBDA[how]
        return Answer(status, {"X-Amzn-ErrorType": name}, json.dumps({"Message": _SAID}).encode())
    if not target:
        status, name = _S3[how]
        body = f'<?xml version="1.0"?><Error><Code>{name}</Code><Message>{_SAID}</Message></Error>'
        return Answer(status, {"Content-Type": "application/xml"}, body.encode())
    if target.startswith("DynamoDB"):
        status, name = _DYNAMODB[how]
        return _json(status, {"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": _SAID})
    status, name = _OTHERS[how]
    return _json(status, {"__type": name, "message": _SAID})


def _json(status: int, body: dict[str, object]) -> Answer:
    kind = "application/x-amz-json-1.0" if "__type" in body else "application/json"
    return Answer(status, {"Content-Type": kind}, json.dumps(body).encode())
