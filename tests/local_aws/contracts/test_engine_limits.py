"""Limits of the real engine that a local run must hit too: payloads, events, fail-fast, definitions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acta.local_aws.testing import ROLE, Cloud, invoking, one_state, refusal

LIMIT = 262_144


def test_a_result_over_the_payload_limit_fails_and_states_all_does_not_catch_it(cloud: Cloud) -> None:
    caught = [{"ErrorEquals": ["States.ALL"], "Next": "Only"}]
    found = cloud.run(
        one_state(invoking(cloud.probe, {"do": "large", "bytes": LIMIT}, Output=1, Catch=caught))
    )
    assert (found["status"], found["error"]) == ("FAILED", "States.DataLimitExceeded")


def test_an_output_over_the_payload_limit_fails_and_one_below_passes(cloud: Cloud) -> None:
    grow = {
        "Type": "Pass",
        "Output": "{% $join([1..$states.input.times].($string($states.context.Execution.Input.x))) %}",
    }
    assert cloud.run(one_state(grow), {"x": "y" * 1_000, "times": 262})["status"] == "SUCCEEDED"
    assert cloud.run(one_state(grow), {"x": "y" * 1_000, "times": 263})["error"] == "States.DataLimitExceeded"


def test_an_input_over_the_payload_limit_is_refused_at_the_start(cloud: Cloud) -> None:
    machine = cloud.machine(one_state({"Type": "Succeed"}))
    text = json.dumps("x" * LIMIT)
    assert refusal(cloud.states.start_execution, stateMachineArn=machine, input=text) == "ValidationException"


def test_an_execution_fails_at_25_000_events(cloud: Cloud) -> None:
    spin = {"Type": "Pass", "QueryLanguage": "JSONPath", "Next": "Spin"}
    execution = cloud.start({"StartAt": "Spin", "States": {"Spin": spin}})
    found = cloud.finished(execution)
    assert (found["status"], found["error"]) == ("FAILED", "States.Runtime")
    last = cloud.states.get_execution_history(executionArn=execution, reverseOrder=True, maxResults=1)[
        "events"
    ][0]
    assert (last["id"], last["type"]) == (25_000, "ExecutionFailed")


def test_a_map_fails_with_its_first_failed_iteration(cloud: Cloud) -> None:
    long_or_raise = {
        "StartAt": "Which",
        "States": {
            "Which": {
                "Type": "Choice",
                "Choices": [{"Condition": "{% $states.input = 0 %}", "Next": "Raise"}],
                "Default": "Long",
            },
            "Raise": invoking(cloud.probe, {"do": "raise"}, End=True),
            "Long": {"Type": "Wait", "Seconds": 600, "End": True},
        },
    }
    fan = {"Type": "Map", "Items": "{% [1, 0, 2] %}", "ItemProcessor": long_or_raise}
    found = cloud.run(one_state(fan))
    assert (found["status"], found["error"]) == ("FAILED", "Refused")


def test_an_error_caught_inside_an_iteration_leaves_its_siblings_alone(cloud: Cloud) -> None:
    caught = [{"ErrorEquals": ["Refused"], "Output": "caught", "Next": "Done"}]
    event = "{% $states.input = 1 ? {'do': 'raise'} : {} %}"
    body = {
        "Call": invoking(cloud.probe, event, Output="ok", Catch=caught, Next="Done"),
        "Done": {"Type": "Succeed"},
    }
    fan = {"Type": "Map", "Items": "{% [0, 1, 2] %}", "ItemProcessor": {"StartAt": "Call", "States": body}}
    assert cloud.run(one_state(fan))["output"] == ["ok", "caught", "ok"]


BAD_TARGETS: dict[str, dict[str, Any]] = {
    "StartAt": {"StartAt": "Nowhere", "States": {"A": {"Type": "Succeed"}}},
    "Next": {"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "Nowhere"}}},
    "Default": {
        "StartAt": "A",
        "States": {
            "A": {
                "Type": "Choice",
                "Choices": [{"Condition": "{% true %}", "Next": "B"}],
                "Default": "Nowhere",
            },
            "B": {"Type": "Succeed"},
        },
    },
    "Choices": one_state({"Type": "Choice", "Choices": [{"Condition": "{% true %}", "Next": "Nowhere"}]}),
    "Catch": one_state(invoking("f", {}, Catch=[{"ErrorEquals": ["States.ALL"], "Next": "Nowhere"}])),
    "inside a Map": one_state(
        {"Type": "Map", "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Pass", "Next": "Only"}}}}
    ),
}


@pytest.mark.parametrize("definition", BAD_TARGETS.values(), ids=BAD_TARGETS.keys())
def test_a_transition_to_nowhere_is_refused_at_creation_and_update(
    cloud: Cloud, definition: dict[str, Any]
) -> None:
    text = json.dumps({"QueryLanguage": "JSONata", **definition})
    assert (
        refusal(cloud.states.create_state_machine, name="bad", definition=text, roleArn=ROLE)
        == "InvalidDefinition"
    )
    machine = cloud.machine(one_state({"Type": "Succeed"}))
    assert (
        refusal(cloud.states.update_state_machine, stateMachineArn=machine, definition=text)
        == "InvalidDefinition"
    )


def test_a_bad_machine_fails_its_cloudformation_stack(cloud: Cloud) -> None:
    text = json.dumps(BAD_TARGETS["Next"])
    properties = {"DefinitionString": text, "RoleArn": ROLE, "StateMachineName": "bad-in-a-stack"}
    template = {"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}}}
    formation = cloud.client("cloudformation")
    formation.create_stack(StackName="bad-machine", TemplateBody=json.dumps(template), OnFailure="DO_NOTHING")
    with pytest.raises(Exception, match="terminal failure"):
        formation.get_waiter("stack_create_complete").wait(
            StackName="bad-machine", WaiterConfig={"Delay": 1, "MaxAttempts": 30}
        )
