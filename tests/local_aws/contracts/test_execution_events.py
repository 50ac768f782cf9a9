"""How an execution ends is told to the rules that ask for it.

Source: Step Functions developer guide, "Automating Step Functions event delivery with EventBridge"; EventBridge user
guide, "Creating Amazon EventBridge event patterns".
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from acta.local_aws.testing import Cloud, eventually, one_state
from tests.local_aws.contracts.test_table_streams import REPORTER
from tests.local_aws.sink import Sink

names = itertools.count(1)
PAUSE = one_state({"Type": "Wait", "Seconds": 600})


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as made:
        yield made


class Rule:
    """Reports how the executions of one machine end, where they did not succeed."""

    def __init__(self, cloud: Cloud, sink: Sink, machine: str) -> None:
        function = cloud.deploy(REPORTER, Environment={"Variables": {"REPORT_TO": sink.url("/report")}})
        arn = cloud.functions.get_function_configuration(FunctionName=function)["FunctionArn"]
        pattern = {
            "source": ["aws.states"],
            "detail-type": ["Step Functions Execution Status Change"],
            "detail": {"status": ["ABORTED", "FAILED", "TIMED_OUT"], "stateMachineArn": [machine]},
        }
        self.name = f"ended-{next(names)}"
        events = cloud.client("events")
        events.put_rule(Name=self.name, EventPattern=json.dumps(pattern))
        events.put_targets(Rule=self.name, Targets=[{"Id": "it", "Arn": arn}])
        self._sink = sink

    def events(self, count: int) -> list[Mapping[str, Any]]:
        eventually(lambda: True if len(self._sink.heard) >= count else None)
        return [heard.body for heard in self._sink.heard]


def stopped(cloud: Cloud, machine: str, name: str) -> None:
    execution = started(cloud, machine, name)
    cloud.states.stop_execution(executionArn=execution)


def started(cloud: Cloud, machine: str, name: str) -> str:
    answer = cloud.states.start_execution(stateMachineArn=machine, name=name, input='{"at": {"turn": 1}}')
    return str(answer["executionArn"])


def test_a_stopped_execution_is_told_with_its_name_and_input(cloud: Cloud, sink: Sink) -> None:
    machine = cloud.machine(PAUSE)
    rule = Rule(cloud, sink, machine)

    stopped(cloud, machine, "run-1")

    (event,) = rule.events(1)
    assert (event["source"], event["detail-type"]) == ("aws.states", "Step Functions Execution Status Change")
    detail = event["detail"]
    assert (detail["name"], detail["status"], detail["stateMachineArn"]) == ("run-1", "ABORTED", machine)
    assert json.loads(detail["input"]) == {"at": {"turn": 1}}
    assert detail["inputDetails"] == {"included": True}
    assert event["resources"] == [detail["executionArn"]]


FAILS = one_state({"Type": "Fail", "Error": "RunFailed"})
TIMES_OUT = one_state({"Type": "Wait", "Seconds": 600}, TimeoutSeconds=1)


@pytest.mark.parametrize(("definition", "status"), [(FAILS, "FAILED"), (TIMES_OUT, "TIMED_OUT")])
def test_an_execution_that_fails_or_runs_out_of_time_is_told(
    cloud: Cloud, sink: Sink, definition: Mapping[str, Any], status: str
) -> None:
    machine = cloud.machine(definition)
    rule = Rule(cloud, sink, machine)

    started(cloud, machine, "run-1")

    (event,) = rule.events(1)
    assert event["detail"]["status"] == status


def test_executions_that_succeed_and_those_of_other_machines_are_not_told(cloud: Cloud, sink: Sink) -> None:
    machine, other = cloud.machine(PAUSE), cloud.machine(PAUSE)
    succeeds = cloud.machine(one_state({"Type": "Succeed"}))
    rule = Rule(cloud, sink, machine)
    Rule(cloud, sink, succeeds)

    stopped(cloud, other, "run-1")
    cloud.finished(started(cloud, succeeds, "run-2"))
    stopped(cloud, machine, "run-3")

    assert [event["detail"]["name"] for event in rule.events(1)] == ["run-3"]


def test_a_rule_that_is_switched_off_is_not_told(cloud: Cloud, sink: Sink) -> None:
    machine = cloud.machine(PAUSE)
    rule = Rule(cloud, sink, machine)
    events = cloud.client("events")

    events.disable_rule(Name=rule.name)
    stopped(cloud, machine, "run-1")
    events.enable_rule(Name=rule.name)
    stopped(cloud, machine, "run-2")

    assert [event["detail"]["name"] for event in rule.events(1)] == ["run-2"]
