"""A client of `/mcp` as deployed, in the stateless version of the protocol."""

import json
from typing import Any

from tests.e2e.support.person import Json, Person

META = "io.modelcontextprotocol/"
VERSION = "2026-07-28"
FORMS: Json = {"extensions": {f"{META}tasks": {}}, "elicitation": {}}
"""What a client can that takes tasks and asks its person with forms."""
NOTHING: Json = {}


def ask(
    person: Person, method: str, capabilities: Json = NOTHING, named_by: str | None = None, **params: Any
) -> Json:
    """The result of a request with the person's token."""
    params["_meta"] = {f"{META}protocolVersion": VERSION, f"{META}clientCapabilities": capabilities}
    named = {} if named_by is None else {"Mcp_Name": named_by}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = person.post("/mcp", body, MCP_Protocol_Version=VERSION, Mcp_Method=method, **named)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()["result"]
    return found


def call(person: Person, name: str, **arguments: Any) -> Json:
    """What a model can send: the name of a tool, and arguments."""
    return ask(person, "tools/call", NOTHING, name, name=name, arguments=arguments)


def told(result: Json) -> Json:
    """What a result quotes: the second line of its text."""
    found: Json = json.loads(result["content"][0]["text"].split("\n")[1])
    return found
