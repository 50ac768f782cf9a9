"""A request that another one stands for: a call of a tool over `/mcp` is a request to a route of `/v1` (ADR 94)."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from shared.api.request.origin import ADDRESS_HEADER, SECRET_HEADER

KEPT_HEADERS = (SECRET_HEADER, ADDRESS_HEADER)
"""What the front said of the request. All else a client said about the outer one."""


class Inner(NamedTuple):
    """`path`: as in the table of routes. `variables`: of the path; `query`: without those that were not given.
    `body`: None where there is none. `idempotency_key`: None where the client gives none.
    """

    method: str
    path: str
    variables: Mapping[str, str] = {}
    query: Mapping[str, str] = {}
    body: Mapping[str, Any] | None = None
    idempotency_key: str | None = None

    def event(self, outer: Mapping[str, Any]) -> dict[str, Any]:
        """As the gateway would hand it over. Who asks is who asked the outer one: the authorizer's claims stay."""
        path = self.path
        for name, value in self.variables.items():
            path = path.replace(f"{{{name}}}", value)
        route_key = f"{self.method} {self.path}"
        headers = {name: value for name, value in outer["headers"].items() if name.lower() in KEPT_HEADERS}
        if self.idempotency_key is not None:
            headers["idempotency-key"] = self.idempotency_key
        context = outer["requestContext"]
        return {
            "version": "2.0",
            "routeKey": route_key,
            "rawPath": path,
            "rawQueryString": urlencode(self.query),
            "headers": headers,
            "pathParameters": dict(self.variables),
            "requestContext": {
                **context,
                "stage": "$default",
                "routeKey": route_key,
                "http": {**context["http"], "method": self.method, "path": path},
            },
            "body": "" if self.body is None else json.dumps(self.body, sort_keys=True),
            "isBase64Encoded": False,
        }
