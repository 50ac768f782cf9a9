"""A house with triggers, its admin, and a sender of webhooks."""

import hmac
import json
from hashlib import sha256
from typing import Any

from acta.engine.api.app import Api
from acta.engine.app import App
from acta.engine.bound_tenant import bound_to
from acta.engine.log.head import Head
from acta.engine.triggers.fire import retry_waiting
from acta.engine.triggers.trigger import TriggerEvent
from tests.api.gateway import Answer, Gateway, api_of, claims
from tests.doubles.audit import memory_audit
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import Turn, plans
from tests.people.policies import ENDS, house_with

SECRET = "a-secret-of-twenty-chars"
GITHUB = {
    "webhook": {"scheme": "github", "secret": "hook"},
    "goal": "Look at {{event.issue.title}}.",
}
ADMIN = "ann"
ORDERS = {"kind": "queue", "queue": "orders", "tenants": [TENANT]}
"""The source of events that the operator has set up."""


class Outside:
    """`turns`: what the model says; without them, enough for some sessions that end at once."""

    def __init__(self, *turns: Turn, agent: dict[str, Any] | None = None, **settings: Any) -> None:
        settings = {"event_sources": {"orders": ORDERS}, **settings}
        said = turns or tuple(turn for _ in range(12) for turn in (plans("look"), *ENDS))
        self.house: House = house_with(*said, settings=settings, **(agent or {}))
        self.app: App = self.house.app(
            audit=memory_audit(),
            limiter=None,
            workflow=self.house.workflow,
        )
        self.admin = Gateway(
            api_of("admin", self.app).handler, claims(tenant=TENANT, user=ADMIN, roles=["admin", "finance"])
        )
        self.member = Gateway(api_of("admin", self.app).handler, claims(tenant=TENANT, user="mia"))
        self.wake = Gateway(Api("wake", self.app).handler, token=None)
        value = {"value": SECRET, "hosts": []}
        assert self.admin.request("PUT", "/v1/tool-secrets/hook", json_body=value).status == 201

    def put(self, trigger_id: str = "issues", **fields: Any) -> Any:
        answer = self.admin.request("PUT", f"/v1/triggers/{trigger_id}", json_body={**GITHUB, **fields})
        assert answer.status in (200, 201), answer.json
        return answer.data

    def path(self, trigger_id: str = "issues") -> str:
        url: str = self.read(trigger_id)["url"]
        return url.removeprefix("https://acta.test")

    def read(self, trigger_id: str = "issues") -> Any:
        return self.admin.request("GET", f"/v1/triggers/{trigger_id}").data

    def deliver(self, event: Any, delivery: str = "d-1", *, kind: str = "issues", **changed: Any) -> Answer:
        """As GitHub does. `changed`: `path`, `secret`, or the `body` after it was signed."""
        body = json.dumps(event).encode()
        signed = hmac.new(changed.get("secret", SECRET).encode(), body, sha256).hexdigest()
        headers = {
            "X-Hub-Signature-256": f"sha256={signed}",
            "X-GitHub-Delivery": delivery,
            "X-GitHub-Event": kind,
            "Content-Type": "application/json",
        }
        path = changed.get("path") or self.path()
        return self.wake.request("POST", path, body=changed.get("body", body), headers=headers)

    def events(self, trigger_id: str = "issues", **query: str) -> list[Any]:
        found = self.admin.request("GET", f"/v1/triggers/{trigger_id}/events", query=query).data["items"]
        return list(found)

    def sessions(self) -> list[Head]:
        found = self.house.index.sessions(TENANT, states=(), agent_id=None, limit=100, cursor=None).entries
        return [self.house.head(one.session_id) for one in found]

    def minute(self, seconds: int = 60) -> int:
        """Recovery's next round. Returns how many events went on."""
        self.house.clock.advance(seconds)

        def failed(what: str, error: Exception) -> None:
            raise error

        return retry_waiting(self.app, lambda: True, failed)

    def stored(self, event_id: str, trigger_id: str = "issues") -> TriggerEvent:
        with bound_to(TENANT):
            one = self.app.trigger_events.get(TENANT, trigger_id, event_id)
        assert one is not None
        return one
