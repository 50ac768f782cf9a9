"""API1, object level: what is another tenant's answers on every route as what never was, whoever knows its id.

By which ways one session could be reached from another tenant: `tests/e2e/api/test_tenants.py`. What is private within
a tenant: `test_api1_private_sessions.py`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import httpx
import pytest

from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from tests.doubles.http_sink import Sink
from tests.e2e.conftest import Admit
from tests.e2e.support.conversing import http_tool
from tests.e2e.support.person import Json, Person
from tests.e2e.support.script import Call, do, plan
from tests.e2e.support.stage import Stage

PROMPT = "agent_planning_system"
SECRET = "the-salaries"
BY_ID = [route for route in OPERATIONS if "{" in route.path and route.role is not None]
OF_EVERYBODY = {
    "PUT /v1/files/{path+}", "GET /v1/admin/prompts/{name}", "PUT /v1/admin/prompts/{name}",
    "GET /v1/admin/prompts/{name}/versions", "PUT /v1/tool-secrets/{name}",
    "PUT /v1/mcp-servers/{name}", "PUT /v1/triggers/{trigger_id}",
}  # fmt: skip
"""They answer everybody, of their own: each tenant names its files, secrets, servers and triggers, and the prompts'
names are Acta's."""
RANDOM = ("session_id", "intervention_id", "memory_id")


class Ids(NamedTuple):
    """By variable of a path. A route's `name` is that of a tool and its secret, or of a prompt."""

    session_id: str
    intervention_id: str
    memory_id: str
    path: str = "salaries.csv"
    agent_id: str = "payroll"
    schedule_id: str = "payday"
    tool: str = "pay"
    version: str = "2"
    text_id: str = "0" * 64
    trigger_id: str = "orders"
    event_id: str = "evt_01KB0000000000000000000000"

    def of(self, route: Operation) -> str:
        known: Mapping[str, str] = {
            **self._asdict(), "name": PROMPT if "prompts" in route.path else self.tool
        }  # fmt: skip
        return re.sub(r"\{(\w+)\+?\}", lambda found: known[found[1]], route.path)


class Victim(NamedTuple):
    """An admin, and what there is of the tenant."""

    boss: Person
    ids: Ids

    def everything(self) -> list[Any]:
        """All that the routes by id could show or change. A session's times are left out: the engine begins to wait for
        the decision a moment after somebody is asked for it.
        """
        session, prompt = f"/v1/sessions/{self.ids.session_id}", f"/v1/admin/prompts/{PROMPT}"
        paths = [
            f"{session}/messages", "/v1/interventions", "/v1/agents", "/v1/tools", "/v1/tool-secrets", "/v1/memories",
            "/v1/triggers", "/v1/schedules", "/v1/schedules/payday/runs", prompt, f"{prompt}/versions", "/v1/files",
        ]  # fmt: skip
        (only,) = self.boss.items("/v1/sessions")
        kept = {
            name: only[name]
            for name in ("session_id", "state", "state_reason", "visibility", "plan", "interventions")
        }
        return [kept, *map(self.boss.data, paths), self.boss.file(self.ids.path)]


@pytest.fixture
def victim(boss: Person, llmock: Any, sink: Sink) -> Victim:
    boss.put_file("salaries.csv", SECRET)
    tool = http_tool("pay", sink.url("/pay"))
    assert boss.post("/v1/tools", tool).status_code == 201
    assert (
        boss.http.put("/v1/tool-secrets/pay", json={"value": SECRET, "hosts": [sink.at]}).status_code == 201
    )
    assert boss.post("/v1/agents", {"agent_id": "payroll", "name": SECRET}).status_code == 201
    trigger = {"source": "events", "goal": SECRET}
    assert boss.http.put("/v1/triggers/orders", json=trigger).status_code == 201
    payday = {"schedule_id": "payday", "agent_id": "payroll", "goal": SECRET, "cron": "0 0 1 1 *"}
    assert boss.post("/v1/schedules", payday).status_code == 201
    memory = boss.post("/v1/memories", {"kind": "fact", "text": SECRET})
    assert (
        boss.http.put(f"/v1/admin/prompts/{PROMPT}", json={"content": SECRET}).json()["data"]["version"] == 2
    )
    Stage(boss, llmock.tool_mode("off")).prepare(
        do(plan("Clean up")), do(Call("delete_file", {"path": "salaries.csv"}), text="I delete it.")
    )
    seen = boss.asked(boss.start(SECRET))
    (asked,) = seen.session["interventions"]
    memory_id = memory.json()["data"]["memory_id"]
    return Victim(boss, Ids(seen.session["session_id"], asked["intervention_id"], memory_id))


