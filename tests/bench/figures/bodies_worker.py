"""Answers each route's worst requests, each in a fork of its own, and prints what it cost, one JSON object a line."""

import json
import os
import re
import resource
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from acta.engine.api.json_body import ANY_VALUES
from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from acta.engine.settings import Settings
from acta.engine.tools.mcp.server import MAX_SERVER_TOOLS, MAX_SERVERS, ConfirmedTool, McpServer
from acta.engine.tools.port import Trial
from acta.infra.sizing import SIZES
from tests.api.deployment import AdminApi
from tests.api.gateway import Gateway
from tests.api.session_functions import functions_of
from tests.api.test_body_bounds import EMOJI, LARGEST, SCHEMA, arguments, pairs
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, call, plans, says
from tests.tools.test_effect_ledger import RefundRegistry

WHOLE_VCPU_MB = 1_769
LARGEST_EVENT = 5_500_000
"""Bytes of a body that Lambda still takes."""
HOST = "api.example.com"
NUMBERS = [1.7976931348623157e308] * (ANY_VALUES - 100)
"""Written without the `+` of their exponents they take the longest to be compared with what is kept of them."""
SETTINGS = Settings(env="test", table="table", bucket="bucket", http_tool_hosts=HOST)
READS = ("listTools", "listMcpServers", "listAgents")
"""Reads whose answers an admin can make large."""
ADMIN_TOOLS, ADMIN_AGENTS = 39, 30

Request = tuple[str, str | bytes | None]
"""What it is, and its body."""


class Functions:
    """The functions that take a body, over a session in which a call waits for a person, and what an admin defined."""

    def __init__(self) -> None:
        script = [plans("pay"), says("", call("refund", order=7))]
        house, registry = House(ScriptedModel(script)), RefundRegistry("idempotent")
        registry.refund = registry.refund.model_copy(update={"high_stakes": True})
        house.registry = registry
        house.runtime = house.runtime._replace(registry=registry)
        session = house.start("Pay").session_id
        house.run()
        (asked,) = house.head(session).interventions
        self._variables = {"session_id": session, "intervention_id": asked.intervention_id, "version": "1"}
        made = functions_of(house, roles=["admin", "member"])._asdict()
        deployment = AdminApi(SETTINGS)
        deployment.tool_function.answers = {"try_tool": lambda given: Trial("succeeded", 1)._asdict()}
        for n in range(MAX_SERVERS):
            deployment.root.server_definitions.create("acme", _server(f"server{n}", house.clock.now()))
        self.gateways: Mapping[str, Gateway] = {**made, "admin": deployment.admin}
        for n in range(ADMIN_TOOLS):
            self._define("createTool", name=f"tool{n}")
        for n in range(ADMIN_AGENTS):
            self._define(
                "createAgent", agent_id=f"agent{n}", tools=[], high_stakes=[], models={}, fallbacks=[]
            )

    def _define(self, operation: str, **fields: Any) -> None:
        row = next(each for each in OPERATIONS if each.name == operation)
        body = {**LARGEST[operation], **FIT[operation], **fields}
        answer = self.gateways["admin"].request(row.method, row.path, json_body=body)
        assert answer.status == 201, answer.body[:500]

    def send(self, row: Operation, body: str | bytes | None) -> tuple[int, float]:
        """The answer's status, and the CPU seconds from the event's text on."""
        path = row.path.replace("{path+}", "largest.txt").replace(
            "/v1/agents/{agent_id}", "/v1/agents/agent0"
        )
        path = path.replace("/v1/tools/{name}", "/v1/tools/tool0").replace(
            "prompts/{name}", "prompts/agent_planning_system"
        )
        for name in re.findall(r"{(\w+)}", path):
            path = path.replace(f"{{{name}}}", self._variables.get(name, "name1"))
        gateway, spent = self.gateways[row.function], 0.0

        def timed(event: dict[str, Any], context: Any) -> dict[str, Any]:
            nonlocal spent
            text = json.dumps(event)
            began = time.process_time()
            answer = gateway.handler(json.loads(text), context)
            json.dumps(answer)
            spent = time.process_time() - began
            return answer

        headers = {"If-Match": '"1"'} if row.needs else {}
        answer = Gateway(timed, gateway.token).request(row.method, path, body=body, headers=headers)
        return answer.status, spent


def _server(name: str, now: datetime) -> McpServer:
    """With as many tools as it may have, as large as one item of the table holds them."""
    confirmed = {
        "pin": "0" * 64,
        "confirmed_read": True,
        "high_stakes": False,
        "confirmed_at": now,
        "confirmed_by": "ann",
    }
    tools = [
        ConfirmedTool(tool=f"tool{n}", description="d" * 2_000, input_schema=SCHEMA, **confirmed)
        for n in range(MAX_SERVER_TOOLS)
    ]
    return McpServer(
        name=name, url=URL, tools=tuple(tools), quotation_key="k", version=1, created_at=now, updated_at=now
    )


