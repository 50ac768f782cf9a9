"""The deployed functions keep to what a provider takes: sessions queue, tenants in turn, and all end (ADR 106)."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person, Seen
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


def test_one_tenants_flood_queues_and_does_not_starve_another_tenant(admit: Admit) -> None:
    whale, minnow = admit(), admit()
    many = [(whale, whale.start(goal(number))) for number in range(MANY)]
    whale.watch(many[-1][1], until=lambda session: session["state_reason"] == "queued")
    waiting = whale.snapshot(many[-1][1])
    few = minnow, minnow.start(GOAL)

    with ThreadPoolExecutor(MANY + 1) as pool:
        *of_many, of_few = pool.map(finished, [*many, few])

    assert {seen.session["state"] for seen in (*of_many, of_few)} == {"completed"}
    assert waiting["cause"]["code"] == "QUEUED" or waiting["queue"] is None  # it may have gone on since
    queued = [event for seen in of_many for event in seen.of("state.changed") if event["data"].get("code")]
    assert {event["data"]["code"] for event in queued} == {"QUEUED"}
    ends = sorted(seen.events[-1]["at"] for seen in of_many)
    assert of_few.events[-1]["at"] < ends[-1]
