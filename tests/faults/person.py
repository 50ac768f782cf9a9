"""Somebody who wants the scenario done: asks again until there is an answer, and answers truthfully when asked."""

import time
from typing import Any

import httpx

from tests.e2e.support.person import TLS
from tests.faults.ledger import Ledger, receipt

PATIENCE_SECONDS = 300.0
"""As `LONGEST_SECONDS` in `tests/faults/scenario.py`."""
AGAIN_SECONDS = 0.1

Json = dict[str, Any]


class NoAnswer(AssertionError):
    """The API did not answer for as long as a person waits."""


class Insistent:
    """The same request under the same key until it is answered, however often the service dies meanwhile."""

    def __init__(self, url: str, token: str, *, patience: float = PATIENCE_SECONDS) -> None:
        """`patience`: seconds that one request is repeated for."""
        self._patience = patience
        headers = {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False, verify=TLS)

    def post(self, path: str, body: Json, key: str) -> httpx.Response:
        return self._ask("POST", path, json=body, headers={"Idempotency-Key": key})

    def has_answered(self, path: str, body: Json, key: str) -> bool:
        """Whether the one try came to something."""
        try:
            answer = self.http.post(path, json=body, headers={"Idempotency-Key": key})
        except httpx.TransportError:
            return False
        return answer.is_success

    def data(self, path: str, **query: str) -> Any:
        answer = self._ask("GET", path, params=query)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()["data"]

    def snapshot(self, path: str) -> Json:
        """The session at `path` with all its events, however many pages they are."""
        seen: Json = self.data(path, after="0")
        while seen["has_more"]:
            following = self.data(path, after=seen["cursor"])
            seen = {**following, "events": [*seen["events"], *following["events"]]}
        return seen

    def rows(self, path: str, field: str = "items") -> list[Json]:
        """Of every page of a history."""
        page: Json = self.data(path)
        found = [*page[field]]
        while page["next_cursor"] is not None:
            page = self.data(path, cursor=page["next_cursor"])
            found += page[field]
        return found

    def _ask(self, method: str, path: str, **how: Any) -> httpx.Response:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                answer = self.http.request(method, path, **how)
                if answer.status_code < 500 and answer.status_code != 429:
                    return answer
                told = f"{answer.status_code} {answer.text}"
            except httpx.TransportError as error:
                told = repr(error)
            if time.monotonic() > deadline:
                raise NoAnswer(f"{method} {path}: {told}")
            time.sleep(AGAIN_SECONDS)


def truth(ledger: Ledger, run: str, asked: Json) -> Json:
    """What is said to the question whether a call happened, from what the service has in its books."""
    call = asked["tool_call"]
    if not ledger.has(run, call["name"], call["input"]):
        return {"option": "retry"}
    return {"option": "record", "input": {"result": receipt(call["name"], call["input"]["what"])}}
