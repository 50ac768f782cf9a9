"""How each service says that it was asked for too much, or that it has failed."""

import json

from tests.faults.calls import AWS, Answer, Request

_SLOW_DOWN = b'<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>slow down</Message></Error>'
_BROKEN = b'<?xml version="1.0"?><Error><Code>InternalError</Code><Message>broken</Message></Error>'
_SAID = "the test says so"


def refusal(request: Request, *, throttled: bool) -> Answer:
    target = request.headers.get("x-amz-target", "")
    if request.at != AWS:
        error = {"type": "rate_limit_error" if throttled else "api_error", "message": _SAID}
        return _json(429 if throttled else 500, {"type": "error", "error": error})
    if not target:
        body = _SLOW_DOWN if throttled else _BROKEN
        return Answer(503 if throttled else 500, {"Content-Type": "application/xml"}, body)
    dynamodb = target.startswith("DynamoDB")
    failed = "InternalServerError" if dynamodb else "InternalFailure"
    code = "ThrottlingException" if throttled else failed
    named = f"com.amazonaws.dynamodb.v20120810#{code}" if dynamodb else code
    return _json(400 if throttled else 500, {"__type": named, "message": _SAID})


def _json(status: int, body: dict[str, object]) -> Answer:
    kind = "application/x-amz-json-1.0" if "__type" in body else "application/json"
    return Answer(status, {"Content-Type": kind}, json.dumps(body).encode())
