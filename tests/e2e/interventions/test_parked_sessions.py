"""Sessions that wait for a person stand still at no cost, however many, and each goes on once when it is decided.

`ACTA_TEST_PARKED` says how many; 40 unless it is set.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import pytest

from acta.local_aws.testing import eventually
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind, entered
from tests.e2e.support.person import Person

PARKED = int(os.environ.get("ACTA_TEST_PARKED", "40"))
PER_TENANT = 20
OTHERS = 5
AT_ONCE = 4

T = TypeVar("T")
R = TypeVar("R")


class Parked(NamedTuple):
    """A session that asks whether it may delete its file."""

    person: Person
    session_id: str
    file: str


def at_once(work: Callable[[T], R], things: Iterable[T]) -> list[R]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(work, things))


@pytest.fixture
def parked(admit: Admit, behind: Behind) -> list[Parked]:
    tenants = [admit() for _ in range(-(-PARKED // PER_TENANT))]

    def park(number: int) -> Parked:
        person, file = tenants[number // PER_TENANT], f"old-{number}.txt"
        person.put_file(file, "text")
        return Parked(person, person.start(f"Delete the file {file}"), file)

    sessions = at_once(park, range(PARKED))
    eventually(lambda: True if sum(map(open_questions, tenants)) == PARKED else None)
    for execution in executions(behind, sessions):
        until_its_task_waits(behind, execution["executionArn"])
    return sessions


def executions(behind: Behind, sessions: list[Parked]) -> list[dict[str, Any]]:
    """Of all of them, in no order."""
    ids = {one.session_id for one in sessions}
    return [each for each in behind.executions("") if any(each["name"].startswith(id) for id in ids)]


def until_its_task_waits(behind: Behind, arn: str) -> None:
    """The function that keeps the token has ended too."""
    eventually(lambda: True if behind.history(arn)[-1]["type"] == "TaskSubmitted" else None)


def open_questions(person: Person) -> int:
    return len(person.items("/v1/interventions", state="pending", limit=100))


class Traces(NamedTuple):
    """What sessions have cost so far: each execution's history, every line of a function at work on them, every item
    of theirs in the table.
    """

    histories: dict[str, int]
    lines: list[str]
    items: list[str]

    @classmethod
    def of(cls, behind: Behind, sessions: list[Parked]) -> "Traces":
        ids = [one.session_id for one in sessions]
        return cls(
            {
                each["executionArn"]: len(behind.history(each["executionArn"]))
                for each in executions(behind, sessions)
            },
            [line for line in behind.log_lines() if any(id in line for id in ids)],
            [text for text in map(str, behind.items_but_usage("")) if any(id in text for id in ids)],
        )


@pytest.mark.thorough
def test_parked_sessions_cost_nothing_hinder_nobody_and_each_goes_on_once(
    parked: list[Parked], ann: Person, behind: Behind
) -> None:
    for path in ("a.md", "b.md"):
        ann.put_file(path, "text")
    before = Traces.of(behind, parked)

    def work(number: int) -> str:
        return ann.start(f"List all files and write a summary to summary-{number}.md")

    others = [ann.finished(session_id) for session_id in at_once(work, range(OTHERS))]

    assert [seen.session["state"] for seen in others] == ["completed"] * OTHERS
    assert {f"summary-{number}.md" for number in range(OTHERS)} < ann.files()
    assert len(before.histories) == len(parked), "one execution each"
    assert Traces.of(behind, parked) == before, "a session that waits costs nothing"

    def approve(one: Parked) -> int:
        (asked,) = one.person.snapshot(one.session_id)["interventions"]
        return one.person.resolve(one.session_id, asked["intervention_id"], "approve").status_code

    assert set(at_once(approve, parked)) == {200}

    for one in parked:
        seen = one.person.finished(one.session_id)
        assert (seen.session["state"], seen.session["result"]["goal_met"]) == ("completed", True)
        for type in ("intervention.opened", "intervention.resolved", "run.started", "run.finished"):
            assert len(seen.of(type)) == 1, f"{type} once"
        deletions = [event for event in seen.of("tool.started") if event["data"]["name"] == "delete_file"]
        assert len(deletions) == 1
        assert seen.session["interventions"] == []
    assert sorted(run["status"] for run in executions(behind, parked)) == ["SUCCEEDED"] * len(parked)
    for person in {one.person.tenant: one.person for one in parked}.values():
        assert open_questions(person) == 0
        assert person.files() == set()


def of_status(behind: Behind, session_id: str, status: str) -> list[dict[str, Any]]:
    return [each for each in behind.executions(session_id) if each["status"] == status]


@pytest.fixture
def impatient(behind: Behind) -> Iterator[None]:
    """The engine holds an execution for a second, not for ten minutes."""
    with behind.parking_after(1):
        yield


@pytest.mark.parametrize("option", ["approve", "cancel the run"])
def test_what_waits_for_long_has_no_execution_until_somebody_decides(
    ann: Person, behind: Behind, impatient: None, option: str
) -> None:
    ann.put_file("old.txt", "text")
    session_id = ann.start("Delete the file old.txt")
    (first,) = eventually(lambda: of_status(behind, session_id, "SUCCEEDED") or None)
    waiting = ann.snapshot(session_id)
    assert (waiting["state"], waiting["state_reason"]) == ("waiting_for_user", "approval_required")
    assert entered(behind.history(first["executionArn"]))[-4:] == ["Route", "Park", "Route", "Done"]

    if option == "approve":
        (asked,) = waiting["interventions"]
        assert ann.resolve(session_id, asked["intervention_id"], "approve").status_code == 200
        assert ann.finished(session_id).session["state"] == "completed"
        assert ann.files() == set()
        assert [each["status"] for each in behind.ended(session_id)] == ["SUCCEEDED"] * 2
    else:
        assert ann.post(f"/v1/sessions/{session_id}/cancel").status_code == 202
        assert ann.snapshot(session_id)["state"] == "cancelled"
        assert behind.executions(session_id) == [first]
        assert ann.files() == {"old.txt"}
