"""Sessions that start at times, on the deployed stack (docs/design/schedules.md)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.e2e.support.behind import Behind
from tests.e2e.support.command import acta
from tests.e2e.support.gate import Gate
from tests.e2e.support.person import Json, Person
from tests.e2e.support.thinking import calls, end, plan

NIGHTLY = {
    "schedule_id": "nightly",
    "agent_id": "default",
    "goal": "Report of {{date}}, since {{last}}.",
    "every": "1 day",
    "metadata": {"team": "ops"},
}


MOST_ROUNDS = 200


@pytest.fixture(scope="module")
def gated(behind: Behind, llmock_server: Any) -> Iterator[Gate]:
    """The round is made when a test asks for it, and at no other time."""
    with Gate(llmock_server.port) as gate:
        base_url = gate.url + llmock_server.base_url("anthropic").removeprefix(llmock_server.url)
        key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": base_url}
        with behind.unscheduled(), behind.configured("step", **key):
            yield gate


def comes_soon(ann: Person, **changed: Any) -> None:
    """Changes the schedule so that its next time is a second or more away, however long a request takes here."""
    for seconds in (1, 2, 4, 8, 16):
        start = datetime.now(UTC) + timedelta(seconds=seconds)
        answer = ann.patch("/v1/schedules/nightly", {**changed, "start": start.isoformat()})
        assert answer.status_code == 200, answer.text
        if datetime.fromisoformat(answer.json()["data"]["next_at"]) < start + timedelta(seconds=1):
            return
    raise AssertionError("every request takes longer than the time that it asks for")


def create(ann: Person) -> None:
    created = ann.post("/v1/schedules", NIGHTLY)
    assert created.status_code == 201, created.text
    comes_soon(ann)


def runs(ann: Person) -> list[Json]:
    """What became of the schedule's times, oldest first."""
    return list(reversed(ann.items("/v1/schedules/nightly/runs")))


def until(ann: Person, behind: Behind, count: int) -> list[Json]:
    """Makes rounds until so many times are settled."""
    for _ in range(MOST_ROUNDS):
        behind.recover("timed")
        if len(found := runs(ann)) >= count:
            return found
    raise AssertionError(f"no time came: {ann.data('/v1/schedules/nightly')['next_at']}")


def test_one_time_starts_one_session_though_the_round_is_made_again_and_twice_at_once(
    ann: Person, model: Any, behind: Behind
) -> None:
    model.add(plan(), end("It rained."))
    create(ann)
    with ThreadPoolExecutor(2) as rounds:
        for _ in range(MOST_ROUNDS):
            list(rounds.map(behind.recover, ("timed", "timed")))
            if runs(ann):
                break
    behind.recover("timed")

    (run,) = runs(ann)
    (only,) = ann.items("/v1/sessions")
    seen = ann.finished(run["session_id"])
    assert (run["outcome"], run["session_id"], run["reason"]) == ("started", only["session_id"], None)
    assert seen.session["state"] == "completed"
    assert seen.session["goal"] == f"Report of {run['tick'][:10]}, since never."
    assert seen.session["metadata"] == {"team": "ops"}
    assert seen.session["origin"] == {"kind": "schedule", "id": "nightly", "at": run["tick"], "event": ""}
    read = ann.data("/v1/schedules/nightly")
    assert (len(read["next"]), read["counts"]["started"], read["next_at"]) == (5, 1, read["next"][0])


def test_a_time_is_skipped_while_the_session_before_is_open_and_cancels_it_where_it_shall(
    ann: Person, model: Any, behind: Behind
) -> None:
    model.add(
        plan(),
        calls(("update_plan", {"action": "wait_for_user", "reason": "Which one?"})),
        plan(),
        end("Done."),
    )
    create(ann)
    (first,) = until(ann, behind, 1)
    ann.asked(first["session_id"])
    comes_soon(ann)
    assert until(ann, behind, 2)[1]["outcome"] == "skipped"
    comes_soon(ann, overlap="cancel")
    third = until(ann, behind, 3)[2]
    assert third["outcome"] == "started"
    assert ann.finished(third["session_id"]).session["state"] == "completed"
    assert ann.snapshot(first["session_id"])["state"] == "cancelled"


def test_a_paused_schedule_starts_nothing_by_itself_and_one_session_when_somebody_asks(
    ann: Person, model: Any, behind: Behind
) -> None:
    model.add(plan(), end("Now."))
    create(ann)
    assert ann.post("/v1/schedules/nightly/pause").json()["data"]["paused"] is True
    for _ in range(3):
        behind.recover("timed")
    assert ann.items("/v1/sessions") == []
    started = ann.post("/v1/schedules/nightly/run", Idempotency_Key="now")
    again = ann.post("/v1/schedules/nightly/run", Idempotency_Key="now")
    assert (started.status_code, again.json()["data"]["session_id"]) == (
        202,
        started.json()["data"]["session_id"],
    )
    assert ann.finished(started.json()["data"]["session_id"]).session["state"] == "completed"
    assert [(run["outcome"], run["asked"]) for run in runs(ann)] == [("started", True)]
    resumed = ann.post("/v1/schedules/nightly/resume").json()["data"]
    assert resumed["next_at"] > started.json()["data"]["created_at"]
    assert ann.delete("/v1/schedules/nightly").status_code == 204
    assert ann.get("/v1/schedules/nightly").status_code == 404


def test_a_schedule_is_written_run_and_looked_at_at_the_command_line(
    ann: Person, model: Any, tmp_path: Any
) -> None:
    model.add(plan(), end("Now."))
    file = tmp_path / "nightly.json"
    file.write_text(
        '{"schedule_id": "nightly", "agent_id": "default", "goal": "Report of {{date}}", "cron": "30 2 * * *", '
        '"timezone": "Europe/Berlin"}'
    )
    where = ("--api-url", str(ann.http.base_url), "--token", ann.token)
    assert "nightly  version 1" in acta("schedules", "put", str(file), *where).out
    assert "Europe/Berlin" in acta("schedules", "ls", *where).out
    session_id = acta("schedules", "run", "nightly", *where).out.strip()
    ann.finished(session_id)
    assert session_id in acta("schedules", "runs", "nightly", *where).out
    acta("schedules", "pause", "nightly", *where)
    assert "paused" in acta("schedules", "ls", *where).out
    assert "next 20" in acta("schedules", "resume", "nightly", *where).out
