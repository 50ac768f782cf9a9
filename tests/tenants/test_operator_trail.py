"""What an operator does is in the audit trail before it begins and after it ended, by pseudonym (ADR 142)."""

from typing import Any

import pytest

from acta.engine.audit.record import AuditRecord, OperatorAction
from acta.engine.audit.trail import DynamoTrail, item_record
from acta.engine.errors import StoreUnavailable
from acta.infra.deployed.operator_trail import ENDS_HARM, OPERATOR, OperatorTrail
from acta.testing.clock import FakeClock
from tests.doubles.audit import MemoryTrail
from tests.stores.backends import Aws


class Desk:
    def __init__(self) -> None:
        self.kept = MemoryTrail()
        kept: Any = self.kept
        self.trail = OperatorTrail(
            kept, FakeClock(), lambda tenant, user: f"p_{tenant}_{user}", lambda: "arn"
        )

    def records(self, tenant: Any = "acme") -> list[AuditRecord]:
        return self.kept.records.get(tenant, [])


def test_work_is_recorded_before_it_begins_and_when_it_has_ended() -> None:
    desk = Desk()
    with desk.trail.recorded("tenant.backup", "acme", to="s3://x") as told:
        (begun,) = desk.records()
        told["sessions"] = "3"
    assert (begun.outcome, begun.who, begun.roles) == ("begun", "p_acme_arn", (OPERATOR,))
    ended = desk.records()[-1]
    assert (ended.outcome, dict(ended.details)) == ("done", {"to": "s3://x", "sessions": "3"})
    assert ended.audit_id == begun.audit_id


@pytest.mark.parametrize("stops", [ValueError("x"), KeyboardInterrupt()])
def test_work_that_fails_or_is_interrupted_says_so(stops: BaseException) -> None:
    desk = Desk()
    with pytest.raises(type(stops)), desk.trail.recorded("tenant.erase", "acme"):
        raise stops
    assert [each.outcome for each in desk.records()] == ["begun", "failed"]


def test_work_that_cannot_be_recorded_does_not_begin_and_work_that_was_done_stays_done() -> None:
    desk = Desk()
    desk.kept.away = [StoreUnavailable("x")]
    with pytest.raises(StoreUnavailable), desk.trail.recorded("tenant.erase", "acme"):
        raise AssertionError("it began")
    desk.kept.away = [None, StoreUnavailable("x")]
    with desk.trail.recorded("tenant.erase", "acme"):
        pass
    assert [each.outcome for each in desk.records()] == ["begun"]


@pytest.mark.parametrize("action", sorted(ENDS_HARM))
def test_what_ends_harm_is_done_although_it_cannot_be_recorded(action: OperatorAction) -> None:
    desk, done = Desk(), []
    desk.kept.away = [StoreUnavailable("x"), StoreUnavailable("x")]
    with desk.trail.recorded(action, "acme"):
        done.append(action)
    assert (done, desk.records()) == ([action], [])


def test_who_cannot_be_named_is_the_operator() -> None:
    kept: Any = MemoryTrail()
    trail = OperatorTrail(kept, FakeClock())
    with trail.recorded("tenant.backup", "acme", **trail.person("acme", "ann")):
        pass
    assert [(each.who, dict(each.details)) for each in kept.records["acme"]] == [(OPERATOR, {})] * 2


def test_work_on_the_whole_environment_is_no_tenant_s(aws: Aws) -> None:
    trail = OperatorTrail(DynamoTrail(aws.table, client=aws.dynamodb), FakeClock())
    with trail.recorded("deployment.quarantine"):
        pass
    of_deployment = [
        each for each in aws.dynamodb.scan(TableName=aws.table)["Items"] if each["pk"] == {"S": "D"}
    ]
    found = [item_record(each) for each in of_deployment if each["sk"]["S"].startswith("U#")]
    assert {each.outcome for each in found} == {"begun", "done"}
    assert {each.action for each in found} == {"deployment.quarantine"}
