"""JSONata in every place the agent loop uses it."""

from __future__ import annotations

from acta.local_aws.testing import Cloud, invoking, one_state


def test_succeed_applies_its_output(cloud: Cloud) -> None:
    found = cloud.run(
        one_state({"Type": "Succeed", "Output": {"sum": "{% $states.input.a + 1 %}"}}), {"a": 2}
    )
    assert found["output"] == {"sum": 3}


def test_fail_evaluates_error_and_cause(cloud: Cloud) -> None:
    state = {"Type": "Fail", "Error": "{% 'E' & $states.input.n %}", "Cause": "{% $states.input.why %}"}
    found = cloud.run(one_state(state), {"n": "1", "why": "because"})
    assert (found["status"], found["error"], found["cause"]) == ("FAILED", "E1", "because")


def test_parallel_applies_output_and_assign_and_keeps_branch_variables_inside(cloud: Cloud) -> None:
    def branch(value: int) -> dict[str, object]:
        return {
            "StartAt": "B",
            "States": {"B": {"Type": "Pass", "Assign": {"v": value}, "Output": value, "End": True}},
        }

    both = {
        "Type": "Parallel",
        "Branches": [branch(1), branch(2)],
        "Output": {"total": "{% $sum($states.result) %}"},
        "Assign": {"seen": "{% $count($states.result) %}"},
        "Next": "End",
    }
    states = {
        "Start": {"Type": "Pass", "Assign": {"v": 0}, "Next": "Both"},
        "Both": both,
        "End": {
            "Type": "Succeed",
            "Output": {"in": "{% $states.input %}", "seen": "{% $seen %}", "v": "{% $v %}"},
        },
    }
    assert cloud.run({"StartAt": "Start", "States": states})["output"] == {
        "in": {"total": 3},
        "seen": 2,
        "v": 0,
    }


def test_assign_sees_the_variables_from_before(cloud: Cloud) -> None:
    states = {
        "A": {"Type": "Pass", "Assign": {"x": 1, "y": 2}, "Next": "B"},
        "B": {
            "Type": "Pass",
            "Assign": {"x": "{% $y %}", "y": "{% $x %}"},
            "Output": "{% [$x, $y] %}",
            "Next": "C",
        },
        "C": {"Type": "Succeed", "Output": {"before": "{% $states.input %}", "after": "{% [$x, $y] %}"}},
    }
    assert cloud.run({"StartAt": "A", "States": states})["output"] == {"before": [1, 2], "after": [2, 1]}


def test_choice_takes_the_first_rule_that_holds_with_its_own_output_and_assign(cloud: Cloud) -> None:
    rules = [
        {"Condition": "{% $states.input.n > 10 %}", "Next": "Low"},
        {"Condition": "{% $states.input.n > 5 %}", "Next": "End", "Assign": {"by": "rule"}, "Output": "high"},
    ]
    choose = {
        "Type": "Choice",
        "Choices": rules,
        "Default": "Low",
        "Assign": {"by": "default"},
        "Output": "low",
    }
    end = {"Type": "Succeed", "Output": "{% [$by, $states.input] %}"}
    definition = {
        "StartAt": "Choose",
        "States": {"Choose": choose, "Low": {"Type": "Pass", "Next": "End"}, "End": end},
    }
    assert cloud.run(definition, {"n": 7})["output"] == ["rule", "high"]
    assert cloud.run(definition, {"n": 1})["output"] == ["default", "low"]


def test_map_runs_its_items_with_a_selector_and_a_concurrency_limit(cloud: Cloud) -> None:
    body = invoking(
        cloud.probe,
        {"name": "{% $states.input.name %}", "place": "{% $states.input.place %}"},
        Output="{% $states.result.Payload.event %}",
        End=True,
    )
    fan = {
        "Type": "Map",
        "Items": "{% $states.input.calls %}",
        "ItemSelector": {
            "name": "{% $states.context.Map.Item.Value.name %}",
            "place": "{% $states.context.Map.Item.Index %}",
        },
        "MaxConcurrency": "{% 2 %}",
        "ItemProcessor": {"StartAt": "Call", "States": {"Call": body}},
        "Output": "{% $states.result.(name & place) %}",
    }
    calls = [{"name": name} for name in "abc"]
    assert cloud.run(one_state(fan), {"calls": calls})["output"] == ["a0", "b1", "c2"]
    assert cloud.run(one_state({**fan, "Output": "{% $states.result %}"}), {"calls": []})["output"] == []


def test_a_wait_takes_its_seconds_from_an_expression(cloud: Cloud) -> None:
    wait = {"Type": "Wait", "Seconds": "{% $states.input.pause %}", "Output": "rested"}
    assert cloud.run(one_state(wait), {"pause": 1})["output"] == "rested"


def test_the_retry_count_reaches_the_function_and_backoff_is_bounded(cloud: Cloud) -> None:
    retry = {
        "ErrorEquals": ["Refused"],
        "IntervalSeconds": 1,
        "BackoffRate": 1000,
        "MaxDelaySeconds": 2,
        "MaxAttempts": 2,
        "JitterStrategy": "FULL",
    }
    event = {"do": "fail_until", "attempts": 2, "retry_count": "{% $states.context.State.RetryCount %}"}
    found = cloud.run(one_state(invoking(cloud.probe, event, Retry=[retry])))
    assert found["output"]["event"]["retry_count"] == 2


def test_the_first_matching_retrier_decides_even_with_no_attempts(cloud: Cloud) -> None:
    retry = [
        {"ErrorEquals": ["Refused"], "MaxAttempts": 0},
        {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 600},
    ]
    assert cloud.run(one_state(invoking(cloud.probe, {"do": "raise"}, Retry=retry)))["error"] == "Refused"


def test_catch_applies_its_output_and_assign(cloud: Cloud) -> None:
    caught = {
        "ErrorEquals": ["States.TaskFailed"],
        "Output": {"was": "{% $states.input.goal %}", "error": "{% $states.errorOutput.Error %}"},
        "Assign": {"why": "{% $parse($states.errorOutput.Cause).errorMessage %}"},
        "Next": "End",
    }
    work = invoking(cloud.probe, {"do": "raise", "text": "no luck"}, Catch=[caught], End=True)
    end = {"Type": "Succeed", "Output": "{% $merge([$states.input, {'why': $why}]) %}"}
    found = cloud.run({"StartAt": "Work", "States": {"Work": work, "End": end}}, {"goal": "g"})
    assert found["output"] == {"was": "g", "error": "Refused", "why": "no luck"}


def test_a_crashed_function_is_a_failed_task(cloud: Cloud) -> None:
    caught = [
        {"ErrorEquals": ["States.TaskFailed"], "Output": "{% $states.errorOutput.Error %}", "Next": "End"}
    ]
    work = invoking(cloud.probe, {"do": "kill"}, Catch=caught, End=True)
    found = cloud.run({"StartAt": "Work", "States": {"Work": work, "End": {"Type": "Succeed"}}})
    assert found["output"] == "Runtime.ExitError"


def test_the_context_names_the_execution_and_the_state(cloud: Cloud) -> None:
    output = (
        "{% [$states.context.Execution.Name, $states.context.State.Name, $states.context.Execution.Input] %}"
    )
    machine = cloud.machine(one_state({"Type": "Pass", "Output": output}))
    started = cloud.states.start_execution(stateMachineArn=machine, name="mine", input='{"x": 1}')
    assert cloud.finished(started["executionArn"])["output"] == ["mine", "Only", {"x": 1}]
