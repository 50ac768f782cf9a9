"""JSON-RPC over HTTP as the Model Context Protocol has it, in three of its versions (ADR 94, ADR 174).

2026-07-28 has no handshake and no session: each request says its version and what the client can, in `params._meta`
and, so that what stands between can route it, in headers. 2025-11-25 and 2025-06-18 begin with `initialize`, which this
server answers and then forgets: it keeps nothing between requests in any version. 2025-06-18 has no tasks.
Source: modelcontextprotocol.io/specification, "Streamable HTTP", "Versioning", "Overview" of each version.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from acta.engine.api.envelope import JSON, Response, to_json
from acta.engine.api.json_body import parse_json
from acta.engine.errors import ValidationFailed
from acta.engine.untrusted.exact_json import value_at

STATELESS = "2026-07-28"
WITH_HANDSHAKE = "2025-11-25"
BEFORE_TASKS = "2025-06-18"
VERSIONS = (STATELESS, WITH_HANDSHAKE, BEFORE_TASKS)
TASKS = "io.modelcontextprotocol/tasks"
"""The extension for tasks of the stateless version; server and client name it in their capabilities."""
_PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
_CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
IDEMPOTENCY_KEY = "acta.agent/idempotency-key"
"""The name of the idempotency key in the `_meta` of a `tools/call`."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION = -32020, -32021, -32022
NAMED_BY: Mapping[str, str] = {
    "tools/call": "name",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""Method -> the parameter that the header `Mcp-Name` repeats."""
_ENCODED = ("=?base64?", "?=")
_SPACE = " \t"
"""White space around a header's value is no part of the value (RFC 9110, 5.5)."""

Json = dict[str, Any]
Id = str | int


class RpcError(Exception):
    """The request fails as JSON-RPC has it: no tool was asked. `status`: of the HTTP answer."""

    def __init__(self, code: int, message: str, data: object = None, status: int = 200) -> None:
        super().__init__(message)
        self.code = code
        self.data = data
        self.status = status


class RefusedByActa(Exception):
    """A route of `/v1` or a limit refuses the request. `response`: as `/v1` answers."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.code)
        self.response = response


class RpcMessage(NamedTuple):
    """`id` None: a notification, which gets no answer. `capabilities`: what the client says it can do; not known in
    the versions with a handshake.
    """

    id: Id | None
    method: str
    params: Json
    version: str
    capabilities: Json

    @property
    def is_stateless(self) -> bool:
        return self.version == STATELESS

    @property
    def takes_tasks(self) -> bool:
        """Whether a call may be answered with a task: the client can, or asks for one."""
        if self.is_stateless:
            extensions = self.capabilities.get("extensions")
            return isinstance(extensions, dict) and TASKS in extensions
        return self.version == WITH_HANDSHAKE and isinstance(self.params.get("task"), dict)

    def elicits(self, mode: Literal["form", "url"]) -> bool:
        """Whether the client can ask its person in this way. An `elicitation` without modes means forms."""
        asked = self.capabilities.get("elicitation")
        return isinstance(asked, dict) and (mode in asked or (mode == "form" and not asked))

    @property
    def input_responses(self) -> Json:
        """What the client says its person has answered, by the keys of the requests. Raises RpcError."""
        responses = self.params.get("inputResponses", {})
        if not isinstance(responses, dict):
            raise RpcError(INVALID_PARAMS, "params.inputResponses is an object.")
        return responses

    @property
    def idempotency_key(self) -> str | None:
        """Raises RpcError for one that is no text."""
        key = value_at(self.params, "_meta", IDEMPOTENCY_KEY)
        if key is not None and not isinstance(key, str):
            raise RpcError(INVALID_PARAMS, f"_meta.{IDEMPOTENCY_KEY} is a text.")
        return key

    def text(self, name: str) -> str:
        """A parameter. Raises RpcError where it is no text."""
        value = self.params.get(name)
        if not isinstance(value, str) or not value:
            raise RpcError(INVALID_PARAMS, f"params.{name} is missing, or no text.")
        return value


def envelope(text: str) -> tuple[Json, Id | None]:
    """The body as one JSON-RPC message that asks something, and its id. Raises RpcError."""
    try:
        body = parse_json(text)
    except ValidationFailed as failed:
        if text.lstrip().startswith("["):
            raise RpcError(INVALID_REQUEST, "Send one message. Batches are not taken.", status=400) from None
        raise RpcError(PARSE_ERROR, str(failed), status=400) from None
    identity = body.get("id")
    if body.get("jsonrpc") != "2.0" or not isinstance(body.get("method"), str):
        raise RpcError(INVALID_REQUEST, "This is not a JSON-RPC 2.0 request or notification.", status=400)
    is_told = identity is None and body["method"].startswith("notifications/")
    if "id" in body and not is_told and (isinstance(identity, bool) or not isinstance(identity, str | int)):
        raise RpcError(INVALID_REQUEST, "The id of a request is a text or a whole number.", status=400)
    return body, identity


def message_of(body: Json, headers: Mapping[str, str]) -> RpcMessage:
    """`body`: of `envelope`. `headers`: by lower-case name. Raises RpcError where version, headers or `_meta` break
    the rules of the version.
    """
    identity, method, given = body.get("id"), str(body["method"]), body.get("params")
    if not isinstance(given, dict | None):
        raise RpcError(INVALID_PARAMS, "params is an object.", status=400)
    params = present(given or {})
    named, said = headers.get("mcp-protocol-version"), value_at(params, "_meta", _PROTOCOL_VERSION)
    if identity is None:
        return RpcMessage(None, method, params, named or WITH_HANDSHAKE, {})
    if said is None and (named is None or (method == "initialize" and named != STATELESS)):
        return RpcMessage(identity, method, params, BEFORE_TASKS, {})  # clients before 2025-06-18 name none
    if said is not None and said != named:
        raise _mismatch("MCP-Protocol-Version")
    if named not in VERSIONS:
        known = {"supported": list(VERSIONS), "requested": named}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version.", known, 400)
    if named != STATELESS:
        return RpcMessage(identity, method, params, named, {})
    capabilities = value_at(params, "_meta", _CLIENT_CAPABILITIES)
    if said is None or not isinstance(capabilities, dict):
        needed = f"params._meta needs {_PROTOCOL_VERSION} and {_CLIENT_CAPABILITIES}."
        raise RpcError(INVALID_PARAMS, needed, status=400)
    _check_headers(method, params, headers)
    message = RpcMessage(identity, method, params, STATELESS, capabilities)
    if method.startswith("tasks/") and method in NAMED_BY and not message.takes_tasks:
        missing: Json = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise RpcError(MISSING_CAPABILITY, "The client does not declare tasks.", missing, 400)
    return message


def _check_headers(method: str, params: Json, headers: Mapping[str, str]) -> None:
    """Raises RpcError where the headers that repeat the body do not say the same."""
    if headers.get("mcp-method", "").strip(_SPACE) != method:
        raise _mismatch("Mcp-Method")
    name = NAMED_BY.get(method)
    if name in params and _decoded(headers.get("mcp-name", "").strip(_SPACE)) != params[name]:
        raise _mismatch("Mcp-Name")


def _decoded(value: str) -> str | None:
    """The value of a header that may be encoded. None: it says that it is encoded, and it is not."""
    prefix, suffix = _ENCODED
    if not (value.startswith(prefix) and value.endswith(suffix) and len(value) >= len(prefix) + len(suffix)):
        return value
    encoded = value[len(prefix) : -len(suffix)].encode()
    try:
        decoded = base64.b64decode(encoded, validate=True)
        is_padded_right = base64.b64encode(decoded) == encoded
        return decoded.decode() if is_padded_right else None
    except (binascii.Error, ValueError):
        return None


def _mismatch(header: str) -> RpcError:
    return RpcError(
        HEADER_MISMATCH, f"The header {header} is missing, or does not say what the body says.", status=400
    )


def present(given: Json) -> Json:
    """What is given. Some clients write null for what they leave out."""
    return {name: value for name, value in given.items() if value is not None}


def answered(message: RpcMessage, result: Json, release: str) -> Response:
    """`result`: without what every result of the stateless version has."""
    if message.is_stateless:
        info = {_SERVER_INFO: server_info(release)}
        result = {"resultType": "complete", **result, "_meta": {**result.get("_meta", {}), **info}}
    return Response(200, JSON, to_json({"jsonrpc": "2.0", "id": message.id, "result": result}))


def refused(identity: Id | None, error: RpcError) -> Response:
    told: Json = {"code": error.code, "message": str(error)}
    if error.data is not None:
        told["data"] = error.data
    body: Json = {"jsonrpc": "2.0", **({} if identity is None else {"id": identity}), "error": told}
    return Response(error.status, JSON, to_json(body))


def server_info(release: str) -> Json:
    return {"name": "acta", "title": "Acta", "version": release or "unreleased"}
