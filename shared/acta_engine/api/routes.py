"""Every HTTP route of Acta: which function answers it and which role it needs.

API Gateway's routes, their authorizers and their functions are made from this one table, and the functions look up here
what the gateway found. Paths are in the gateway's form: `{name}` is one part of a path, `{name+}` all the rest of it.
A request that no route fits reaches the function `CATCH_ALL`, which answers 404 or 405 in the error envelope.
That function and `console` alone are reachable without a token.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from acta_engine.errors import CallerError, NotFound
from acta_engine.people.visibility import Reach

Function = Literal["start", "status", "intervene", "admin", "step", "mcp", "console", "fallback"]
Role = Literal["member", "admin"]
Action = Literal[
    "session.start",
    "session.message",
    "session.fork",
    "session.pause",
    "session.resume",
    "session.cancel",
    "session.delete",
    "session.limits",
    "plan.edit",
    "intervention.resolve",
    "file.write",
    "file.restore",
    "file.delete",
    "tool.create",
    "tool.replace",
    "tool.delete",
    "tool.call",
    "mcp_server.write",
    "mcp_server.confirm",
    "mcp_server.delete",
    "tool_secret.write",
    "tool_secret.delete",
    "notifications.write",
    "notifications.delete",
    "agent.create",
    "agent.replace",
    "agent.delete",
    "prompt.write",
    "prompt.restore",
    "memory.create",
    "memory.replace",
    "memory.delete",
]
"""What the audit trail calls it. Names are stored, so they stay as they are."""

Rated = Literal["request", "poll", "never", "within"]
"""`poll`: a request, unless it waits. `never`: it stops things or settles what waits for a person, and is not refused
for a rate. `within`: its handler asks other routes, which are rated each as it is, and spends a request for all else.
"""


class MethodNotAllowed(CallerError):
    """The path takes other methods, which the header `Allow` names."""

    code = "METHOD_NOT_ALLOWED"

    def __init__(self, allowed: tuple[str, ...]) -> None:
        super().__init__(f"This path takes {', '.join(allowed)}.")
        self.allowed = allowed


class Route(NamedTuple):
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    function: Function
    role: Role | None = "member"
    """None: reachable without a token."""
    action: Action | None = None
    """What the audit trail has of a request to it. None: it changes nothing, and is not recorded."""
    private: Reach = "owner"
    """Who may use it on a private session, beside its owner (ADR 50)."""
    rated: Rated = "request"
    """What it takes of its tenant's rate (ADR 65)."""

    def __str__(self) -> str:
        """As API Gateway names it in an event's `routeKey`."""
        return f"{self.method} {self.path}"

    @property
    def takes_bytes(self) -> bool:
        """The body is a file; everywhere else it is JSON."""
        return self.path.endswith("+}")

    @property
    def is_page(self) -> bool:
        """What a query has is the page's own to read."""
        return self.path.startswith("/console")

    @property
    def prefix(self) -> str:
        """The path up to its first variable."""
        return self.path.partition("{")[0]


