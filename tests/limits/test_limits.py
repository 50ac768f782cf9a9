"""What a caller whose tenant is at a limit is told, and what stays possible (ADR 65)."""

from typing import Any

import pytest

from acta.engine.errors import StoreUnavailable
from acta.engine.limits.tenant_limits import WINDOW
from acta.engine.sessions.poll import LOOK_SECONDS
from tests.api.gateway import Answer
from tests.api.session_functions import Functions, functions_of
from tests.doubles.audit import MemoryTrail, memory_audit
from tests.doubles.rate_leases import MemoryRateLeases
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel


def house_with(**limits: int) -> House:
    house = House(ScriptedModel([]), tenant_limits={"*": limits})
    house.clock.advance(1)
    return house


def start(functions: Functions, **sent: Any) -> Answer:
    return functions.start.request("POST", "/v1/sessions", json_body={"content": "Go"}, **sent)


def use_up(functions: Functions) -> Answer:
    """Lists sessions until it is refused; the refusal."""
    for _ in range(1_000):
        answer = functions.status.request("GET", "/v1/sessions")
        if answer.status != 200:
            return answer
    raise AssertionError("nothing was refused")


def test_a_request_too_many_is_told_what_was_used_up_and_when_to_come_again() -> None:
    functions = functions_of(house_with(requests_per_second=2))
    refused = use_up(functions)
    assert (refused.status, refused.error["code"]) == (429, "RATE_LIMITED")
    assert "Retry-After" in refused.error["message"]
    assert refused.headers["Retry-After"] == str(WINDOW - 1)
    assert refused.headers["RateLimit-Policy"] == '"requests";q=20;w=10'
    assert refused.headers["RateLimit"] == '"requests";r=0;t=9'
    assert refused.headers["X-Content-Type-Options"] == "nosniff"


def test_good_answers_and_mistakes_say_what_is_left() -> None:
    functions = functions_of(house_with(requests_per_second=2))
    good = functions.status.request("GET", "/v1/sessions")
    wrong = functions.status.request("GET", "/v1/sessions", query={"limit": "0"})
    assert (good.status, wrong.status) == (200, 400)
    assert good.headers["RateLimit"] == '"requests";r=19;t=9'
    assert wrong.headers["RateLimit"] == '"requests";r=18;t=9'


def test_without_limits_answers_say_nothing_of_any() -> None:
    answer = functions_of(House(ScriptedModel([]))).status.request("GET", "/v1/sessions")
    assert not [name for name in answer.headers if name.lower().startswith("ratelimit")]


def test_a_request_that_is_refused_for_its_rate_reads_nothing_and_leaves_no_record() -> None:
    house, audit = house_with(requests_per_second=1), memory_audit()
    functions = functions_of(house, audit=audit)
    for _ in range(WINDOW):
        assert start(functions).status == 202
    assert isinstance(audit.trail, MemoryTrail)
    records = len(audit.trail.records[TENANT])
    refused = start(functions)
    assert (refused.status, refused.error["code"]) == (429, "RATE_LIMITED")
    assert len(audit.trail.records[TENANT]) == records


def test_two_processes_share_one_rate() -> None:
    house, leases = house_with(requests_per_second=2), MemoryRateLeases()
    one, other = functions_of(house, leases=leases), functions_of(house, leases=leases)
    let_in = 0
    for _ in range(50):
        let_in += one.status.request("GET", "/v1/sessions").status == 200
        let_in += other.status.request("GET", "/v1/sessions").status == 200
    assert let_in == 20


def test_who_has_used_up_the_rate_can_still_stop_things_and_decide() -> None:
    house = house_with(requests_per_second=1)
    leases = MemoryRateLeases()
    functions = functions_of(house, leases=leases)
    ids = [start(functions).data["session_id"] for _ in range(3)]
    use_up(functions)
    act = functions.intervene.request
    assert act("POST", f"/v1/sessions/{ids[0]}/resume").status == 429
    assert act("POST", f"/v1/sessions/{ids[0]}/pause").status == 202
    (asked,) = house.head(ids[0]).interventions
    decided = act(
        "POST",
        f"/v1/sessions/{ids[0]}/interventions/{asked.intervention_id}/resolve",
        json_body={"option": "continue"},
    )
    assert decided.status == 200
    assert act("POST", f"/v1/sessions/{ids[1]}/cancel").status == 202
    assert act("DELETE", f"/v1/sessions/{ids[2]}").status == 204


def test_a_start_too_many_in_a_minute_is_told_so_and_the_next_leaves_no_record() -> None:
    house, audit = house_with(starts_per_minute=2), memory_audit()
    functions = functions_of(house, audit=audit)
    assert [start(functions).status for _ in range(2)] == [202, 202]
    refused = start(functions)
    assert (refused.status, refused.error["code"]) == (429, "RATE_LIMITED")
    assert refused.headers["Retry-After"] == "59"
    assert refused.headers["RateLimit-Policy"] == '"starts";q=2;w=60'
    assert refused.headers["RateLimit"] == '"starts";r=0;t=59'
    assert isinstance(audit.trail, MemoryTrail)
    records = audit.trail.records[TENANT]
    assert [(one.outcome, one.code) for one in records[-2:]] == [("begun", None), ("refused", "RATE_LIMITED")]
    told = len(records)
    assert start(functions).status == 429
    assert len(records) == told


