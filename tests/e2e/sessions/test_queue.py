"""The deployed functions keep to what a provider takes: sessions queue, tenants in turn, and all end (ADR 106)."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import OVER, Person, Seen
from tests.e2e.support.samples import GOAL

LIMITS = {"offline": {"requests_per_minute": 60}}
MANY = 5


@pytest.fixture(scope="module", autouse=True)
def limited(behind: Behind) -> Iterator[None]:
    with behind.configured("step", "recover", ACTA_PROVIDER_LIMITS=json.dumps(LIMITS)):
        yield


def goal(number: int) -> str:
    """With a file of its own: to replace another one's would ask a person."""
    return GOAL.replace("summary.md", f"summary-{number}.md")


def finished(who: tuple[Person, str]) -> Seen:
    person, session_id = who
    return person.finished(session_id)


def seen_queued(sessions: list[tuple[Person, str]]) -> dict[str, Any]:
    """By polling, the first that is found to be."""
    while True:
        shown = [person.snapshot(session_id) for person, session_id in sessions]
        for session in shown:
            if session["state_reason"] == "queued":
                return session
        assert any(session["state"] not in OVER for session in shown), "all have ended, and none has waited"


@pytest.mark.thorough
def test_one_tenants_flood_queues_and_does_not_starve_another_tenant(admit: Admit) -> None:
    whale, minnow = admit(), admit()
    many = [(whale, whale.start(goal(number))) for number in range(MANY)]
    waiting = seen_queued(many)
    few = minnow, minnow.start(GOAL)

    with ThreadPoolExecutor(MANY + 1) as pool:
        *of_many, of_few = pool.map(finished, [*many, few])

    assert {seen.session["state"] for seen in (*of_many, of_few)} == {"completed"}
    assert waiting["cause"]["code"] == "QUEUED"
    assert waiting["queue"]["position"] < MANY
    assert waiting["queue"]["since"] < waiting["retry_at"]
    queued = [event for seen in of_many for event in seen.of("state.changed") if event["data"].get("code")]
    assert {event["data"]["code"] for event in queued} == {"QUEUED"}
    ends = sorted(seen.events[-1]["at"] for seen in of_many)
    assert of_few.events[-1]["at"] < ends[-1]