def never(ids: Ids) -> Ids:
    """Of the same form, of nothing that there ever was."""
    made_up = {field: f"{getattr(ids, field)[:-6]}000000" for field in RANDOM}
    return ids._replace(
        **made_up,
        path="wages.csv",
        agent_id="nobody",
        tool="none",
        version="3",
        trigger_id="none",
        schedule_id="never",
    )


def ask(person: Person, route: Operation, ids: Ids, tool: Json) -> httpx.Response:
    bodies: Mapping[str, Json] = {
        "POST /v1/sessions/{session_id}/messages": {"content": "Hello"},
        "POST /v1/sessions/{session_id}/rating": {"rating": "up"},
        "POST /v1/sessions/{session_id}/interventions/{intervention_id}/resolve": {"option": "approve"},
        "PATCH /v1/sessions/{session_id}/plan": {"operations": [{"op": "add", "description": "Mine"}]},
        "PUT /v1/tools/{name}": {name: value for name, value in tool.items() if name != "name"},
        "PUT /v1/agents/{agent_id}": {"name": "Mine"},
        "PUT /v1/schedules/{schedule_id}": {"agent_id": "default", "goal": "Mine", "every": "1 day"},
        "PATCH /v1/schedules/{schedule_id}": {"goal": "Mine"},
        "PUT /v1/memories/{memory_id}": {"kind": "fact", "text": "Mine", "shared": True},
        "PUT /v1/admin/prompts/{name}": {"content": "Mine"},
        "PUT /v1/tool-secrets/{name}": {"value": "nobody-else-s", "hosts": ["pay.example"]},
        "PUT /v1/mcp-servers/{name}": {"url": tool["config"]["url"]},
        "PUT /v1/triggers/{trigger_id}": {"source": "inbox", "goal": "Mine"},
        "POST /v1/triggers/{trigger_id}/events": {"event": {"type": "mine"}},
        "POST /v1/tools/{name}/call": {"input": {}},
        "POST /v1/mcp-servers/{name}/confirm": {"tools": {}},
        "POST /v1/admin/prompts/{name}/versions/{version}/restore": {},
    }
    more: dict[str, Any] = {"json": bodies[str(route)]} if str(route) in bodies else {}
    if route.takes_bytes:
        files: dict[str, dict[str, Any]] = {
            "PUT": {"content": b"mine"},
            "POST": {"params": {"restore": "null"}},
        }
        more = files.get(route.method, {})
    if route.needs:
        more["headers"] = {"If-Match": "*"}
    return person.http.request(route.method, ids.of(route), **more)


def told(answer: httpx.Response) -> tuple[int, str, list[str]]:
    """All that an answer says; when it was given says nothing."""
    return answer.status_code, answer.text, sorted(set(answer.headers) - {"date"})


def routes() -> Iterator[Operation]:
    yield from (route for route in BY_ID if str(route) not in OF_EVERYBODY)


def test_no_route_shows_changes_or_confirms_what_is_another_tenants(
    victim: Victim, admit: Admit, sink: Sink
) -> None:
    """Mallory has every id and name, is an admin of a tenant of her own, and is called as the victim is."""
    before, mallory = victim.everything(), admit(role="admin", user="boss")
    tool = http_tool("pay", sink.url("/mine"))
    for route in routes():
        theirs = ask(mallory, route, victim.ids, tool)
        assert theirs.status_code == 404, (str(route), theirs.text)
        assert told(theirs) == told(ask(mallory, route, never(victim.ids), tool)), str(route)

    own = never(victim.ids)._replace(session_id=mallory.start())
    theirs_in_own = own._replace(intervention_id=victim.ids.intervention_id)
    for route in (each for each in routes() if "{intervention_id}" in each.path):
        answer = ask(mallory, route, theirs_in_own, tool)
        assert answer.status_code == 404, (str(route), answer.text)
        assert told(answer) == told(ask(mallory, route, own, tool)), str(route)

    for route in (each for each in BY_ID if str(each) in OF_EVERYBODY):
        answer = ask(mallory, route, victim.ids, tool)
        assert answer.status_code in (200, 201), (str(route), answer.text)
        assert SECRET not in answer.text
    assert victim.everything() == before
    assert mallory.file(victim.ids.path) == "mine"


def test_nobody_without_an_admins_role_gets_to_know_whether_there_is_such_a_thing(
    victim: Victim, admit: Admit, sink: Sink
) -> None:
    """Within the tenant: the role is asked about before anything is looked for."""
    member = admit(victim.boss.tenant, "mallory")
    tool = http_tool("pay", sink.url("/mine"))
    for route in (each for each in BY_ID if each.role == "admin"):
        there, none = (ask(member, route, ids, tool) for ids in (victim.ids, never(victim.ids)))
        assert (there.status_code, told(there)) == (403, told(none)), str(route)
