"""StartExecution is idempotent by name and input while the execution runs."""

from __future__ import annotations

import pytest

from acta.local_aws.testing import Cloud, one_state, refusal


def test_the_same_name_and_input_while_running_is_the_same_execution(cloud: Cloud) -> None:
    machine = cloud.machine(one_state({"Type": "Wait", "Seconds": 600}))
    request = {"stateMachineArn": machine, "name": "run-1", "input": '{"a": 1}'}
    first, second = cloud.states.start_execution(**request), cloud.states.start_execution(**request)
    assert (first["executionArn"], first["startDate"]) == (second["executionArn"], second["startDate"])
    other = {**request, "input": '{"a": 2}'}
    assert refusal(cloud.states.start_execution, **other) == "ExecutionAlreadyExists"
    cloud.states.stop_execution(executionArn=first["executionArn"])
    assert refusal(cloud.states.start_execution, **request) == "ExecutionAlreadyExists"


@pytest.mark.parametrize("name", ["with space", "a/b", "a:b", "x" * 81])
def test_a_name_aws_would_refuse_is_refused(cloud: Cloud, name: str) -> None:
    machine = cloud.machine(one_state({"Type": "Succeed"}))
    assert refusal(cloud.states.start_execution, stateMachineArn=machine, name=name) in (
        "InvalidName",
        "ValidationException",
    )


def test_input_that_is_no_json_is_refused(cloud: Cloud) -> None:
    machine = cloud.machine(one_state({"Type": "Succeed"}))
    assert (
        refusal(cloud.states.start_execution, stateMachineArn=machine, input="{") == "InvalidExecutionInput"
    )
