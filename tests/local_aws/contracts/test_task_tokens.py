"""`.waitForTaskToken`: a failing call fails at once, a token counts once and never late."""

from __future__ import annotations

from pathlib import Path

import pytest

from acta.local_aws.testing import Cloud, awaiting, eventually, one_state, refusal
from tests.local_aws.emulators import emulator_on

TOKEN = "{% $states.context.Task.Token %}"


def refused_everywhere(cloud: Cloud, token: str) -> set[str]:
    return {
        refusal(cloud.states.send_task_success, taskToken=token, output="{}"),
        refusal(cloud.states.send_task_failure, taskToken=token, error="E", cause="C"),
        refusal(cloud.states.send_task_heartbeat, taskToken=token),
    }


def test_a_token_that_comes_back_is_the_tasks_result(cloud: Cloud) -> None:
    execution = cloud.start(one_state(awaiting(cloud.probe)))
    token = cloud.submitted_token(execution)
    cloud.states.send_task_heartbeat(taskToken=token)
    cloud.states.send_task_success(taskToken=token, output='{"answer": 42}')
    assert cloud.finished(execution)["output"] == {"answer": 42}


def test_a_failure_that_comes_back_is_the_tasks_error(cloud: Cloud) -> None:
    caught = [{"ErrorEquals": ["Declined"], "Output": "{% $states.errorOutput %}", "Next": "End"}]
    definition = {
        "StartAt": "Ask",
        "States": {"Ask": awaiting(cloud.probe, Catch=caught, End=True), "End": {"Type": "Succeed"}},
    }
    execution = cloud.start(definition)
    cloud.states.send_task_failure(
        taskToken=cloud.submitted_token(execution), error="Declined", cause="too late"
    )
    assert cloud.finished(execution)["output"] == {"Error": "Declined", "Cause": "too late"}


def test_a_function_that_raises_fails_the_state_at_once_by_its_error_name(cloud: Cloud) -> None:
    found = cloud.run(one_state(awaiting(cloud.probe, {"do": "raise", "token": TOKEN})))
    assert (found["status"], found["error"]) == ("FAILED", "Refused")


def test_retry_gives_a_new_token_and_the_old_one_is_stale(cloud: Cloud) -> None:
    retry = [{"ErrorEquals": ["Again"], "IntervalSeconds": 1, "MaxAttempts": 1}]
    execution = cloud.start(one_state(awaiting(cloud.probe, Retry=retry)))
    first = cloud.submitted_token(execution)
    cloud.states.send_task_failure(taskToken=first, error="Again", cause="")
    second = cloud.submitted_token(execution, nth=2)
    assert first != second
    assert refused_everywhere(cloud, first) == {"TaskTimedOut"}
    cloud.states.send_task_success(taskToken=second, output='"done"')
    assert cloud.finished(execution)["output"] == "done"


def test_a_token_is_accepted_once(cloud: Cloud) -> None:
    execution = cloud.start(one_state(awaiting(cloud.probe)))
    token = cloud.submitted_token(execution)
    cloud.states.send_task_success(taskToken=token, output='"first"')
    assert refused_everywhere(cloud, token) == {"TaskTimedOut"}
    assert cloud.finished(execution)["output"] == "first"


def test_a_token_is_refused_after_stop(cloud: Cloud) -> None:
    execution = cloud.start(one_state(awaiting(cloud.probe)))
    token = cloud.submitted_token(execution)
    cloud.states.stop_execution(executionArn=execution)
    assert refused_everywhere(cloud, token) == {"TaskTimedOut"}
    assert cloud.finished(execution)["status"] == "ABORTED"


def test_a_token_is_refused_after_the_state_timed_out(cloud: Cloud) -> None:
    execution = cloud.start(one_state(awaiting(cloud.probe, TimeoutSeconds=1)))
    token = cloud.submitted_token(execution)
    assert cloud.finished(execution)["error"] == "States.Timeout"
    assert refused_everywhere(cloud, token) == {"TaskTimedOut"}


def test_a_token_of_an_earlier_emulator_is_refused_as_timed_out(cloud: Cloud, tmp_path: Path) -> None:
    with emulator_on(tmp_path) as process:
        earlier = Cloud.of(process)
        token = earlier.submitted_token(earlier.start(one_state(awaiting(earlier.probe))))
    assert refused_everywhere(cloud, token) == {"TaskTimedOut"}


@pytest.mark.parametrize("token", ["nonsense", "AQCEAAAAKgAAAAMAAAAA"])
def test_a_token_nobody_issued_is_invalid(cloud: Cloud, token: str) -> None:
    assert refused_everywhere(cloud, token) == {"InvalidToken"}


def test_output_that_is_no_json_is_refused_and_the_token_stays_good(cloud: Cloud) -> None:
    execution = cloud.start(one_state(awaiting(cloud.probe)))
    token = cloud.submitted_token(execution)
    assert refusal(cloud.states.send_task_success, taskToken=token, output="{") == "InvalidOutput"
    cloud.states.send_task_success(taskToken=token, output="1")
    assert cloud.finished(execution)["output"] == 1


def test_a_task_without_heartbeat_fails_and_one_with_heartbeats_goes_on(cloud: Cloud) -> None:
    silent = cloud.run(one_state(awaiting(cloud.probe, HeartbeatSeconds=1, TimeoutSeconds=60)))
    assert silent["error"] == "States.HeartbeatTimeout"

    execution = cloud.start(one_state(awaiting(cloud.probe, HeartbeatSeconds="{% 2 %}", TimeoutSeconds=3)))
    token = cloud.submitted_token(execution)

    def refused() -> bool | None:
        try:
            cloud.states.send_task_heartbeat(taskToken=token)
        except cloud.states.exceptions.TaskTimedOut:
            return True
        return None

    eventually(refused)
    assert cloud.finished(execution)["error"] == "States.Timeout"
