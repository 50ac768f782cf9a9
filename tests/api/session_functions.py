"""The functions `start`, `intervene`, `status` and `mcp` over one house, and people of one tenant who call them."""

from typing import Any, NamedTuple

from acta.engine.api.operations import OPERATIONS
from acta.engine.audit.record import Audit
from acta.engine.limits.limiter import limiter_of
from acta.engine.limits.store import RateLeases
from acta.engine.log.store import SessionIndex
from tests.api.gateway import Answer, Gateway, api_of, claims, routed
from tests.doubles.audit import memory_audit
from tests.doubles.rate_leases import MemoryRateLeases
from tests.in_process.house import TENANT, USER, House


class Functions(NamedTuple):
    start: Gateway
    intervene: Gateway
    status: Gateway
    mcp: Gateway


def functions_of(
    house: House,
    index: SessionIndex | None = None,
    user: str = USER,
    roles: object = "[member]",
    audit: Audit | None = None,
    leases: RateLeases | None = None,
) -> Functions:
    """`index`: where keys of requests are looked up, if not the house's. `audit`: of starts and decisions. `leases`: of
    the tenant's rate.
    """
    first, second, third = (
        house.app(
            session_index=index or house.index,
            audit=audit or memory_audit(),
            limiter=limiter_of(house.settings.limits, leases or MemoryRateLeases(), house.clock),
        )
        for _ in range(3)
    )
    token = claims(tenant=TENANT, user=user, roles=roles)
    return Functions(
        Gateway(api_of("start", first).handler, token),
        Gateway(api_of("intervene", second).handler, token),
        Gateway(api_of("status", third).handler, token),
        Gateway(api_of("mcp", first).handler, token),
    )


class Person:
    """A member who calls them, with these roles as well."""

    def __init__(self, house: House, user: str = USER, *roles: str) -> None:
        self._functions = functions_of(house, user=user, roles=[*roles, "member"])
        self._start, self._intervene = self._functions.start, self._functions.intervene

    def ask(self, method: str, path: str, **sent: Any) -> Answer:
        """Of whichever function the route is."""
        key, _ = routed(method, path)
        function = next(route.function for route in OPERATIONS if str(route) == key)
        gateway: Gateway = getattr(self._functions, function)
        return gateway.request(method, path, **sent)

    def get(self, path: str, **query: str) -> Answer:
        return self.ask("GET", path, query=query)

    def start(self, **fields: Any) -> Answer:
        return self._start.request("POST", "/v1/sessions", json_body={"content": "Go", **fields})

    def say(self, session_id: str, content: str, **fields: Any) -> Answer:
        path = f"/v1/sessions/{session_id}/messages"
        return self._start.request("POST", path, json_body={"content": content, **fields})

    def resume(self, session_id: str) -> Answer:
        return self._intervene.request("POST", f"/v1/sessions/{session_id}/resume")

    def resolve(self, session_id: str, intervention_id: str, option: str, **given: Any) -> Answer:
        path = f"/v1/sessions/{session_id}/interventions/{intervention_id}/resolve"
        body = {"option": option, **({"input": given} if given else {})}
        return self._intervene.request("POST", path, json_body=body)
