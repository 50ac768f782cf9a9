"""Floods of events meet the tenant's limits on the deployed stack: they wait, or are refused and kept for a replay."""

import json
from collections.abc import Iterator

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.sessions.test_triggers import ASKS, ISSUE, deliver, events_of, outcome, trigger, with_secret
from tests.e2e.support.behind import Behind

ONE_AT_ONCE = "one-at-once"


@pytest.fixture(scope="module", autouse=True)
def limited(behind: Behind) -> Iterator[None]:
    """One tenant has one open session at most. What is tried again each minute is tried when a test says so."""
    limits = json.dumps({ONE_AT_ONCE: {"open_sessions": 1}})
    functions = ("start", "intervene", "step", "tool", "wake", "recover")
    with behind.unscheduled(), behind.configured(*functions, ACTA_TENANT_LIMITS=limits):
        yield


@pytest.mark.thorough
def test_a_flood_waits_for_the_tenants_limits_or_is_refused_and_replayed(
    admit: Admit, behind: Behind
) -> None:
    admin = with_secret(admit(tenant=ONE_AT_ONCE, role="admin"))
    waits, refuses = trigger(admin, "waits", **ASKS), trigger(admin, "refuses", on_limit="refuse")
    assert outcome(deliver(waits, ISSUE)) == "started"
    assert [outcome(deliver(waits, ISSUE, f"d-{number}")) for number in (2, 3)] == ["waiting", "waiting"]
    assert outcome(deliver(refuses, ISSUE)) == "refused"
    refused = events_of(admin, "refuses")[0]
    assert (refused["code"], refused["session_id"]) == ("TOO_MANY_OPEN_SESSIONS", None)
    assert behind.recover("events")["started"] == 0

    for left in (1, 0):
        (session,) = [
            one for one in admin.items("/v1/sessions") if one["state"] not in ("completed", "cancelled")
        ]
        admin.asked(session["session_id"])
        assert admin.post(f"/v1/sessions/{session['session_id']}/cancel").status_code == 202
        assert behind.recover("events")["started"] == 1
        assert len(events_of(admin, "waits", outcome="waiting")) == left

    (session,) = [
        one for one in admin.items("/v1/sessions") if one["state"] not in ("completed", "cancelled")
    ]
    admin.asked(session["session_id"])
    assert admin.post(f"/v1/sessions/{session['session_id']}/cancel").status_code == 202
    replay = f"/v1/triggers/refuses/events/{refused['event_id']}/replay"
    assert admin.post(replay).json()["data"]["outcome"] == "waiting"
    assert behind.recover("events")["started"] == 1
    admin.finished(events_of(admin, "refuses")[0]["session_id"])
    counts = admin.get("/v1/triggers/refuses").json()["data"]["events"]
    assert (counts["refused"], counts["started"]) == (1, 1)
