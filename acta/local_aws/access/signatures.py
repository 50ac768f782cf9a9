"""Every request to the local AWS is signed by somebody it knows, or refused before ministack sees it.

ministack's own switch, `AUTH=true`, is of no use for that: it checks no signature of a root user, takes "test", any
account's number and (at S3) nothing at all for one, and never looks at its own paths, such as the one that deletes
everything. What it has is used here: its check of a signature and each service's words for a refusal. Source: IAM user
guide, "AWS Signature Version 4 for API requests", and "Common error types" of each service's API reference.

Open without a signature, as on AWS: a deployed HTTP API, whose own authorizers decide, and the URL that CloudFormation
gives to a custom resource for its one answer, which nobody else knows. Answered here, whatever else the request says:
the health check, which tells nothing, and the public keys of a user pool, which authorizers fetch.
"""

from __future__ import annotations

import re
import uuid
from typing import Any
from urllib.parse import parse_qs, quote

from acta.local_aws.access import principals
from acta.local_aws.access.web_page_guard import HTTP_API, Application, Message, Receive, Send
from acta.local_aws.ministack import module
from acta.local_aws.settings import ACCOUNT

HEALTH = "/_ministack/health"
_POOL_KEYS = re.compile(r"/(?P<pool>[a-z0-9-]{1,20}_[A-Za-z0-9]{1,40})/\.well-known/jwks\.json")
_OPEN = re.compile(rf"{HTTP_API.pattern}|/_ministack/cfn-response/[0-9a-f-]{{36}}$")

Answer = tuple[int, dict[str, str], bytes]


def verified(application: Application) -> Application:
    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or (scope["type"] == "http" and _OPEN.match(scope["path"])):
            return await application(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})  # before the handshake: 403
        if scope["path"] == HEALTH:
            return await respond(scope, send, (200, {"Content-Type": "application/json"}, b"{}"))
        keys = _POOL_KEYS.fullmatch(scope["path"]) if scope["method"] == "GET" else None
        if keys is not None:
            return await respond(scope, send, public_keys(keys["pool"]))
        body = await read(receive)
        if body is None:
            return None
        refused = refusal(scope, body)
        if refused is not None:
            return await respond(scope, send, refused)
        await application(scope, again(body, receive), send)

    return answer


def public_keys(pool_id: str) -> Answer:
    cognito = module("services.cognito")
    if cognito._get_pool_unscoped(pool_id) is None:
        return 404, {"Content-Type": "application/json"}, b"{}"
    status, headers, body = cognito.well_known_jwks(pool_id)
    return status, headers, body


def refusal(scope: Message, body: bytes) -> Answer | None:
    """Of a request that nobody known has signed. None: let it pass."""
    evaluator, router, app = module("core.iam_evaluator"), module("core.router"), module("app")
    decode = module("core.sigv4").decode_header_value
    method, path = scope["method"], scope["path"]
    headers = {name.decode("latin-1").lower(): decode(value) for name, value in scope["headers"]}
    query = parse_qs(scope["query_string"].decode("utf-8", "replace"), keep_blank_values=True)
    key = router.extract_access_key_id(headers, query)
    service = router.detect_service(
        method, path, headers, app._routing_params(method, path, headers, body, query)
    )
    if key and not principals.is_admitted(key):
        unknown = evaluator._unknown_access_key()
        failure = evaluator.AuthError(unknown.code, unknown.message)
    elif headers.get("authorization", "").startswith("AWS ") or "AWSAccessKeyId" in query:
        # Version 2 does not sign the headers by which a request finds its service.
        failure = evaluator.AuthError("UnsupportedSignature", "Please use AWS4-HMAC-SHA256.")
    elif key and "authorization" not in headers and evaluator._s3_presigned_query(query) and service == "s3":
        refused: Answer | None = module("services.s3")._verify_presigned_sigv4(method, path, headers, query)
        return refused
    else:
        raw_path = scope.get("raw_path") or quote(path).encode()
        evaluator.pin_signed_request(method, raw_path.decode("latin-1"), query, scope["headers"])
        evaluator.pin_signed_body(body)
        checked = evaluator.authenticate(key, ACCOUNT)
        if isinstance(checked, evaluator.ResolvedCredential):
            return None
        failure = checked or evaluator.AuthError(
            "MissingAuthenticationToken", "Request is missing Authentication Token"
        )
    status, fields, text = app._credential_failure(service, "", str(uuid.uuid4()), failure, headers)
    return status, fields, text


async def read(receive: Receive) -> bytes | None:
    """The whole body. None: the client went away before its end."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def again(body: bytes, receive: Receive) -> Receive:
    """Hands out a body that was read, then whatever comes after it."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again


async def respond(scope: Message, send: Send, answer: Answer) -> None:
    status, fields, body = answer
    fields = {"x-amzn-requestid": str(uuid.uuid4()), **fields, "Content-Length": str(len(body))}
    headers: list[Any] = [(name.lower().encode(), value.encode("latin-1")) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
