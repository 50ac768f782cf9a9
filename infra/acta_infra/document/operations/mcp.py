"""The Model Context Protocol: one route, whose own document is the protocol (ADR 94)."""

from acta_infra.document.operations.operation import Answer, Operation

_ID = {"type": ["string", "integer"]}
_REQUEST = {
    "description": "A JSON-RPC 2.0 request or notification of MCP 2026-07-28 or 2025-11-25.",
    "type": "object",
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": _ID,
        "method": {"type": "string"},
        "params": {"type": "object"},
    },
    "required": ["jsonrpc", "method"],
}
_ERROR = {
    "type": "object",
    "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "data": {}},
    "required": ["code", "message"],
}
ANSWER = {
    "description": "A JSON-RPC 2.0 response.",
    "type": "object",
    "properties": {"jsonrpc": {"const": "2.0"}, "id": _ID, "result": {"type": "object"}, "error": _ERROR},
    "required": ["jsonrpc"],
}
_REFUSAL = {"description": "A JSON-RPC error, or an error of Acta's or of the gateway's.", "type": "object"}
REFUSALS = {
    400: "The message is none of the protocol, or its headers say something else.",
    404: "There is no such method.",
}

MCP = {
    "POST /mcp": Operation(
        "askOverMcp",
        "Sessions for clients of the Model Context Protocol",
        (
            Answer(
                200, "The result, or the error, of the request.", form="raw", raw={"application/json": ANSWER}
            ),
            Answer(202, "Of a notification.", form="empty"),
            *(
                Answer(status, says, form="raw", raw={"application/json": _REFUSAL})
                for status, says in REFUSALS.items()
            ),
        ),
        about="Tools start, watch, steer and cancel sessions, and each agent is one. Each call of a tool is a request "
        "to a route of this document, with that route's checks and limits. Refusals of the protocol "
        "(400, 404) are JSON-RPC errors; those of the caller or the time are as everywhere.",
        sends={"application/json": _REQUEST},
        bodies={"2025-11-25": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}},
    )
}
