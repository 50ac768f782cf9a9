"""`TimeoutSeconds` of states and machines, as numbers and as JSONata; StopExecution."""

from __future__ import annotations

import pytest

from acta.local_aws.testing import Cloud, awaiting, eventually, invoking, one_state

SLEEP = {"do": "sleep", "seconds": 20}


@pytest.mark.parametrize("seconds", [1, "{% $states.input.limit %}"], ids=["number", "JSONata"])
def test_a_task_ends_at_its_timeout(cloud: Cloud, seconds: object) -> None:
    found = cloud.run(one_state(invoking(cloud.probe, SLEEP, TimeoutSeconds=seconds)), {"limit": 1})
    assert (found["status"], found["error"]) == ("FAILED", "States.Timeout")


def test_a_wait_for_a_token_ends_at_its_jsonata_timeout_and_is_caught(cloud: Cloud) -> None:
    caught = [{"ErrorEquals": ["States.Timeout"], "Output": "expired", "Next": "End"}]
    ask = awaiting(cloud.probe, TimeoutSeconds="{% 3 - 2 %}", Catch=caught, End=True)
    found = cloud.run({"StartAt": "Ask", "States": {"Ask": ask, "End": {"Type": "Succeed"}}})
    assert (found["status"], found["output"]) == ("SUCCEEDED", "expired")


def test_a_timeout_is_not_a_failed_task(cloud: Cloud) -> None:
    caught = [{"ErrorEquals": ["States.TaskFailed"], "Next": "Only"}]
    found = cloud.run(one_state(invoking(cloud.probe, SLEEP, TimeoutSeconds=1, Catch=caught)))
    assert found["error"] == "States.Timeout"


@pytest.mark.parametrize(
    "state",
    [{"Type": "Wait", "Seconds": 600}, awaiting("function")],
    ids=["in a Wait", "in a wait for a token"],
)
def test_a_machine_ends_at_its_own_timeout(cloud: Cloud, state: dict[str, object]) -> None:
    if state["Type"] == "Task":
        state = awaiting(cloud.probe)
    execution = cloud.start(one_state(state, TimeoutSeconds=1))
    found = cloud.finished(execution)
    assert found["status"] == "TIMED_OUT"
    assert "error" not in found
    assert cloud.events(execution)[-1]["type"] == "ExecutionTimedOut"


def test_stop_ends_a_wait_and_nothing_follows_it(cloud: Cloud) -> None:
    states = {"Pause": {"Type": "Wait", "Seconds": 600, "Next": "After"}, "After": {"Type": "Succeed"}}
    execution = cloud.start({"StartAt": "Pause", "States": states})
    eventually(lambda: len(cloud.events(execution)) > 1 or None)
    cloud.states.stop_execution(executionArn=execution, error="Cancelled", cause="asked")
    found = cloud.finished(execution)
    assert (found["status"], found["error"], found["cause"]) == ("ABORTED", "Cancelled", "asked")
    assert [event["type"] for event in cloud.events(execution)][-2:] == [
        "WaitStateEntered",
        "ExecutionAborted",
    ]


def test_a_functions_own_timeout_is_a_failed_task(cloud: Cloud) -> None:
    function = cloud.deploy("import time\ndef handler(event, context): time.sleep(20)", timeout=1)
    caught = [
        {"ErrorEquals": ["States.TaskFailed"], "Output": "{% $states.errorOutput.Error %}", "Next": "End"}
    ]
    work = invoking(function, {}, Catch=caught, End=True)
    found = cloud.run({"StartAt": "Work", "States": {"Work": work, "End": {"Type": "Succeed"}}})
    assert found["output"] == "Sandbox.Timedout"
