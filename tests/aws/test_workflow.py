"""The engine's port: starting twice is harmless, a token is good once, stopping what is not there is fine."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from acta.engine.aws.clients import make_client
from acta.engine.aws.step_functions import StepFunctionsWorkflow
from acta.engine.errors import StoreThrottled
from acta.engine.log.commit import Decision
from acta.engine.turn.engine import TokenGone, Workflow
from acta.testing.workflow import MemoryWorkflow
from tests.stores.documents import ID, decision_at

pytestmark = pytest.mark.contract

SESSION, RUN = f"ses_{ID}", f"run_{ID}"
MACHINE = {"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}}
ROLE = "arn:aws:iam::123456789012:role/engine"


class Engine:
    """A Step Functions client written by hand: only what moto does not do, tokens."""

    def __init__(self) -> None:
        self.waiting: dict[str, str] = {"open": ""}
        self.refusals = {"late": "TaskTimedOut", "unknown": "TaskDoesNotExist", "bad": "InvalidToken"}

    def send_task_success(self, taskToken: str, output: str) -> None:  # noqa: N803 - AWS's names
        code = self.refusals.get(taskToken) or ("TaskTimedOut" if self.waiting.get(taskToken) else None)
        if code is not None:
            raise ClientError({"Error": {"Code": code, "Message": ""}}, "SendTaskSuccess")
        self.waiting[taskToken] = output

    def start_execution(self, **_: Any) -> None:
        raise ClientError({"Error": {"Code": "ExecutionLimitExceeded", "Message": ""}}, "StartExecution")


@pytest.fixture(scope="module")
def machine() -> Iterator[tuple[Any, str]]:
    with mock_aws():
        client = make_client(
            "stepfunctions", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        made = client.create_state_machine(name="loop", definition=json.dumps(MACHINE), roleArn=ROLE)
        yield client, made["stateMachineArn"]


@pytest.fixture(params=["memory", "moto"])
def workflow(request: pytest.FixtureRequest) -> Workflow:
    if request.param == "memory":
        return MemoryWorkflow()
    client, arn = request.getfixturevalue("machine")
    return StepFunctionsWorkflow(arn, client)


def decision(request: pytest.FixtureRequest, generation: int = 1) -> Decision:
    """Of a run of its own for each test: executions stay."""
    run_id = f"run_{hashlib.sha256(request.node.name.encode()).hexdigest()[:26]}"
    return decision_at("acme", SESSION, run_id, generation)


def test_an_execution_is_started_once_however_often_it_is_asked_for(
    workflow: Workflow, request: pytest.FixtureRequest
) -> None:
    first = decision(request)
    assert workflow.start(first) is True
    assert workflow.start(first) is True
    assert workflow.start(first.model_copy(update={"next": "think"})) is True
    assert workflow.start(decision(request, generation=2)) is True


def test_a_closed_execution_is_not_started_again(workflow: Workflow, request: pytest.FixtureRequest) -> None:
    first = decision(request)
    workflow.start(first)
    workflow.stop(first.at.session_id, first.at.run_id, first.at.generation)
    assert workflow.start(first.model_copy(update={"next": "think"})) is False


def test_an_execution_is_absent_until_it_starts_and_closed_for_good_when_it_has_ended(
    workflow: Workflow, request: pytest.FixtureRequest
) -> None:
    at = decision(request).at
    where = (at.session_id, at.run_id, at.generation)
    assert workflow.status(*where) == "absent"
    workflow.start(decision(request))
    assert workflow.status(*where) == "running"
    workflow.stop(*where)
    assert workflow.status(*where) == "closed"
    workflow.start(decision(request))
    assert workflow.status(*where) == "closed"
    assert workflow.status(at.session_id, at.run_id, at.generation + 1) == "absent"


def test_the_running_sessions_are_those_with_an_execution_that_has_not_ended(workflow: Workflow) -> None:
    run_id = f"run_{9:026d}"
    running, ended, over = (f"ses_{n:026d}" for n in range(3))
    for session_id, generation in ((running, 1), (running, 2), (ended, 1), (ended, 2), (over, 1)):
        workflow.start(decision_at("acme", session_id, run_id, generation))
    for session_id, generation in ((running, 1), (ended, 1), (ended, 2), (over, 1)):
        workflow.stop(session_id, run_id, generation)
    workflow.start(decision_at("acme", over, f"run_{8:026d}"))

    assert {running, ended, over} & set(workflow.running()) == {running, over}


def test_running_sessions_are_read_page_after_page() -> None:
    names = [f"ses_{n:026d}-{RUN}-1" for n in range(5)]
    listing = Listing(names)

    assert list(StepFunctionsWorkflow("arn", listing).running()) == [name.split("-")[0] for name in names]
    assert listing.asked == [None, "2", "4"]


class Listing:
    """A Step Functions client whose pages are short."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self.asked: list[str | None] = []

    def list_executions(self, **request: Any) -> dict[str, Any]:
        assert (request["stateMachineArn"], request["statusFilter"]) == ("arn", "RUNNING")
        self.asked.append(request.get("nextToken"))
        start = int(request.get("nextToken", "0"))
        page = {"executions": [{"name": name} for name in self._names[start : start + 2]]}
        return page | ({"nextToken": str(start + 2)} if start + 2 < len(self._names) else {})


