"""The deployed functions keep a tenant within its limits, whichever process answers (ADR 65)."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from acta.client.api import Client
from acta.client.deployment import Deployment
from tests.conftest import Deployed
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person, compared, refused
from tests.e2e.support.samples import DELETION, OLD

FUNCTIONS = ("start", "status", "intervene", "admin", "step", "tool", "recover")
OPEN, MINUTE, SECOND = 5, 9, 2
LIMITS: dict[str, dict[str, int]] = {
    "open": {"open_sessions": OPEN},
    "minute": {"starts_per_minute": MINUTE},
    "second": {"requests_per_second": SECOND, "long_polls": 1},
}
"""By the tenant's name."""


@pytest.fixture(scope="module", autouse=True)
def limited(behind: Behind) -> Iterator[None]:
    with behind.configured(*FUNCTIONS, ACTA_TENANT_LIMITS=json.dumps(LIMITS)):
        yield


def counts(behind: Behind, tenant: str) -> dict[str, int]:
    key = {"pk": {"S": f"T#{tenant}#=N"}, "sk": {"S": "O"}}
    item = (
        behind.client("dynamodb").get_item(TableName=behind.settings["ACTA_TABLE"], Key=key).get("Item", {})
    )
    return {name: int(item[name]["N"]) for name in ("o", "n") if name in item}


def start_at_once(person: Person, number: int, **body: Any) -> list[httpx.Response]:
    with ThreadPoolExecutor(number) as pool:
        return [*pool.map(lambda _: person.post("/v1/sessions", body), range(number))]


@pytest.mark.thorough
def test_of_a_dozen_starts_at_once_as_many_are_open_as_may_and_their_ends_make_room(
    admit: Admit, behind: Behind
) -> None:
    ann = admit(tenant="open")
    ann.put_file(OLD, "old")
    answers = start_at_once(ann, 12, content=DELETION)  # each has a cold process to wait for
    begun = [one.json()["data"]["session_id"] for one in answers if one.status_code == 202]
    assert len(begun) == OPEN
    for one in answers:
        if one.status_code != 202:
            refused(one, 429, "TOO_MANY_OPEN_SESSIONS")
            assert one.headers["ratelimit"].startswith('"open-sessions";r=0')
            assert int(one.headers["retry-after"]) > 0
    assert counts(behind, "open")["o"] == OPEN

    for session_id in begun:
        ann.asked(session_id)
    assert ann.post(f"/v1/sessions/{begun[0]}/cancel").status_code == 202
    (asked,) = ann.snapshot(begun[1])["interventions"]
    assert ann.resolve(begun[1], asked["intervention_id"], "approve").status_code == 200
    ann.finished(begun[1])
    assert ann.delete(f"/v1/sessions/{begun[2]}").status_code == 204
    assert counts(behind, "open")["o"] == OPEN - 3
    again = ann.start(DELETION)
    assert counts(behind, "open")["o"] == OPEN - 2
    for session_id in (begun[3], begun[4], again):
        assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204
    assert counts(behind, "open")["o"] == 0


@pytest.mark.thorough
def test_of_twenty_starts_at_once_no_minute_has_one_too_many(admit: Admit, behind: Behind) -> None:
    """The minute may change between two of them."""
    bob = admit(tenant="minute")
    answers = start_at_once(bob, 20)
    begun = [one for one in answers if one.status_code == 202]
    assert MINUTE <= len(begun) <= 2 * MINUTE
    assert counts(behind, "minute")["n"] <= MINUTE
    for one in answers:
        if one.status_code != 202:
            refused(one, 429, "RATE_LIMITED")
            assert one.headers["ratelimit-policy"] == '"starts";q=9;w=60'
    listed = bob.items("/v1/sessions", limit=100)
    assert len(listed) == len(begun)


@pytest.mark.thorough
def test_two_functions_processes_share_one_rate_and_what_stops_things_is_not_refused(
    admit: Admit, deployed: Deployed
) -> None:
    """Two requests at once need two processes, and two functions are two anyway."""
    carol = admit(tenant="second")
    session_id = carol.start()
    with ThreadPoolExecutor(6) as pool:
        paths = ["/v1/sessions", "/v1/agents"] * 40
        answers = [*pool.map(lambda path: (path, carol.get(path)), paths)]
    told = {path for path, one in answers if one.status_code == 429}
    assert told == {"/v1/sessions", "/v1/agents"}
    let_in = [one for _, one in answers if one.status_code == 200]
    assert all("ratelimit-policy" in one.headers for one in let_in)
    late = next(one for _, one in answers if one.status_code == 429)
    refused(late, 429, "RATE_LIMITED")
    assert late.headers["ratelimit-policy"] == '"requests";q=20;w=10'
    assert 1 <= int(late.headers["retry-after"]) <= 10
    assert carol.post(f"/v1/sessions/{session_id}/cancel").status_code == 202

    waited: list[float] = []

    def pause(seconds: float) -> None:
        waited.append(seconds)
        time.sleep(seconds)

    client = compared(Client(Deployment(deployed.url, carol.token), pause=pause))
    for _ in range(30):
        client.get("/v1/sessions")
    client.close()
    assert waited, "the client waits as it is told, and goes on"
    assert max(waited) <= 10
