"""What AWS tells of an execution that has ended names the session, whoever started the execution
(docs/design/recovery.md 16)."""

import json
from typing import Any

import pytest

from acta.engine.aws.step_functions import StepFunctionsWorkflow
from acta.engine.errors import Refused
from acta.engine.recovery.aws import StatusChanges
from acta.engine.turn.engine import EndedExecution
from tests.stores.documents import decision_at

DECISION = decision_at("acme", "ses_1")
AT = DECISION.at
NAME = f"ses_1-{AT.run_id}-{AT.generation}"
OURS = EndedExecution("ses_1", "acme", AT.run_id, AT.generation)


def event(status: str = "ABORTED", **detail: Any) -> dict[str, Any]:
    """As EventBridge sends it; of the example in the developer guide of Step Functions."""
    return {
        "version": "0",
        "id": "315c1398-40ff-a850-213b-158f73e60175",
        "detail-type": "Step Functions Execution Status Change",
        "source": "aws.states",
        "account": "123456789012",
        "time": "2026-02-26T19:42:21Z",
        "region": "us-east-1",
        "resources": [f"arn:aws:states:us-east-1:123456789012:execution:acta-prod:{NAME}"],
        "detail": {
            "executionArn": f"arn:aws:states:us-east-1:123456789012:execution:acta-prod:{NAME}",
            "stateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:acta-prod",
            "name": NAME,
            "status": status,
            "startDate": 1551225146847,
            "stopDate": 1551225151881,
            "input": json.dumps(DECISION.to_engine()),
            "inputDetails": {"included": True},
            "output": None,
            "outputDetails": None,
            "error": None,
            "cause": None,
            **detail,
        },
    }


@pytest.mark.parametrize("status", ["ABORTED", "FAILED", "TIMED_OUT"])
def test_the_input_says_whose_execution_has_ended(status: str) -> None:
    assert StatusChanges().is_one(event(status))
    assert StatusChanges().ended(event(status)) == OURS


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", "{}", '{"at": {"tenant": ""}}', '{"at": 3}', "[" * 100_000]
)
def test_without_an_input_that_can_be_read_the_name_says_it(text: str | None) -> None:
    assert StatusChanges().ended(event(input=text)) == OURS._replace(tenant=None)


def test_an_execution_that_a_person_has_started_is_that_of_its_input() -> None:
    by_hand = StatusChanges().ended(event(name="0b2c9f6e-6ee1-4b0e-9f2a-2f6bd6c1c1d7"))
    assert by_hand == EndedExecution("ses_1", "acme")
    copied = StatusChanges().ended(event(name=f"ses_2-{AT.run_id}-1"))
    assert copied == EndedExecution("ses_1", "acme")


def test_an_execution_that_names_no_session_is_nobody_s() -> None:
    for name in ("try-this", "a-b-c", "a--1", "", "x"):
        assert StatusChanges().ended(event(name=name, input="{}")) is None


@pytest.mark.parametrize(
    "wrong",
    [
        event("SUCCEEDED"),
        event("RUNNING"),
        event(name=None),
        event(input={"at": 1}),
        {**event(), "source": "acme.states"},
        {**event(), "detail": None},
    ],
)
def test_an_event_of_another_form_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        StatusChanges().ended(wrong)


def test_other_events_are_not_about_executions() -> None:
    assert not StatusChanges().is_one({"detail-type": "Scheduled Event", "source": "aws.events"})
    assert not StatusChanges().is_one({"repair": True})


def test_the_name_is_the_one_that_an_execution_is_started_with() -> None:
    started: list[str] = []

    class Client:
        def start_execution(self, *, name: str, **_: Any) -> None:
            started.append(name)

    StepFunctionsWorkflow("arn", Client()).start(DECISION)
    assert started == [NAME]
