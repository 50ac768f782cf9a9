"""The real API behind a port of this machine: every function over stores in memory, and an engine that runs at once."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from functions.admin.dependencies import Dependencies as AdminDependencies
from functions.admin.routes import build as build_admin
from shared.adapters.llm.offline.model import OfflineModel
from shared.api.request.idempotency import IdempotencyGuard
from shared.api.routes import ROUTES
from tests.doubles.audit import memory_audit
from tests.doubles.receivers import MemoryTenantReceivers
from tests.doubles.tool_secrets import MemoryToolSecretNames, MemoryToolSecretValues
from tests.doubles.tools import MemoryToolStore
from tests.in_process.house import House
from tests.unit.api.gateway import Answer, Gateway, claims, routed
from tests.unit.api.session_functions import functions_of

FUNCTION_OF = {str(route): route.function for route in ROUTES}
FOR_ADMINS = "admin"
"""The token of an admin; any other word is a member's name."""


class RealApi:
    """The bearer token says who calls. The offline model works on what is started, before the answer is sent."""

    def __init__(self) -> None:
        self.house = House(OfflineModel(), tenant_tools={"*": ["acta-test-tool-ping"]})
        self.lock = threading.Lock()
        self.audit = memory_audit(self.house.clock)
        self.away = 0
        """So many of the next requests find nobody: the connection is closed on them."""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

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
        if function != "admin":
            of_sessions = functions_of(house, user=token, roles=json.dumps(roles), audit=self.audit)
            gateway: Gateway = getattr(of_sessions, function)
            return gateway
        root = AdminDependencies(
            settings=house.settings,
            files=house.files,
            definitions=house.definitions,
            tools=MemoryToolStore(house.table, house.clock),
            secret_names=MemoryToolSecretNames(house.table),
            secret_values=house.secret_values,
            receivers=MemoryTenantReceivers(house.table),
            receiver_secrets=MemoryToolSecretValues(),
            memories=house.memories,
            idempotency=IdempotencyGuard(house.index),
            clock=house.clock,
            audit=self.audit,
        )
        return Gateway(build_admin(root).handler, claims(user=token, roles=json.dumps(roles)))

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def handler_of(api: RealApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if api.away:
                api.away -= 1
                self.close_connection = True
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            token = headers.get("authorization", "").removeprefix("Bearer ")
            answer = api.answer(token, self.command, self.path, headers, body)
            content = answer.body
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = do  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
