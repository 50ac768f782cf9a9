"""Bedrock before a server of the Messages API: the same answers and the same faults, in Bedrock's own wire format.

It insists on what Bedrock insists on: a signature for the service, the model in the path and not in the body, the
version in the body.
"""

import json
import re
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import unquote, urlsplit

from tests.contracts.llm.event_stream import chunk
from tests.contracts.llm.served import Asked, Served, Told

REGION = "eu-central-1"
SIGNED = re.compile(r"AWS4-HMAC-SHA256 Credential=[^/]+/\d{8}/[a-z0-9-]+/bedrock/aws4_request, .*Signature=")
ERRORS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}


class BedrockFront(Served):
    def __init__(self, behind: str) -> None:
        """`behind`: the base URL of the Messages API."""
        super().__init__()
        self._behind = urlsplit(behind)

    def answer(self, asked: Asked) -> Iterator[Told]:
        wrong = refused(asked)
        if wrong is not None:
            yield failed(403 if "sign" in wrong else 400, wrong)
            return
        model = unquote(asked.path.removeprefix("/model/").partition("/")[0])
        passed = {k: v for k, v in asked.body.items() if k != "anthropic_version"}
        connection = HTTPConnection(self._behind.hostname or "", self._behind.port or 80)
        headers = {"content-type": "application/json", "x-api-key": "k"}
        count = asked.headers.get("x-stainless-retry-count")
        headers |= {"x-stainless-retry-count": count} if count else {}
        body = json.dumps({**passed, "model": model, "stream": True})
        connection.request("POST", f"{self._behind.path}/v1/messages", body, headers)
        response = connection.getresponse()
        if response.status != 200:
            text = json.loads(response.read()).get("error", {}).get("message", "")
            yield failed(response.status, text, response.headers.get("retry-after"))
        else:
            yield from _translated(response)
        connection.close()


def refused(asked: Asked) -> str | None:
    """What Bedrock would say against the request."""
    if not SIGNED.match(asked.headers.get("authorization", "")) or "x-amz-date" not in asked.headers:
        return "the request is not signed for bedrock"
    if not asked.path.endswith("/invoke-with-response-stream"):
        return f"no operation {asked.path}"
    if not asked.body.get("anthropic_version"):
        return "anthropic_version: Field required"
    extra = {"model", "stream"} & asked.body.keys()
    return f"{extra}: Extra inputs are not permitted" if extra else None


def failed(status: int, text: str, retry_after: str | None = None) -> Told:
    headers = {"x-amzn-ErrorType": f"{ERRORS.get(status, 'UnknownException')}:http://internal.amazon.com/"}
    headers |= {"retry-after": retry_after} if retry_after else {}
    return Told(status, headers, (json.dumps({"message": text}).encode(),))


def _translated(response: HTTPResponse) -> Iterator[Told]:
    kind = {"content-type": "application/vnd.amazon.eventstream"}
    yield Told(200, kind, ())
    try:
        for line in response:
            if line.startswith(b"data:"):
                yield Told(200, kind, (chunk(line.removeprefix(b"data:").strip()),))
    except (HTTPException, OSError):
        yield Told(200, kind, (), broken=True)
