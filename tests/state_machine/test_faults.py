"""What the engine does with a function's error: by the name of its class, and by nothing else."""

from typing import Any

import pytest

from acta.engine import errors
from acta.engine.recovery.outage import WORKER_LOST
from tests.state_machine.machine import DONE, Json, Machine, answers, raises

STORE = ["StoreThrottled", "StoreUnavailable", "AwsDenied", "CommitContention", "SchemaUnknown"]
TRANSIENT = [each.__name__ for each in errors.TransientError.__subclasses__()]
HANDLED: Json = {"handle_error": [DONE]}
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
    """In two executions: all classes share eight attempts."""
    halves = TRANSIENT[::2], TRANSIENT[1::2]
    begun = [machine.start(op, {op: [*map(raises, half), DONE]}) for half in halves]
    for execution, half in zip(begun, halves, strict=True):
        run = machine.finished(execution)
        assert run.status == "SUCCEEDED"
        assert [each["attempt"] for each in run.sent] == list(range(len(half) + 1))
        assert run.states == ["Route", op.capitalize(), "Route", "Done"]


@pytest.mark.parametrize("op", ["tool", "lost_tool", "roll_over", "handle_error"])
def test_a_busy_or_absent_store_is_retried_more_often_than_an_unnamed_error(
    machine: Machine, op: str
) -> None:
    """Four failures of one class, where an error that no retrier names is left after three."""
    first = {"tool": "act", "lost_tool": "act", "roll_over": "roll_over", "handle_error": "dance"}[op]

    def begun(error: str) -> str:
        last = DONE if op == "handle_error" else {"answer": {}}
        turns: Any = [*[raises(error)] * 4, last]
        script: Json = {"tool": {"call": [raises("Fenced")]}, "think": [DONE]}
        script[op] = {"call": turns} if op in ("tool", "lost_tool") else turns
        return machine.start(first, script, calls=["call"])

    for execution in [begun(error) for error in STORE]:
        run = machine.finished(execution)
        assert [each["attempt"] for each in run.to(op)] == [0, 1, 2, 3, 4]
        assert run.states[-1] == "Done"


@pytest.mark.parametrize("error", FINAL)
def test_a_class_that_no_retry_can_help_is_handled_at_once(machine: Machine, error: str) -> None:
    run = machine.run(script={"think": [raises(error)], **HANDLED})
    assert run.status == "SUCCEEDED"
    assert run.states == ["Route", "Think", "HandleError", "Route", "Done"]
    assert [(each["op"], each["attempt"]) for each in run.sent] == [("think", 0), ("handle_error", 0)]
    assert run.sent[-1]["error"] == error


def test_what_handles_an_error_decides_where_the_run_goes_on(machine: Machine) -> None:
    waits = answers("wait", {"plan": [DONE]}, wait_seconds=1, then="plan")
    run = machine.run(script={"think": [raises("Fenced")], "handle_error": [waits]})
    assert run.states == ["Route", "Think", "HandleError", "Route", "Wait", "Route", "Plan", "Route", "Done"]
    failed = machine.run(script={"think": [raises("PoisonedSession")], "handle_error": [answers("failed")]})
    assert (failed.status, failed.states[-3:]) == ("FAILED", ["HandleError", "Route", "Failed"])


def test_a_class_that_does_not_pass_is_handled_after_its_retries(machine: Machine) -> None:
    run = machine.run(script={"think": [raises("StoreThrottled")], **HANDLED})
    assert run.states == ["Route", "Think", "HandleError", "Route", "Done"]
    assert [each["attempt"] for each in run.to("think")] == list(range(9))
    assert [each["error"] for each in run.to("handle_error")] == ["StoreThrottled"]


def test_a_class_that_no_retrier_names_is_retried_twice_and_handled(machine: Machine) -> None:
    run = machine.run(script={"think": [raises("KeyError")], **HANDLED})
    assert len(run.to("think")) == 3
    assert [each["error"] for each in run.to("handle_error")] == ["KeyError"]


def test_a_worker_that_dies_is_replaced_and_a_session_that_kills_every_worker_is_handled(
    machine: Machine,
) -> None:
    once = machine.start(script={"think": [{"exit": 1}, DONE]})
    always = machine.start(script={"think": [{"exit": 1}], **HANDLED})
    assert machine.finished(once).states == ["Route", "Think", "Route", "Done"]
    run = machine.finished(always)
    assert run.states == ["Route", "Think", "HandleError", "Route", "Done"]
    assert len(run.to("think")) == 4
    assert [each["error"] for each in run.to("handle_error")] == ["Runtime.ExitError"]


@pytest.mark.parametrize("error", WORKER_LOST)
def test_a_worker_that_is_lost_is_replaced_three_times_whatever_the_engine_calls_it(
    machine: Machine, error: str
) -> None:
    run = machine.run(script={"think": [raises(error)], **HANDLED})
    assert len(run.to("think")) == 4
    assert [each["error"] for each in run.to("handle_error")] == [error]


def test_a_decision_that_is_not_drawn_is_an_error_like_any_other(machine: Machine) -> None:
    run = machine.run("dance", HANDLED)
    assert run.states == ["Route", "HandleError", "Route", "Done"]
    assert run.sent[0]["error"] == "DecisionUnknown"


@pytest.mark.parametrize("error", ["Refused", "SchemaUnknown", "KeyError"])
def test_where_nothing_can_be_committed_it_is_tried_again_after_a_pause_without_end(
    machine: Machine, error: str
) -> None:
    script = {
        "think": [raises("ProviderUnavailable")] * 8 + [raises("Fenced")],
        "handle_error": [raises(error)],
    }
    execution = machine.start(script=script)
    states = machine.once_entered(execution, "Pause", 3)
    assert states[:8] == ["Route", "Think", *["HandleError", "Pause"] * 3]
    assert machine.status(execution) == "RUNNING"
    machine.stop(execution)
    told = {(each["error"], each["at"]["turn"]) for each in machine.finished(execution).to("handle_error")}
    assert told == {("Fenced", 1)}, "the first error is what is told, each time"


def test_only_a_session_whose_data_is_damaged_ends_its_execution(machine: Machine) -> None:
    run = machine.run("dance", {"handle_error": [raises("PoisonedSession")]})
    assert (run.status, run.states) == ("FAILED", ["Route", "HandleError", "Failed"])


def test_a_roll_over_ends_the_execution_well_and_a_failed_one_is_handled(machine: Machine) -> None:
    assert machine.run("roll_over").states == ["Route", "RollOver", "Done"]
    script = {"roll_over": [raises("StoreThrottled"), raises("Fenced")], **HANDLED}
    run = machine.run("roll_over", script)
    assert run.states == ["Route", "RollOver", "HandleError", "Route", "Done"]
    assert run.sent[-1]["error"] == "Fenced"


def test_what_an_error_said_is_in_no_state_s_input_or_output(machine: Machine) -> None:
    run = machine.run(script={"think": [raises("Fenced")], **HANDLED})
    assert all("secret" not in str(each) for each in run.sent)