ROUTES: tuple[Route, ...] = (
    Route("POST", "/v1/sessions", "start", action="session.start"),
    Route("POST", "/v1/sessions/{session_id}/messages", "start", action="session.message"),
    Route("POST", "/v1/sessions/{session_id}/fork", "start", action="session.fork"),
    Route("GET", "/v1/sessions", "status"),
    Route("GET", "/v1/sessions/{session_id}", "status", rated="poll"),
    Route("GET", "/v1/sessions/{session_id}/events", "status", rated="poll"),
    Route("GET", "/v1/sessions/{session_id}/messages", "status"),
    Route("GET", "/v1/sessions/{session_id}/plan", "status"),
    Route("GET", "/v1/sessions/{session_id}/steps", "status"),
    Route("GET", "/v1/sessions/{session_id}/trace", "status"),
    Route("GET", "/v1/sessions/{session_id}/texts/{text_id}", "status"),
    Route("GET", "/v1/sessions/{session_id}/scratchpad", "status"),
    Route("GET", "/v1/sessions/{session_id}/receipt", "status"),
    Route("GET", "/v1/sessions/{session_id}/interventions", "status", private="decider"),
    Route("GET", "/v1/sessions/{session_id}/interventions/{intervention_id}", "status", private="decider"),
    Route(
        "GET", "/v1/sessions/{session_id}/interventions/{intervention_id}/input", "status", private="decider"
    ),
    Route("GET", "/v1/interventions", "status"),
    Route("PATCH", "/v1/sessions/{session_id}", "intervene", action="session.limits"),
    Route("PATCH", "/v1/sessions/{session_id}/plan", "intervene", action="plan.edit"),
    Route("GET", "/v1/usage", "status"),
    Route("POST", "/v1/sessions/{session_id}/pause", "intervene", action="session.pause", rated="never"),
    Route("POST", "/v1/sessions/{session_id}/resume", "intervene", action="session.resume"),
    Route(
        "POST",
        "/v1/sessions/{session_id}/cancel",
        "intervene",
        action="session.cancel",
        private="admin",
        rated="never",
    ),
    Route(
        "DELETE",
        "/v1/sessions/{session_id}",
        "intervene",
        action="session.delete",
        private="admin",
        rated="never",
    ),
    Route(
        "POST",
        "/v1/sessions/{session_id}/interventions/{intervention_id}/resolve",
        "intervene",
        action="intervention.resolve",
        private="decider",
        rated="never",
    ),
    Route("GET", "/v1/files", "admin"),
    Route("GET", "/v1/files/{path+}", "admin"),
    Route("PUT", "/v1/files/{path+}", "admin", action="file.write"),
    Route("POST", "/v1/files/{path+}", "admin", action="file.restore"),
    Route("DELETE", "/v1/files/{path+}", "admin", action="file.delete"),
    Route("GET", "/v1/tools", "admin"),
    Route("POST", "/v1/tools", "admin", "admin", action="tool.create"),
    Route("GET", "/v1/tools/{name}", "admin"),
    Route("PUT", "/v1/tools/{name}", "admin", "admin", action="tool.replace"),
    Route("DELETE", "/v1/tools/{name}", "admin", "admin", action="tool.delete"),
    Route("POST", "/v1/tools/{name}/call", "admin", "admin", action="tool.call"),
    Route("GET", "/v1/mcp-servers", "admin", "admin"),
    Route("GET", "/v1/mcp-servers/{name}", "admin", "admin"),
    Route("PUT", "/v1/mcp-servers/{name}", "admin", "admin", action="mcp_server.write"),
    Route("DELETE", "/v1/mcp-servers/{name}", "admin", "admin", action="mcp_server.delete"),
    Route("POST", "/v1/mcp-servers/{name}/refresh", "admin", "admin"),
    Route("POST", "/v1/mcp-servers/{name}/confirm", "admin", "admin", action="mcp_server.confirm"),
    Route("GET", "/v1/tool-secrets", "admin", "admin"),
    Route("PUT", "/v1/tool-secrets/{name}", "admin", "admin", action="tool_secret.write"),
    Route("DELETE", "/v1/tool-secrets/{name}", "admin", "admin", action="tool_secret.delete"),
    Route("GET", "/v1/notifications", "admin", "admin"),
    Route("PUT", "/v1/notifications", "admin", "admin", action="notifications.write"),
    Route("DELETE", "/v1/notifications", "admin", "admin", action="notifications.delete"),
    Route("GET", "/v1/agents", "admin"),
    Route("POST", "/v1/agents", "admin", "admin", action="agent.create"),
    Route("GET", "/v1/agents/{agent_id}", "admin"),
    Route("PUT", "/v1/agents/{agent_id}", "admin", "admin", action="agent.replace"),
    Route("DELETE", "/v1/agents/{agent_id}", "admin", "admin", action="agent.delete"),
    Route("GET", "/v1/admin/health", "admin", "admin"),
    Route("GET", "/v1/admin/prompts", "admin", "admin"),
    Route("GET", "/v1/admin/prompts/{name}", "admin", "admin"),
    Route("PUT", "/v1/admin/prompts/{name}", "admin", "admin", action="prompt.write"),
    Route("GET", "/v1/admin/prompts/{name}/versions", "admin", "admin"),
    Route(
        "POST",
        "/v1/admin/prompts/{name}/versions/{version}/restore",
        "admin",
        "admin",
        action="prompt.restore",
    ),
    Route("GET", "/v1/memories", "admin"),
    Route("POST", "/v1/memories", "admin", action="memory.create"),
    Route("GET", "/v1/memories/{memory_id}", "admin"),
    Route("PUT", "/v1/memories/{memory_id}", "admin", action="memory.replace"),
    Route("DELETE", "/v1/memories/{memory_id}", "admin", action="memory.delete"),
    Route("GET", "/v1/audit", "admin", "admin"),
    Route("GET", "/v1/me", "status"),
    Route("GET", "/v1/models", "step", "admin"),
    Route("POST", "/v1/models/check", "step", "admin"),
    Route("POST", "/mcp", "mcp", rated="within"),
    Route("GET", "/console", "console", None),
    Route("GET", "/console/sign-in.json", "console", None),
    Route("GET", "/console/{place+}", "console", None),
    Route("GET", "/.well-known/oauth-protected-resource", "fallback", None),
    Route("GET", "/.well-known/oauth-protected-resource/mcp", "fallback", None),
    Route("GET", "/healthz", "fallback", None),
    Route("GET", "/v1/openapi.json", "fallback", None),
    Route("GET", "/v1/docs", "fallback", None),
    Route("GET", "/v1/docs/{file}", "fallback", None),
)

ASKS: Mapping[Function, tuple[Function, ...]] = MappingProxyType({"mcp": ("start", "status", "intervene")})
"""A function -> those whose routes it has in it, and asks from within (ADR 94)."""

CATCH_ALL: Function = "fallback"
DEFAULT_KEY = "$default"
"""The gateway's name for the route of requests that no other route fits."""
OPEN_KEYS = (DEFAULT_KEY, *(str(route) for route in ROUTES if route.role is None))
"""The gateway's names for what is reachable without a token."""

_BY_KEY = {str(route): route for route in ROUTES}


def routes_in(function: Function) -> tuple[Route, ...]:
    """What the function answers, and what it asks from within."""
    return tuple(route for route in ROUTES if route.function in (function, *ASKS.get(function, ())))


def find(route_key: str, method: str, path: str) -> Route:
    """The route that API Gateway found: `route_key` is its event's `routeKey`, `path` the path that was asked for.

    Raises NotFound, or MethodNotAllowed where only other methods have the path.
    """
    route = _BY_KEY.get(route_key)
    # The gateway reads //v1/sessions as /v1/sessions. Acta does not: one resource has one path.
    if route is not None and path.startswith(route.prefix):
        return route
    methods = {each.method for each in ROUTES if _fits(each.path, path)}
    if methods and method not in methods:
        raise MethodNotAllowed(tuple(sorted(methods)))
    raise NotFound("There is nothing at this path.")


def _fits(pattern: str, path: str) -> bool:
    """A variable stands for one part of the path or, `{name+}`, for all the rest of it; it is never empty."""
    wanted = pattern.split("/")
    parts = path.split("/", len(wanted) - 1 if pattern.endswith("+}") else -1)
    return len(parts) == len(wanted) and all(
        bool(part) if name.startswith("{") else part == name for name, part in zip(wanted, parts, strict=True)
    )
