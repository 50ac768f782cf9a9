"""Puts Bedrock's wire format in front of a server of the Messages API: the same answers and the same faults.

It refuses what Bedrock refuses: a request that is not signed for the service, a model in the body instead of the path,
a body without the version.
"""

import json
import re
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import unquote, urlsplit

from tests.models.wires.anthropic.event_stream import chunk
from tests.models.wires.fake_provider import CannedAnswer, FakeProvider, ReceivedRequest

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


class BedrockFront(FakeProvider):
    def __init__(self, messages_url: str) -> None:
        """`messages_url`: base URL of the server behind it."""
        super().__init__()
        self._messages_api = urlsplit(messages_url)

    def answer(self, request: ReceivedRequest) -> Iterator[CannedAnswer]:
        problem = problem_with(request)
        if problem is not None:
            yield failed(403 if "sign" in problem else 400, problem)
            return
        model = unquote(request.path.removeprefix("/model/").partition("/")[0])
        body = {k: v for k, v in request.body.items() if k != "anthropic_version"}
        connection = HTTPConnection(self._messages_api.hostname or "", self._messages_api.port or 80)
        headers = {"content-type": "application/json", "x-api-key": "k"}
        count = request.headers.get("x-stainless-retry-count")
        headers |= {"x-stainless-retry-count": count} if count else {}
        content = json.dumps({**body, "model": model, "stream": True})
        connection.request("POST", f"{self._messages_api.path}/v1/messages", content, headers)
        response = connection.getresponse()
        if response.status != 200:
            text = json.loads(response.read()).get("error", {}).get("message", "")
            yield failed(response.status, text, response.headers.get("retry-after"))
        else:
            yield from _translated(response)
        connection.close()


def problem_with(request: ReceivedRequest) -> str | None:
    """Why Bedrock would refuse the request. None: it would not."""
    if not SIGNED.match(request.headers.get("authorization", "")) or "x-amz-date" not in request.headers:
        return "the request is not signed for bedrock"
    if not request.path.endswith("/invoke-with-response-stream"):
        return f"no operation {request.path}"
    if not request.body.get("anthropic_version"):
        return "anthropic_version: Field required"
    extra = {"model", "stream"} & request.body.keys()
    return f"{extra}: Extra inputs are not permitted" if extra else None


def failed(status: int, text: str, retry_after: str | None = None) -> CannedAnswer:
    headers = {"x-amzn-ErrorType": f"{ERRORS.get(status, 'UnknownException')}:http://internal.amazon.com/"}
    headers |= {"retry-after": retry_after} if retry_after else {}
    return CannedAnswer(status, headers, (json.dumps({"message": text}).encode(),))


def _translated(response: HTTPResponse) -> Iterator[CannedAnswer]:
    headers = {"content-type": "application/vnd.amazon.eventstream"}
    yield CannedAnswer(200, headers, ())
    try:
        for line in response:
            if line.startswith(b"data:"):
                yield CannedAnswer(200, headers, (chunk(line.removeprefix(b"data:").strip()),))
    except (HTTPException, OSError):
        yield CannedAnswer(200, headers, (), broken=True)
