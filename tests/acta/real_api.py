"""The real API behind a port of this machine: every function over stores in memory, and an engine that runs at once."""

import threading

from acta.engine.api.app import Api
from acta.engine.api.operations import OPERATIONS
from acta.engine.models.offline import OfflineModel
from tests.acta.loopback_server import LoopbackServer, Received, Sent
from tests.api.gateway import Answer, Gateway, api_of, claims, routed
from tests.api.session_functions import functions_of
from tests.doubles.audit import memory_audit
from tests.doubles.secret_values import MemoryToolSecretValues
from tests.doubles.tool_function import FakeToolFunction
from tests.in_process.house import House

FUNCTION_OF = {str(route): route.function for route in OPERATIONS}
FOR_ADMINS = "admin"
"""The token of an admin; any other word is a member's name."""


class RealApi(LoopbackServer):
    """The bearer token says who calls. The offline model works on what is started, before the answer is sent."""

    def __init__(self, house: House | None = None) -> None:
        """`house`: another one than that of the offline model."""
        super().__init__()
        self.house = house or House(
            OfflineModel(),
            tenant_tools={"*": ["acta-test-tool-ping"]},
            http_tool_hosts="orders.example.com",
            event_sources={"inbox": {"kind": "files", "prefix": "inbox/"}},
        )
        self.lock = threading.Lock()
        self.audit = memory_audit(self.house.clock)
        self.tool_function = FakeToolFunction()
        self.away = 0
        """So many of the next requests find nobody: the connection is closed on them."""

    def respond(self, request: Received) -> Sent | None:
        if self.away:
            self.away -= 1
            return None
        headers = {name.lower(): value for name, value in request.headers.items()}
        token = headers.pop("authorization", "").removeprefix("Bearer ")
        answer = self.answer(token, request.method, request.target, headers, request.body)
        return Sent(answer.status, answer.body, answer.headers.items())

    def answer(self, token: str, method: str, target: str, headers: dict[str, str], body: bytes) -> Answer:
        path, _, query = target.partition("?")
        gateway = self._gateway(FUNCTION_OF.get(routed(method, path)[0], "admin"), token)
        with self.lock:
            given = gateway.request(method, path, body=body or None, headers=headers, query=query)
            self.house.run()
            return given

    def _gateway(self, function: str, token: str) -> Gateway:
        roles = ["admin", "member"] if token == FOR_ADMINS else ["member"]
        house = self.house
        if function == "wake":
            return Gateway(Api("wake", house.app()).handler, token=None)
        if function != "admin":
            of_sessions = functions_of(house, user=token, roles=roles, audit=self.audit)
            gateway: Gateway = getattr(of_sessions, function)
            return gateway
        root = house.app(
            receiver_secrets=MemoryToolSecretValues(),
            audit=self.audit,
            tool_function=self.tool_function,
            limiter=None,
        )
        return Gateway(api_of("admin", root).handler, claims(user=token, roles=roles))
