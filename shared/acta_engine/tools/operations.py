"""What `tool` does when the API asks, because this function alone meets the network and tenants' credentials (ADR 96).

A request is `{"op", "tenant", "user", "given"}`. Its answer is `{"answer": {…}}`, or `{"refused": {"code", "message",
"details"}}` where the caller of the API is to be told so. The engine's events have other operations. A new one is a
name in `shared/acta_engine/tools/port.py` and a line in `operations_of`.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from acta_engine.app import App
from acta_engine.bound_tenant import bound_to
from acta_engine.errors import CallerError, Refused, ToolFailed, ToolNotRun, TransientError, Unavailable
from acta_engine.telemetry import Telemetry
from acta_engine.tenant_hash import tenant_hash
from acta_engine.tools.mcp.server import McpAuth, McpConnection
from acta_engine.tools.port import OPERATION_SECONDS, ToolOperation
from acta_engine.tools.runtime import ToolRuntime
from acta_engine.tools.trial import TrialCall, try_tool

if TYPE_CHECKING:
    from acta_engine.tools.mcp.servers import McpServers

ROOM_SECONDS = 2
"""Kept back of an invocation's time for the answer."""


class Asked(NamedTuple):
    """`seconds`: how long it may take."""

    tenant: str
    user: str
    given: Mapping[str, Any]
    seconds: float


Operations = Mapping[str, Callable[[Asked], Mapping[str, Any]]]


def operations_of(app: App) -> Operations:
    return {
        "list_mcp_tools": lambda asked: list_mcp_tools(
            asked.tenant, asked.given, asked.seconds, app.mcp_servers
        ),
        "try_tool": lambda asked: trial(
            asked.tenant, asked.user, asked.given, asked.seconds, app.tool_runtime
        ),
    }


def is_asked(event: Mapping[str, Any]) -> bool:
    """Whether the API asks, and not the engine."""
    return event.get("op") in get_args(ToolOperation)


def answer(
    event: Mapping[str, Any], remaining_ms: int, telemetry: Telemetry, operations: Operations
) -> dict[str, Any]:
    """Bound to the tenant of the event, which the API has from the caller's token. Raises Refused."""
    match event:
        case {"op": str(op), "tenant": str(tenant), "user": str(user), "given": dict(given)} if tenant:
            seconds = max(1.0, min(OPERATION_SECONDS, remaining_ms / 1_000 - ROOM_SECONDS))
            asked = Asked(tenant, user, given, seconds)
        case _:
            raise Refused("not a request of the API")
    ids = {"op": op, "tenant_hash": tenant_hash(tenant)}
    telemetry.logger.info("asked", extra=ids)
    with bound_to(tenant):
        try:
            return {"answer": operations[op](asked)}
        except CallerError as refused:
            return _refused(refused)
        except TransientError as error:  # whoever runs something says what a missing answer of it means
            telemetry.failure(error, **ids)
            return _refused(Unavailable("Acta cannot reach its storage just now. Try again in a moment."))
        except Exception as error:
            telemetry.failure(error, **ids)
            raise


def _refused(refused: CallerError) -> dict[str, Any]:
    details = refused.details and {field: list(said) for field, said in refused.details.items()}
    return {"refused": {"code": refused.code, "message": str(refused), "details": details}}


def trial(
    tenant: str, user: str, given: Mapping[str, Any], seconds: float, runtime: ToolRuntime
) -> Mapping[str, Any]:
    """Runs a tool once outside a session. `given`: `{"name", "input", "effect_id", "confirm", "roles"}`.

    Raises Refused.
    """
    match given:
        case {
            "name": str(name),
            "input": dict(arguments),
            "effect_id": str(effect_id),
            "confirm": bool(confirmed),
            "roles": list(roles),
        }:
            call = TrialCall(tenant, user, frozenset(roles), name, arguments, effect_id, confirmed)
        case _:
            raise Refused("not a trial call")
    clock = runtime.repository.clock
    return try_tool(runtime.registry, runtime.toolbox, clock, call, seconds)._asdict()


LISTED = ("title", "description", "input_schema", "annotations", "pin", "reads", "unusable")
"""What is told of a server's tool, beside its name."""


def list_mcp_tools(
    tenant: str, given: Mapping[str, Any], seconds: float, servers: "McpServers"
) -> Mapping[str, Any]:
    """What an MCP server says of its tools, for an admin to look at and confirm. `given`: the server's name, url and
    auth, which the API has checked. Answers with `tools`; with `failed`, a sentence's end, and what the server `said`
    of it; or with `refused`, a sentence.
    """
    from acta_engine.tools.mcp.exchange import McpFailed  # it loads what speaks HTTP
    from acta_engine.tools.mcp.servers import said_by

    auth = None if given["auth"] is None else McpAuth.model_validate(given["auth"])
    connection = McpConnection(server=given["name"], url=given["url"], auth=auth)
    try:
        listing = servers.list_tools(tenant, connection, seconds)
    except McpFailed as failed:
        return {"failed": str(failed), "said": said_by(failed)}
    except ToolFailed as failed:  # its secret is not there
        return {"refused": str(failed)}
    except ToolNotRun as away:
        raise away.reason from None
    return {
        "tools": [{"tool": one.name} | {name: getattr(one, name) for name in LISTED} for one in listing.tools]
    }
