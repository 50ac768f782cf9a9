"""OpenAI's Responses API as far as background calls go: it makes answers by itself and keeps them under their ids.

A kept response has no encrypted reasoning, and a look that asks for it is refused (pydantic/pydantic-ai#6611).
"""

import json
import threading
from collections.abc import Sequence
from typing import Any

from tests.doubles.http_sink import Heard, Reply, Sink

JSON = {"content-type": "application/json"}
USAGE = {
    "input_tokens": 120,
    "output_tokens": 30,
    "total_tokens": 150,
    "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


class BackgroundResponses(Sink):
    """`course`: the statuses that each new response goes through, one a look at it; the last one stays. `ends`: further
    fields of a response that has ended. `script`: the output of each response by itself. `kept`: the responses by id,
    each with the statuses that it has still to show.
    """

    def __init__(self, *course: str, script: Sequence[Sequence[dict[str, Any]]] = (), **ends: Any) -> None:
        self.course = course or ("queued", "in_progress", "completed")
        self.script = tuple(script)
        self.ends: dict[str, Any] = ends or {"output": [message("Done.")], "usage": USAGE}
        self.kept: dict[str, list[str]] = {}
        self.cancelled: list[str] = []
        self.deleted: list[str] = []
        self._lock = threading.Lock()
        self._made = 0
        super().__init__()

    def expire(self) -> None:
        """Every response has been kept for as long as it is."""
        self.kept.clear()

    def reply_to(self, heard: Heard) -> Reply:
        with self._lock:
            if heard.method == "GET" and "include" in heard.path:
                return _refused("Encrypted content cannot be requested for persisted responses.", "include")
            parts = heard.path.partition("?")[0].strip("/").split("/")
            if heard.method == "POST" and parts[-1] == "responses":
                return self._create(heard.body)
            response_id = parts[parts.index("responses") + 1]
            if response_id not in self.kept:
                return _json({"error": {"message": "Response not found.", "code": None}}, 404)
            if heard.method == "DELETE":
                del self.kept[response_id]
                self.deleted.append(response_id)
                return _json({"id": response_id, "object": "response", "deleted": True})
            if parts[-1] == "cancel":
                return self._cancel(response_id)
            return self._look(response_id)

    def _create(self, body: dict[str, Any]) -> Reply:
        if body.get("background") and body.get("store") is not True:
            return _refused("Background needs store.", "store")
        self._made += 1
        response_id = f"resp_{self._made}"
        self.kept[response_id] = list(self.course)
        return self._look(response_id)

    def _cancel(self, response_id: str) -> Reply:
        self.cancelled.append(response_id)
        if self.kept[response_id][0] in ("queued", "in_progress"):
            self.kept[response_id] = ["cancelled"]
        return self._look(response_id)

    def _look(self, response_id: str) -> Reply:
        course = self.kept[response_id]
        status = course[0]
        if len(course) > 1:
            course.pop(0)
        ended = self.ends if status not in ("queued", "in_progress", "cancelled") else {}
        base = {"id": response_id, "object": "response", "created_at": 1, "model": "m", "tools": []}
        if ended and self.script:
            ended = {**ended, "output": self.script[int(response_id.removeprefix("resp_")) - 1]}
        fields = {"output": [], "usage": None, "error": None, "incomplete_details": None, **ended}
        kept = [{**item, "encrypted_content": None} for item in fields["output"]]
        return _json({**base, **fields, "output": kept, "status": status, "background": True})


def _refused(message: str, param: str) -> Reply:
    return _json({"error": {"message": message, "type": "invalid_request_error", "param": param}}, 400)


def _json(body: dict[str, Any], status: int = 200) -> Reply:
    return Reply(status, json.dumps(body).encode(), JSON)
