"""The Park state: what waits for long leaves its execution, and stays in it where it cannot (ADR 104)."""

import time

import pytest

from tests.state_machine.machine import DONE, Json, Machine, answers, raises

LONG = {"wait_seconds": 601, "then": "think"}
"""Of a wait: longer than the ten minutes after which a session is parked."""


def waits(seconds: int) -> Json:
    return answers("wait", wait_seconds=seconds, then="think")


def test_a_long_wait_for_the_world_is_parked_and_a_shorter_one_is_not(machine: Machine) -> None:
    parked = machine.run("wait", {"park": [DONE]}, **LONG)
    assert (parked.status, parked.states) == ("SUCCEEDED", ["Route", "Park", "Route", "Done"])
    assert set(parked.sent[0]) == {"op", "at", "attempt"}

    stays = machine.run("wait", {"think": [DONE]}, wait_seconds=600, then="think")
    assert stays.states == ["Route", "Wait", "Route", "Think", "Route", "Done"]


def test_a_long_wait_that_is_not_parked_is_waited_for_where_it_is(machine: Machine) -> None:
    """As while the version before is written: it is not asked again and again."""
    run = machine.run("wait", {"park": [waits(601)], "think": [DONE]}, **LONG)
    assert run.states == ["Route", "Park", "Route", "Wait", "Route", "Think", "Route", "Done"]


@pytest.mark.parametrize("error", ["Fenced", "Refused", "StoreUnavailable"])
def test_a_wait_that_cannot_be_parked_stays_in_its_execution(machine: Machine, error: str) -> None:
    run = machine.run("wait", {"park": [raises(error)], "think": [DONE]}, **LONG)
    assert run.states == ["Route", "Park", "Route", "Wait", "Route", "Think", "Route", "Done"]
    assert run.status == "SUCCEEDED"


def test_a_wait_for_people_that_is_over_with_nothing_due_is_parked(quick: Machine) -> None:
    execution = quick.start("ask", {"park": [DONE]}, wake_at=[int(time.time()) + 3_600])
    quick.tokens(execution, 1)
    run = quick.finished(execution)
    assert run.states == ["Route", "Ask", "Route", "Park", "Route", "Done"]


def test_a_wait_for_people_that_is_not_parked_is_entered_again(quick: Machine) -> None:
    execution = quick.start("ask", {"park": [answers("ask", {"park": [DONE]})]})
    first, second = quick.tokens(execution, 2)
    assert first != second
    run = quick.finished(execution)
    assert run.states == ["Route", "Ask", "Route", "Park"] * 2 + ["Route", "Done"]
