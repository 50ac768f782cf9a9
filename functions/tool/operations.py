"""What `tool` does when the API asks, because this function alone meets the network and tenants' credentials (ADR 96).

A request is `{"op", "tenant", "user", "given"}`. Its answer is `{"answer": {…}}`, or `{"refused": {"code", "message",
"details"}}` where the caller of the API is to be told so. The engine's events have other operations. A new one is a
name in `shared/ports/tools.py` and a line in `OPERATIONS`.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from functions.tool.trial import trial
from shared.bound_tenant import bound_to
from shared.domain.errors import CallerError, Refused, TransientError, Unavailable
from shared.ports.tools import OPERATION_SECONDS
from shared.telemetry import Telemetry
from shared.tenant_hash import tenant_hash

ROOM_SECONDS = 2
"""Kept back of an invocation's time for the answer."""


class Asked(NamedTuple):
    """`seconds`: how long it may take."""

    tenant: str
    user: str
    given: Mapping[str, Any]
    seconds: float


def _list_mcp_tools(asked: Asked) -> Mapping[str, Any]:
    from functions.tool.mcp_listing import list_mcp_tools  # it loads what speaks HTTP

    return list_mcp_tools(asked.tenant, asked.given, asked.seconds)


Operations = Mapping[str, Callable[[Asked], Mapping[str, Any]]]

OPERATIONS: Operations = {
    "list_mcp_tools": _list_mcp_tools,
    "try_tool": lambda asked: trial(asked.tenant, asked.user, asked.given, asked.seconds),
}


def is_asked(event: Mapping[str, Any]) -> bool:
    """Whether the API asks, and not the engine."""
    return event.get("op") in OPERATIONS


def answer(
    event: Mapping[str, Any], remaining_ms: int, telemetry: Telemetry, operations: Operations = OPERATIONS
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
        except (
            TransientError
        ) as error:  # whoever runs something says what it means that its answer is missing
            telemetry.failure(error, **ids)
            return _refused(Unavailable("Acta cannot reach its storage just now. Try again in a moment."))
        except Exception as error:
            telemetry.failure(error, **ids)
            raise


def _refused(refused: CallerError) -> dict[str, Any]:
    details = refused.details and {field: list(said) for field, said in refused.details.items()}
    return {"refused": {"code": refused.code, "message": str(refused), "details": details}}