def test_too_many_open_sessions_have_a_code_of_their_own_and_one_that_ends_makes_room() -> None:
    house = house_with(open_sessions=1)
    functions = functions_of(house)
    session = start(functions).data["session_id"]
    refused = start(functions)
    assert (refused.status, refused.error["code"]) == (429, "TOO_MANY_OPEN_SESSIONS")
    assert "cancel" in refused.error["message"]
    assert refused.headers["RateLimit"] == '"open-sessions";r=0;t=15'
    assert functions.intervene.request("POST", f"/v1/sessions/{session}/cancel").status == 202
    house.clock.advance(1)
    assert start(functions).status == 202


def test_a_start_that_is_sent_again_with_its_key_is_answered_though_the_limit_is_reached() -> None:
    functions = functions_of(house_with(starts_per_minute=1))
    key = {"Idempotency-Key": "k"}
    first = start(functions, headers=key)
    again = start(functions, headers=key)
    assert (first.status, again.status) == (202, 202)
    assert first.data == again.data


@pytest.mark.parametrize(
    ("limit", "code"), [("starts_per_minute", "RATE_LIMITED"), ("open_sessions", "TOO_MANY_OPEN_SESSIONS")]
)
def test_a_repeat_is_answered_by_a_worker_that_has_just_refused_another_start(limit: str, code: str) -> None:
    functions = functions_of(house_with(**{limit: 1}))
    key = {"Idempotency-Key": "k"}
    first = start(functions, headers=key)
    refused = start(functions, headers={"Idempotency-Key": "another"})
    assert (refused.status, refused.error["code"]) == (429, code)
    again = start(functions, headers=key)
    assert (again.status, again.data) == (202, first.data)
    assert start(functions).status == 429


def test_a_key_whose_request_was_refused_may_be_used_when_there_is_room() -> None:
    house = house_with(starts_per_minute=1)
    functions = functions_of(house)
    start(functions)
    assert start(functions, headers={"Idempotency-Key": "k"}).status == 429
    house.clock.advance(60)
    assert start(functions, headers={"Idempotency-Key": "k"}).status == 202


@pytest.mark.parametrize("path", ["", "/events"])
def test_a_poll_that_waits_takes_a_place_and_no_request(path: str) -> None:
    house, leases = house_with(requests_per_second=1, long_polls=3), MemoryRateLeases()
    functions = functions_of(house, leases=leases)
    session = start(functions).data["session_id"]
    cursor = str(house.poll(session).cursor)
    writes = leases.writes
    for _ in range(3):
        answer = functions.status.request(
            "GET",
            f"/v1/sessions/{session}{path}",
            query={"after": cursor, "wait": "5"} if not path else {"after": cursor},
        )
        assert answer.status == 200
    assert leases.writes <= writes + 2


def test_a_poll_that_finds_no_place_is_answered_at_once_and_told_to_come_later() -> None:
    house, leases = house_with(long_polls=1), MemoryRateLeases()
    functions = functions_of(house, leases=leases)
    session = start(functions).data["session_id"]
    cursor = str(house.poll(session).cursor)
    leases.hold(TENANT, int(house.clock.now().timestamp() // 60), 1, renews=False)
    before = house.clock.now()
    answer = functions.status.request("GET", f"/v1/sessions/{session}", query={"after": cursor, "wait": "20"})
    assert house.clock.now() == before
    assert answer.status == 200
    assert answer.data["poll_after_ms"] == 5_000
    assert answer.headers["Retry-After"] == "5"
    stream = functions.status.request("GET", f"/v1/sessions/{session}/events", query={"after": cursor})
    assert stream.status == 200
    assert b"retry: 5000" in stream.body


def test_a_short_poll_reads_once_and_writes_nothing_but_a_share_now_and_then() -> None:
    house, leases = house_with(requests_per_second=50), MemoryRateLeases()
    functions = functions_of(house, leases=leases)
    session = start(functions).data["session_id"]
    writes = leases.writes
    for _ in range(50):
        assert functions.status.request("GET", f"/v1/sessions/{session}").status == 200
        house.clock.advance(1)
    assert leases.writes - writes <= 50 / WINDOW + 3
    assert LOOK_SECONDS[0] > 0


def test_leases_that_are_away_refuse_nobody() -> None:
    house, leases = house_with(requests_per_second=1, long_polls=1), MemoryRateLeases()
    leases.failure = StoreUnavailable("update_item")
    functions = functions_of(house, leases=leases)
    assert [functions.status.request("GET", "/v1/sessions").status for _ in range(30)] == [200] * 30


def test_what_reaches_no_tenant_is_not_limited() -> None:
    functions = functions_of(house_with(requests_per_second=1))
    assert functions.status.request("GET", "/v1/nothing").status == 404
