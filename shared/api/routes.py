"""Every HTTP route of Acta: which function answers it and which role it needs; and finding it by method and path.

The gateway's routes are made from this one table and the functions' resolvers are compared with it, so no route exists
on one side only. Paths are in the gateway's form: `{name}`, `{name+}` for all the rest. What is not here reaches
`CATCH_ALL`, which answers 404 or 405 in the error envelope.
"""

import re
from typing import Literal, NamedTuple

Function = Literal["start", "status", "intervene", "admin", "step"]
Role = Literal["member", "admin"]


class Route(NamedTuple):
    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    function: Function
    role: Role | None = "member"
    """None: reachable without a token."""

    @property
    def takes_bytes(self) -> bool:
        """The body is a file; everywhere else it is JSON."""
        return self.path.endswith("+}")


ROUTES: tuple[Route, ...] = (
    Route("POST", "/v1/sessions", "start"),
    Route("POST", "/v1/sessions/{session_id}/messages", "start"),
    Route("GET", "/v1/sessions", "status"),
    Route("GET", "/v1/sessions/{session_id}", "status"),
    Route("GET", "/v1/sessions/{session_id}/events", "status"),
    Route("GET", "/v1/sessions/{session_id}/messages", "status"),
    Route("GET", "/v1/sessions/{session_id}/plan", "status"),
    Route("GET", "/v1/sessions/{session_id}/steps", "status"),
    Route("GET", "/v1/sessions/{session_id}/trace", "status"),
    Route("GET", "/v1/sessions/{session_id}/interventions", "status"),
    Route("GET", "/v1/sessions/{session_id}/interventions/{intervention_id}", "status"),
    Route("GET", "/v1/sessions/{session_id}/interventions/{intervention_id}/input", "status"),
    Route("GET", "/v1/interventions", "status"),
    Route("POST", "/v1/sessions/{session_id}/pause", "intervene"),
    Route("POST", "/v1/sessions/{session_id}/resume", "intervene"),
    Route("POST", "/v1/sessions/{session_id}/cancel", "intervene"),
    Route("DELETE", "/v1/sessions/{session_id}", "intervene"),
    Route("POST", "/v1/sessions/{session_id}/interventions/{intervention_id}/resolve", "intervene"),
    Route("GET", "/v1/files", "admin"),
    Route("GET", "/v1/files/{path+}", "admin"),
    Route("PUT", "/v1/files/{path+}", "admin"),
    Route("DELETE", "/v1/files/{path+}", "admin"),
    Route("GET", "/v1/tools", "admin"),
    Route("POST", "/v1/tools", "admin", "admin"),
    Route("GET", "/v1/tools/{name}", "admin"),
    Route("PUT", "/v1/tools/{name}", "admin", "admin"),
    Route("DELETE", "/v1/tools/{name}", "admin", "admin"),
    Route("GET", "/v1/agents", "admin"),
    Route("POST", "/v1/agents", "admin", "admin"),
    Route("GET", "/v1/agents/{agent_id}", "admin"),
    Route("PUT", "/v1/agents/{agent_id}", "admin", "admin"),
    Route("DELETE", "/v1/agents/{agent_id}", "admin", "admin"),
    Route("GET", "/v1/admin/prompts", "admin", "admin"),
    Route("GET", "/v1/admin/prompts/{name}", "admin", "admin"),
    Route("PUT", "/v1/admin/prompts/{name}", "admin", "admin"),
    Route("GET", "/v1/admin/prompts/{name}/versions", "admin", "admin"),
    Route("POST", "/v1/admin/prompts/{name}/versions/{version}/restore", "admin", "admin"),
    Route("GET", "/v1/memories", "admin"),
    Route("POST", "/v1/memories", "admin"),
    Route("GET", "/v1/memories/{memory_id}", "admin"),
    Route("PUT", "/v1/memories/{memory_id}", "admin"),
    Route("DELETE", "/v1/memories/{memory_id}", "admin"),
    Route("GET", "/v1/models", "step", "admin"),
    Route("POST", "/v1/models/check", "step", "admin"),
    Route("GET", "/healthz", "admin", None),
)

CATCH_ALL: Function = "admin"

_NAME = re.compile(r"\{(\w+)(\+?)\}")


class Match(NamedTuple):
    """`route` None: nothing answers. `allowed`: the methods the path has; empty: there is no such path."""

    route: Route | None
    allowed: tuple[str, ...] = ()


def _pattern(path: str) -> re.Pattern[str]:
    """`{name}` is one part of the path, `{name+}` all the rest of it, which may not be empty."""
    out, end = "", 0
    for found in _NAME.finditer(path):
        out += re.escape(path[end : found.start()]) + (".+" if found[2] else "[^/]+")
        end = found.end()
    return re.compile(out + re.escape(path[end:]), re.DOTALL)


_PATTERNS = tuple((_pattern(route.path), route) for route in ROUTES)


def match(method: str, path: str) -> Match:
    """A path without variables wins over one with them, as at the gateway."""
    fitting = [route for pattern, route in _PATTERNS if pattern.fullmatch(path)]
    exact = [route for route in fitting if "{" not in route.path]
    fitting = exact or fitting
    allowed = tuple(sorted({route.method for route in fitting}))
    return Match(next((route for route in fitting if route.method == method), None), allowed)


def rule(path: str) -> str:
    """The route's path as the Powertools resolver wants it. A rest-of-path is not named there: the resolver's
    own variables match neither `/` nor every other character a file's name may have (see `Incoming.rest`).
    """
    return _NAME.sub(lambda found: "(?s:.+)" if found[2] else f"<{found[1]}>", path)