def test_stopping_what_is_not_there_is_fine(workflow: Workflow) -> None:
    workflow.stop(SESSION, "run_none", 7)


def test_stopping_what_has_closed_is_fine(workflow: Workflow) -> None:
    workflow.start(decision_at("acme", SESSION, "run_closed", generation=8))
    for _ in range(2):
        workflow.stop(SESSION, "run_closed", 8)
    assert workflow.status(SESSION, "run_closed", 8) == "closed"


def test_step_functions_gets_the_decision_as_input_under_a_legal_name(machine: tuple[Any, str]) -> None:
    client, arn = machine
    wanted = decision_at("acme", SESSION, RUN, generation=10**18 - 1)

    StepFunctionsWorkflow(arn, client).start(wanted)

    (execution,) = [
        each for each in client.list_executions(stateMachineArn=arn)["executions"] if RUN in each["name"]
    ]
    assert execution["name"] == f"{SESSION}-{RUN}-{10**18 - 1}"
    assert len(execution["name"]) <= 80
    given = client.describe_execution(executionArn=execution["executionArn"])["input"]
    assert Decision.model_validate_json(given) == wanted


def test_a_token_wakes_once_and_is_gone_then() -> None:
    engine, go_on = Engine(), decision_at("acme", SESSION)
    workflow = StepFunctionsWorkflow("arn", engine)

    workflow.wake("open", go_on)

    assert Decision.model_validate_json(engine.waiting["open"]) == go_on
    for token in ("open", "late", "unknown", "bad"):
        with pytest.raises(TokenGone):
            workflow.wake(token, go_on)


def test_in_memory_too_a_token_wakes_once_and_is_gone_then() -> None:
    workflow, go_on = MemoryWorkflow(), decision_at("acme", SESSION)
    workflow.start(go_on)
    token, late = workflow.wait(go_on), workflow.wait(go_on)
    workflow.expire(late)

    workflow.wake(token, go_on.model_copy(update={"next": "think"}))

    taken = (workflow.take(), workflow.take(), workflow.take())
    assert [each.next if each else None for each in taken] == ["act", "think", None]
    for used in (token, late, "unknown"):
        with pytest.raises(TokenGone):
            workflow.wake(used, go_on)


def test_in_memory_a_token_of_a_stopped_execution_is_gone() -> None:
    workflow, go_on = MemoryWorkflow(), decision_at("acme", SESSION)
    workflow.start(go_on)
    token = workflow.wait(go_on)
    workflow.stop(go_on.at.session_id, go_on.at.run_id, go_on.at.generation)
    with pytest.raises(TokenGone):
        workflow.wake(token, go_on)


def test_a_busy_engine_is_a_reason_to_try_again() -> None:
    with pytest.raises(StoreThrottled):
        StepFunctionsWorkflow("arn", Engine()).start(decision_at("acme", SESSION))
