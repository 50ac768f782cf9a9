"""What the engine does with a function's error: by the name of its class, and by nothing else."""

from typing import Any

import pytest

from shared.domain import errors
from tests.integration.state_machine.machine import DONE, Json, Machine, answers, raises

STORE = ["StoreThrottled", "StoreUnavailable", "CommitContention", "SchemaUnknown"]
TRANSIENT = [each.__name__ for each in errors.TransientError.__subclasses__()]
FINAL = [each.__name__ for each in errors.FinalError.__subclasses__()]


def test_a_decision_leads_to_its_state_and_the_answer_to_the_next(machine: Machine) -> None:
    think = [answers("wait", {"plan": [DONE]}, wait_seconds=1, then="plan")]
    run = machine.run(script={"think": think})
    assert run.status == "SUCCEEDED"
    assert run.states == ["Route", "Think", "Route", "Wait", "Route", "Plan", "Route", "Done"]
    assert [each["at"]["turn"] for each in run.sent] == [1, 2]


@pytest.mark.parametrize("op", ["plan", "think"])
def test_every_transient_class_is_retried_and_the_function_gets_the_number_of_the_attempt(
    machine: Machine, op: str
) -> None:
    run = machine.run(op, {op: [*map(raises, TRANSIENT), DONE]})
    assert run.status == "SUCCEEDED"
    assert [each["attempt"] for each in run.sent] == list(range(len(TRANSIENT) + 1))
    assert run.states == ["Route", op.capitalize(), "Route", "Done"]


@pytest.mark.parametrize("op", ["tool", "lost_tool", "roll_over", "give_up"])
def test_a_busy_or_absent_store_is_retried_more_often_than_an_unnamed_error(
    machine: Machine, op: str
) -> None:
    """Four failures of one class, where an error that no retrier names is given up after three."""
    first = {"tool": "act", "lost_tool": "act", "roll_over": "roll_over", "give_up": "dance"}[op]

    def begun(error: str) -> str:
        turns: Any = [*[raises(error)] * 4, {"answer": {}}]
        script: Json = {"tool": {"call": [raises("Fenced")]}, "think": [DONE]}
        script[op] = {"call": turns} if op in ("tool", "lost_tool") else turns
        return machine.start(first, script, calls=["call"])

    for execution in [begun(error) for error in STORE]:
        run = machine.finished(execution)
        assert [each["attempt"] for each in run.to(op)] == [0, 1, 2, 3, 4]
        assert run.states[-1] == ("Failed" if op == "give_up" else "Done")


@pytest.mark.parametrize("error", FINAL)
def test_a_class_that_no_retry_can_help_goes_to_give_up_at_once(machine: Machine, error: str) -> None:
    run = machine.run(script={"think": [raises(error)]})
    assert run.status == "FAILED"
    assert run.states == ["Route", "Think", "GiveUp", "Failed"]
    assert [(each["op"], each["attempt"]) for each in run.sent] == [("think", 0), ("give_up", 0)]
    assert run.sent[-1]["error"] == error


def test_a_class_that_does_not_pass_goes_to_give_up_after_its_retries(machine: Machine) -> None:
    run = machine.run(script={"think": [raises("StoreThrottled")]})
    assert run.states == ["Route", "Think", "GiveUp", "Failed"]
    assert [each["attempt"] for each in run.to("think")] == list(range(9))
    assert [each["error"] for each in run.to("give_up")] == ["StoreThrottled"]


def test_a_class_that_no_retrier_names_is_retried_twice_and_given_up(machine: Machine) -> None:
    run = machine.run(script={"think": [raises("KeyError")]})
    assert len(run.to("think")) == 3
    assert [each["error"] for each in run.to("give_up")] == ["KeyError"]


def test_a_worker_that_dies_is_replaced_and_a_session_that_kills_every_worker_is_given_up(
    machine: Machine,
) -> None:
    once = machine.start(script={"think": [{"exit": 1}, DONE]})
    always = machine.start(script={"think": [{"exit": 1}]})
    assert machine.finished(once).states == ["Route", "Think", "Route", "Done"]
    run = machine.finished(always)
    assert run.states == ["Route", "Think", "GiveUp", "Failed"]
    assert len(run.to("think")) == 4
    assert [each["error"] for each in run.to("give_up")] == ["Runtime.ExitError"]


def test_a_decision_that_is_not_drawn_is_a_fault_like_any_other(machine: Machine) -> None:
    run = machine.run("dance")
    assert run.states == ["Route", "GiveUp", "Failed"]
    assert run.sent[0]["error"] == "DecisionUnknown"


def test_giving_up_is_tried_again_and_the_execution_fails_in_any_case(machine: Machine) -> None:
    run = machine.run("dance", {"give_up": [raises("StoreUnavailable"), {"answer": {}}]})
    assert (run.status, run.states) == ("FAILED", ["Route", "GiveUp", "Failed"])
    assert len(run.to("give_up")) == 2
    hopeless = machine.run("dance", {"give_up": [raises("Refused")]})
    assert (hopeless.status, hopeless.states) == ("FAILED", ["Route", "GiveUp", "Failed"])


def test_a_roll_over_ends_the_execution_well_and_a_failed_one_gives_up(machine: Machine) -> None:
    assert machine.run("roll_over").states == ["Route", "RollOver", "Done"]
    run = machine.run("roll_over", {"roll_over": [raises("StoreThrottled"), raises("Fenced")]})
    assert run.states == ["Route", "RollOver", "GiveUp", "Failed"]
    assert run.sent[-1]["error"] == "Fenced"


def test_what_an_error_said_is_in_no_state_s_input_or_output(machine: Machine) -> None:
    run = machine.run(script={"think": [raises("Fenced")]})
    assert all("secret" not in str(each) for each in run.sent)
