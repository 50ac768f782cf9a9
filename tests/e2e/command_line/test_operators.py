"""What operators do to a deployment with their own credentials, from a command line."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from acta.engine.audit.trail import item_record
from acta.infra.deployed.quarantine import SINCE
from tests.conftest import Deployed
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.command import acta
from tests.e2e.support.person import Person
from tests.e2e.support.samples import DELETION, GOAL, OLD, give_files


@pytest.mark.thorough
def test_a_tenant_is_backed_up_and_restored_into_another(
    deployed: Deployed, admit: Admit, ann: Person, behind: Behind, tmp_path: Path
) -> None:
    give_files(ann)
    ann.put_file("می\u200cخ/100% ❤\ufe0f%3F.md", "x")
    session = ann.finished(ann.start(GOAL)).session["session_id"]
    state, place = ("--state", str(deployed.state)), str(tmp_path / "backup")
    other = admit(tenant=f"{ann.tenant}-again")

    taken = acta("backup", *state, "--tenant", ann.tenant, "--to", place)
    assert taken.code == 0, taken.err
    assert "backed up 1 session, " in taken.out
    untouched = acta("restore", *state, "--tenant", ann.tenant, "--from", place)
    assert (untouched.code, "sessions: 1 there already" in untouched.out) == (0, True), untouched
    nobody = acta("backup", *state, "--tenant", f"{ann.tenant}x", "--to", f"{place}x")
    assert (nobody.code, len(nobody.err.splitlines())) == (2, 1)
    again = acta("backup", *state, "--tenant", ann.tenant, "--to", place)
    assert (again.code, len(again.err.splitlines())) == (2, 1)
    restored = acta("restore", *state, "--tenant", other.tenant, "--from", place, "--json")
    assert restored.code == 0, restored.err

    told = json.loads(restored.out)
    assert told["sessions"] == {"restored": 1}
    assert other.snapshot(session)["state"] == "completed"
    assert other.items(f"/v1/sessions/{session}/messages") == ann.items(f"/v1/sessions/{session}/messages")
    assert other.files() == ann.files()
    assert [one["session_id"] for one in other.items("/v1/sessions")] == [session]
    repeated = acta("restore", *state, "--tenant", other.tenant, "--from", place)
    assert "1 there already" in repeated.out

    unsaid = acta("erase", *state, "--tenant", other.tenant)
    assert (unsaid.code, len(unsaid.err.splitlines())) == (2, 1)
    erased = acta("erase", *state, "--tenant", other.tenant, "--confirm", other.tenant, "--json")
    assert erased.code == 5, erased.err
    assert json.loads(erased.out)["removed"]["sessions"] == 1
    assert (other.items("/v1/sessions"), other.files()) == ([], set())
    assert ann.files(), "another tenant has lost its files"
    kept = [(each["a"]["S"], item_record(each).outcome) for each in behind.audited(other.tenant)]
    for action in ("tenant.restore", "tenant.erase"):
        assert {outcome for name, outcome in kept if name == action} == {"begun", "done"}, (
            "no erasure erases its record"
        )


@pytest.mark.thorough
def test_a_restored_table_is_taken_into_use(
    deployed: Deployed, admit: Admit, ann: Person, behind: Behind
) -> None:
    """As the runbook says: stop, restore, park, go on."""
    give_files(ann)
    ann.put_file(OLD, "old")
    waiting = ann.asked(ann.start(DELETION)).session["session_id"]
    dynamodb, table = behind.client("dynamodb"), behind.settings["ACTA_TABLE"]
    restored = f"restored-{ann.tenant}"
    copy_of(dynamodb, table, restored)
    at = datetime.now(UTC).isoformat()
    ann.finished(ann.start(GOAL))
    state, said = ("--state", str(deployed.state)), ("--confirm", "local")

    at_work = acta("restored", *state, "--from", restored, "--at", at, *said)
    assert (at_work.code, len(at_work.err.splitlines())) == (2, 1)
    try:
        stopped = acta("quarantine", *state, *said)
        assert stopped.code == 0, stopped.err
        too_early = acta("restored", *state, "--from", restored, "--at", at, *said)
        assert (too_early.code, len(too_early.err.splitlines())) == (2, 1)
        since = {"S": (datetime.now(UTC) - timedelta(minutes=16)).isoformat()}
        dynamodb.put_item(TableName=table, Item={**SINCE, "at": since})  # a quarter of an hour goes by
        taken = acta("restored", *state, "--from", restored, "--at", at, *said, "--json")
        assert taken.code == 0, taken.err
    finally:
        assert acta("quarantine", *state, "--lift").code == 0

    assert json.loads(taken.out)["parked"] >= 1
    assert [one["session_id"] for one in ann.items("/v1/sessions")] == [waiting]
    (question,) = ann.snapshot(waiting)["interventions"]
    assert question["type"] == "error_recovery"
    ann.resolve(waiting, question["intervention_id"], "cancel")
    assert ann.snapshot(waiting)["state"] == "cancelled"
    assert ann.file(OLD) == "old"


def copy_of(dynamodb: Any, table: str, name: str) -> None:
    """What point-in-time recovery makes, without its index."""
    keys = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    types = [{"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk")]
    dynamodb.create_table(
        TableName=name, KeySchema=keys, AttributeDefinitions=types, BillingMode="PAY_PER_REQUEST"
    )
    more: dict[str, Any] = {}
    while True:
        answer = dynamodb.scan(TableName=table, **more)
        for item in answer["Items"]:
            dynamodb.put_item(TableName=name, Item=item)
        if "LastEvaluatedKey" not in answer:
            return
        more = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
