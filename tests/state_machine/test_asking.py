"""The Ask state: one token for each wait, a new one for the next wait, and no other token is accepted."""

import math
import time

from acta.engine.turn.engine import engine_event
from tests.state_machine.machine import Json, Machine, answers, raises

POSITION: Json = {
    "tenant": "acme",
    "session_id": "ses_1",
    "run_id": "run_1",
    "generation": 1,
    "turn": 1,
    "first": 1,
}
AT: Json = {"session_id": "ses_1", "run_id": "run_1", "generation": 1, "turn": 1, "script": {}}
DONE = {"next": "done", "at": AT}


def test_a_wait_ends_with_the_decision_that_comes_with_its_token(machine: Machine) -> None:
    execution = machine.start("ask")
    (token,) = machine.tokens(execution, 1)
    machine.wake(token, DONE)
    run = machine.finished(execution)
    assert (run.status, run.states) == ("SUCCEEDED", ["Route", "Ask", "Route", "Done"])
    assert set(run.sent[0]) == {"op", "at", "task_token", "entered", "attempt"}


def test_a_wait_that_is_over_is_entered_again_with_a_new_token_at_each_time_it_was_to_wake(
    machine: Machine,
) -> None:
    now = math.ceil(time.time())
    # Four seconds apart: a time that has passed when a slow machine enters the state again is not waited for.
    execution = machine.start("ask", wake_at=[now - 60, now + 2, now + 6])
    first, second, third = machine.tokens(execution, 3)
    assert len({first, second, third}) == 3
    for old in (first, second):
        assert machine.is_gone(old)
    machine.wake(third, DONE)
    run = machine.finished(execution)
    assert run.states == ["Route", "Ask"] * 3 + ["Route", "Done"]
    assert run.status == "SUCCEEDED"
    times = [engine_event({**each, "at": POSITION}).entered for each in run.sent]
    assert None not in times
    assert times == sorted(set(times), key=str)


def test_a_time_that_is_just_past_is_looked_at_again_because_the_function_s_clock_may_be_behind(
    machine: Machine,
) -> None:
    """The function may have found nothing due yet, and nothing else would wake the wait."""
    execution = machine.start("ask", wake_at=[math.floor(time.time()) - 5])
    first, second = machine.tokens(execution, 2)
    assert first != second
    machine.stop(execution)


def test_a_wait_with_nothing_to_wake_for_waits_for_people(machine: Machine) -> None:
    """All its times are past and have been attended to: it must not spin."""
    execution = machine.start("ask", wake_at=[1, 2])
    (token,) = machine.tokens(execution, 1)
    machine.wake(token, DONE)
    assert machine.finished(execution).states.count("Ask") == 1


def test_an_error_while_asking_is_retried_with_a_new_token_or_handled(machine: Machine) -> None:
    script = {"ask": [raises("StoreThrottled"), {"answer": {}}]}
    execution = machine.start("ask", script)
    first, second = machine.tokens(execution, 2)
    assert first != second
    machine.wake(second, DONE)
    asked = machine.finished(execution)
    assert asked.states == ["Route", "Ask", "Route", "Done"]
    assert [each["attempt"] for each in asked.sent] == [0, 1]
    assert len({each["entered"] for each in asked.sent}) == 1
    run = machine.run("ask", {"ask": [raises("Fenced")], "handle_error": [answers("done")]})
    assert run.states == ["Route", "Ask", "HandleError", "Route", "Done"]
    assert run.sent[-1]["error"] == "Fenced"
