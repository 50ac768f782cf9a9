"""A provider whose answer depends on the conversation it is shown alone: whoever asks, and however often."""

import json
import threading
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from tests.bench.stand.provider import ScriptedProvider
from tests.bench.stand.script import Call, Reply
from tests.e2e.support.person import PATIENCE_SECONDS, Json, Person


class ConversingProvider(ScriptedProvider):
    """The nth reply of the script to a conversation in which the model has spoken n times. `stalls`: turns at which the
    next request gets no answer before `end` is set.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self.stalls: set[int] = set()
        self.end = threading.Event()

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def answer(self, body: bytes) -> bytes | None:
        spoken = sum(message["role"] == "assistant" for message in json.loads(body)["messages"])
        if spoken in self.stalls:
            self.stalls.discard(spoken)
            self.end.wait(PATIENCE_SECONDS)
        with self._lock:
            self.sent = [0] * spoken
            return super().answer(body)


def planned(*more: Reply, answer: str = "Done.") -> Sequence[Reply]:
    """A plan of one step, then these, then the end."""
    done = {"action": "update_step", "step_number": 1, "step_status": "completed", "step_result": "Done."}
    close = {"action": "complete", "reason": answer}
    plan = {"action": "create", "goal": "It", "steps": [{"description": "Do it"}]}
    return (
        Reply("", (Call("update_plan", plan),)),
        *more,
        Reply(f"GOAL_COMPLETE\n{answer}", (Call("update_plan", done), Call("update_plan", close))),
    )


def anthropic_at(url: str) -> dict[str, str]:
    return {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": url}


def confirm_search(admin: Person, name: str, url: str, auth: Json | None = None, **wishes: Any) -> list[Json]:
    """Names an MCP server and confirms its tool `search` as one that only reads. Gives the tools that it listed."""
    path, server = f"/v1/mcp-servers/{name}", {"url": url} if auth is None else {"url": url, "auth": auth}
    assert admin.http.put(path, json=server).status_code == 201
    listed: list[Json] = admin.post(f"{path}/refresh").json()["data"]["items"]
    (pin,) = [each["pin"] for each in listed if each["tool"] == "search"]
    confirm = {"tools": {"search": {"pin": pin, "confirmed_read": True, **wishes}}}
    confirmed = admin.post(f"{path}/confirm", confirm)
    assert confirmed.status_code == 200, confirmed.text
    return listed


def http_tool(name: str, url: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "description": name, "kind": "http", "config": {"url": url, "method": "POST"},
        "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}, **more,
    }  # fmt: skip
