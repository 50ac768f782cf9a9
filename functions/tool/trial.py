"""The operation `try_tool`: a tool runs once outside a session."""

from collections.abc import Mapping
from typing import Any

from functions.tool.dependencies import runtime
from shared.agent.tools.trial import TrialCall, try_tool
from shared.domain.errors import Refused


def trial(tenant: str, user: str, given: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
    """`given`: `{"name", "input", "effect_id", "confirm", "roles"}`. Raises Refused."""
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
    known = runtime()
    return try_tool(known.registry, known.toolbox, known.repository.clock, call, seconds)._asdict()
