"""Somebody at the API: a token, plain HTTP, and patience."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import httpx

from acta.client.api import Client
from tests.e2e.support.document import checked

PATIENCE_SECONDS = 40.0
OVER = ("completed", "failed", "cancelled")
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
JSON = "application/json"
TLS = ssl.create_default_context()
"""One for everybody: to read the certificate authorities takes longer than to start a session."""

Json = dict[str, Any]


class Seen(NamedTuple):
    """A session as the polling endpoint told it: the last snapshot and every event of every page, in order."""

    session: Json
    events: list[Json]
    cursor: str

    def of(self, *types: str) -> list[Json]:
        return [event for event in self.events if event["type"] in types]


def is_as_described(answer: Any) -> None:
    """`answer`: of httpx, or of httpx2, with which Acta's client asks."""
    answer.read()
    checked(answer)


def compared(client: Client) -> Client:
    """A client of Acta's, whose answers are compared as well."""
    client.caller.http.event_hooks = {"response": [is_as_described]}
    return client


class Person:
    def __init__(self, url: str, token: str, tenant: str = "", name: str = "") -> None:
        self.tenant = tenant
        self.name = name
        self.token = token
        self.at_the_page = False
        """Whether they have signed in with a browser, which may have started sessions, too."""
        self._started: set[str] = set()
        self._wakes: set[str] = set()
        headers = {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(
            base_url=url,
            headers=headers,
            timeout=60,
            trust_env=False,
            verify=TLS,
            event_hooks={"response": [is_as_described, self._remember]},
        )

    def _remember(self, answer: httpx.Response) -> None:
        method, path = answer.request.method, answer.request.url.path
        if (method, path, answer.status_code) == ("POST", "/v1/sessions", 202):
            self._started.add(answer.json()["data"]["session_id"])
        if answer.status_code == 201 and path == "/v1/schedules":
            self._wakes.add(f"{path}/{answer.json()['data']['schedule_id']}")
        elif answer.status_code == 201 and path.startswith(("/v1/schedules/", "/v1/triggers/")):
            self._wakes.add(path)

    def leave(self) -> None:
        """Ends what they started, what woke it, and what may still run: it would ask the model of a later test."""
        for path in self._wakes:
            answer = self.delete(path)
            assert answer.status_code in (204, 404), answer.status_code
        if self._wakes or self.at_the_page:
            found = self.items("/v1/sessions")
            self._started |= {one["session_id"] for one in found if one["state"] not in OVER}
        for session_id in self._started:
            answer = self.post(f"/v1/sessions/{session_id}/cancel")
            assert answer.status_code in (202, 404, 409), answer.status_code
        self.http.close()

    def get(self, path: str, headers: Mapping[str, str] | None = None, **query: Any) -> httpx.Response:
        return self.http.get(path, params=query, headers=headers)

    def post(self, path: str, body: Json | None = None, **headers: str) -> httpx.Response:
        """`headers` as keywords, `Idempotency_Key="k"`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.post(path, json={} if body is None else body, headers=named)

    def patch(self, path: str, body: Json, **headers: str) -> httpx.Response:
        """`headers` as keywords, `If_Match='"1"'`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.patch(path, json=body, headers=named)

    def delete(self, path: str) -> httpx.Response:
        return self.http.delete(path)

    def data(self, path: str, **query: Any) -> Any:
        answer = self.get(path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def items(self, path: str, **query: Any) -> list[Json]:
        """Of all pages."""
        found: list[Json] = []
        cursor: str | None = None
        while True:
            page = self.data(path, **query, **({"cursor": cursor} if cursor else {}))
            found += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    def put_file(self, path: str, text: str) -> None:
        assert self.http.put(f"/v1/files/{path}", content=text.encode()).status_code in (200, 201)

    def file(self, path: str) -> str:
        answer = self.get(f"/v1/files/{path}")
        assert answer.status_code == 200, answer.text
        return answer.text

    def files(self) -> set[str]:
        return {item["path"] for item in self.items("/v1/files")}

    def start(self, goal: str | None = None, **limits: Any) -> str:
        """The id of the new session."""
        body = limits if goal is None else {"content": goal, **limits}
        answer = self.post("/v1/sessions", body)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["data"]["session_id"])

    def pages(self, session_id: str, after: str = "0") -> Iterator[Json]:
        """Answers of the polling endpoint, each long-polling from the cursor of the one before."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            page: Json = self.data(f"/v1/sessions/{session_id}", after=after, wait=10)
            if page["session"]["state"] in OVER:
                self._started.discard(session_id)
            yield page
            if page["session"]["state"] in OVER:  # then the server does not wait
                time.sleep(page["poll_after_ms"] / 1_000)
            assert time.monotonic() < deadline, f"the session stays {page['session']['state']}"
            after = page["cursor"]

    def watch(self, session_id: str, until: Callable[[Json], bool], after: str = "0") -> Seen:
        events: list[Json] = []
        for page in self.pages(session_id, after):
            events += page["events"]
            if until(page["session"]) and not page["has_more"]:
                return Seen(page["session"], events, page["cursor"])
        raise AssertionError("unreachable: pages never end")

    def finished(self, session_id: str, after: str = "0") -> Seen:
        """Once its run is over, however. It may wait for a time that comes, not for a person: nobody will."""

        def over(session: Json) -> bool:
            waits = [one["type"] for one in session["interventions"] if one["timeout_at"] is None]
            assert not waits, f"the session waits for somebody: {session['interventions']}"
            return session["state"] in OVER

        return self.watch(session_id, over, after)

    def asked(self, session_id: str, after: str = "0") -> Seen:
        """Once it waits for a person."""
        return self.watch(session_id, lambda s: bool(s["interventions"]), after)

    def snapshot(self, session_id: str) -> Json:
        return dict(self.data(f"/v1/sessions/{session_id}")["session"])

    def resolve(self, session_id: str, intervention_id: str, option: str, **more: Any) -> httpx.Response:
        path = f"/v1/sessions/{session_id}/interventions/{intervention_id}/resolve"
        return self.post(path, {"option": option, **more})


def refused(answer: httpx.Response, status: int, code: str) -> Json:
    """The error of an answer that must be one, in Acta's envelope and with every header."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == JSON
    carries_the_headers(answer)
    body: Json = answer.json()
    assert set(body) == {"success", "error"}
    assert body["success"] is False
    assert body["error"]["code"] == code, body
    assert body["error"]["message"]
    return dict(body["error"])


def carries_the_headers(answer: httpx.Response) -> None:
    assert {name: answer.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