NO_TOOLS: Mapping[str, Any] = {"tools": [], "high_stakes": [], "models": {}, "fallbacks": []}
URL = f"https://{HOST}/{'u' * 1_900}"
FIT: Mapping[str, Mapping[str, Any]] = {
    "startSession": {"agent_id": "default", "notify_url": None, "prompts": {}, "token_budget": 1_000_000},
    "forkSession": {"at": None},
    "editPlan": {"operations": [{"op": "add", "description": EMOJI * 500}] * 9},
    "changeLimits": {"token_budget": 1_000_000, "cost_budget_usd": None},
    "resolveIntervention": {"input": {"content": EMOJI * 16_000}},
    "createAgent": NO_TOOLS,
    "replaceAgent": NO_TOOLS,
    "createTool": {"config": {"url": URL, "method": "POST"}},
    "replaceTool": {"config": {"url": URL, "method": "POST"}},
    "writeMcpServer": {"url": URL, "tools": None},
    "setNotifications": {"url": None},
}
"""What the largest bodies need to fit what there is."""


def accepted(row: Operation) -> Iterator[Request]:
    """Bodies that the route's fields allow: the largest, and the ones with the most values."""
    if row.name in READS:
        yield "the largest answer", None
    elif row.takes_bytes:
        yield "a file of 4 MB", os.urandom(4_194_304) if row.sends else b""
    elif row.name in LARGEST:
        body = {**LARGEST[row.name], **FIT.get(row.name, {})}
        yield "the largest body", json.dumps(body)
        if row.name == "callTool":
            yield "the most values", json.dumps({**body, "input": {"rows": NUMBERS}}).replace("e+", "e")
    elif row.name == "askOverMcp":
        call = {"name": "start_session", "arguments": LARGEST["startSession"]}
        yield (
            "the largest start",
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
        )
    else:
        yield "no body", "{}"


def refused(row: Operation) -> Iterator[Request]:
    if row.name in READS:
        return
    bounds = arguments(row.name).bounds
    if row.name in FIT:
        yield "the largest body, of names that do not exist", json.dumps(LARGEST[row.name])
    yield "the largest event", '{"content":"x","metadata":' + pairs(480_000) + "}"
    yield "the largest event, of 4-byte characters", '{"content":"' + EMOJI * (LARGEST_EVENT // 4)
    if row.takes_bytes:
        return
    yield "pairs, as many bytes as are read", pairs(bounds.bytes // 10)
    yield "quotation marks, as many bytes as are read", '"a' * (bounds.bytes // 2)
    yield "brackets, as many bytes as are read", "[" * bounds.bytes
    yield "a text without an end", '{"content":"' + EMOJI * (bounds.bytes // 4 - 10)
    yield "fields that do not exist", pairs(bounds.values // 2 - 20)
    for name, most in (bounds.fields or {}).items():
        values = min(most, bounds.values - 10)
        yield f"{name} of wrong pairs", f'{{"{name}":{pairs(values // 2 - 1)}}}'
        yield f"{name} of wrong items", json.dumps({name: [0] * (values - 1)})
        if most > ANY_VALUES:
            body = {**LARGEST.get(row.name, {}), name: {"rows": NUMBERS}}
            yield f"{name} of long numbers", json.dumps(body).replace("e+", "e")
            yield (
                f"{name} of long numbers, the last of which is wrong",
                json.dumps(body).replace("e+", "e")[:-3] + ",1e999]}}",
            )


def main() -> None:
    functions = Functions()
    for row in OPERATIONS:
        takes_body = row.method in ("POST", "PUT", "PATCH") and row.function in functions.gateways
        if not takes_body and row.name not in READS:
            continue
        for requests in (accepted, refused):
            measured = [_measured(functions, row, *each) for each in requests(row)]
            if measured:
                dearest = max(measured, key=lambda each: each["cpu_ms"])
                print(
                    json.dumps({**dearest, "peak_mb": max(each["peak_mb"] for each in measured)}), flush=True
                )


def _measured(functions: Functions, row: Operation, what: str, body: str | bytes | None) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        functions.send(row, b"" if row.takes_bytes else "{}")
        status, spent = functions.send(row, body)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
        os.write(writing, json.dumps({"status": status, "cpu_ms": spent * 1_000, "peak_mb": peak}).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as told:
        cost = json.load(told)
    memory = SIZES[row.function].memory
    seconds = cost["cpu_ms"] / 1_000 * WHOLE_VCPU_MB / memory
    return {"route": str(row), "request": what, "memory": memory, "seconds": seconds, **cost}


if __name__ == "__main__":
    main()
