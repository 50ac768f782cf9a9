"""A restored table does nothing of its own, and has nothing that was erased since (ADR 86)."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from acta.engine.audit.record import AuditRecord
from acta.engine.audit.trail import DynamoTrail
from acta.engine.aws.clients import Service
from acta.engine.log.conversation import ToolEntry
from acta.engine.log.head import FRESH_GENERATIONS, Head
from acta.engine.people.effects import RESTORED
from acta.engine.recovery.recover import recover
from acta.engine.sessions.control import UNKNOWN
from acta.infra.deployed.tenants.erase import Eraser, erase_tenant
from acta.infra.deployed.tenants.restored_table import (
    RestoreProgress,
    _erased_since,
    later_sessions,
    use_restored,
)
from acta.infra.deployed.tenants.stores import TenantStores
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, completes, plans, says, step
from tests.stores.backends import Aws, create
from tests.tenants.stored_house import AUDIT, StoredHouse
from tests.tenants.test_backup import LONG, TURNS, ended, schedule

DELETING = (plans("delete"), says("", call("delete_file", path="a.txt")))
AFTER = (says("", step(1, "completed", "looked")), completes("Done."))
RESTORED_TABLE = "restored"


class Deployment:
    def __init__(self, aws: Aws, *turns: Any) -> None:
        self.aws = aws
        for name in (AUDIT, RESTORED_TABLE):
            create(aws._replace(table=name), bucket=False)
        self.house = StoredHouse(aws, turns)
        self.time = self.house.clock.now()

    def remember(self) -> None:
        """What point-in-time recovery makes of now."""
        for item in self.aws.dynamodb.scan(TableName=self.aws.table)["Items"]:
            self.aws.dynamodb.put_item(TableName=RESTORED_TABLE, Item=item)
        self.time = self.house.clock.now()
        self.house.clock.advance(600)

    def go_back(self) -> RestoreProgress:
        # no AWS service is asked for secrets or users here
        eraser = Eraser(self.house.stores, self.house.workflow, Service("secretsmanager", object()))
        return use_restored(eraser, RESTORED_TABLE, self.time)

    def erased(self, tenant: str, stores: TenantStores | None = None) -> None:
        class NoSecrets:
            def list_secrets(self, **_: Any) -> Any:
                return {"SecretList": []}

        secrets = Service("secretsmanager", NoSecrets())
        erase_tenant(Eraser(stores or self.house.stores, self.house.workflow, secrets), tenant)

    def delete(self, session: str) -> None:
        """As over the API, whose dispatch records it."""
        now = self.house.clock.now()
        record = AuditRecord(
            audit_id=self.house.clock.new_id("aud"),
            at=now,
            ended_at=now,
            who="p_1",
            action="session.delete",
            details={"session_id": session},
            outcome="done",
        )
        DynamoTrail(AUDIT, client=self.aws.dynamodb).put(TENANT, record)
        self.house.delete(session)

    def head(self, session: str) -> Head:
        return self.house.head(session)

    def listed(self) -> list[str]:
        page = self.house.stores.index.sessions(TENANT, states=(), agent_id=None, limit=9, cursor=None)
        return [entry.session_id for entry in page.entries]


def waiting(deployment: Deployment) -> str:
    session = deployment.house.start("Tidy").session_id
    deployment.house.run()
    assert deployment.head(session).state == "waiting_for_user"
    return session


def test_a_session_at_work_waits_for_a_person_with_nothing_open(aws: Aws) -> None:
    deployment = Deployment(aws, *DELETING, *AFTER)
    session = waiting(deployment)
    house, before = deployment.house, deployment.head(session)
    deployment.remember()
    (asked,) = before.interventions
    house.resolve(session, asked, "reject")
    house.run()
    assert deployment.head(session).state == "completed"

    done = deployment.go_back()

    head = deployment.head(session)
    assert done.counts["parked"] == 1
    (question,) = head.interventions
    assert (head.state, question.type, question.options) == (
        "waiting_for_user",
        "error_recovery",
        ("retry", "cancel"),
    )
    assert question.timeout_at is None
    assert (head.unfinished_calls, head.wait, head.lease) == ((), None, None)
    assert head.run is not None
    assert before.run is not None
    assert head.run.generation > before.run.generation + FRESH_GENERATIONS
    pending = house.stores.index.interventions(TENANT, state="pending", limit=9, cursor=None).items
    assert pending == (question,)


def test_a_person_says_go_on_and_the_model_is_told_that_it_has_forgotten(aws: Aws) -> None:
    deployment = Deployment(aws, *DELETING, *AFTER)
    session = waiting(deployment)
    house = deployment.house
    deployment.remember()
    deployment.go_back()
    (question,) = deployment.head(session).interventions

    house.resolve(session, question, "retry")
    recover(house.fresh_repository(), house.workflow, TENANT, session)
    house.run()

    assert deployment.head(session).state == "completed"
    request = house.model.requests[2]  # type: ignore[attr-defined]
    assert RESTORED in request.suffix
    results = [entry for entry in request.entries if isinstance(entry, ToolEntry)]
    assert results[-1].content.loaded == UNKNOWN


def test_a_worker_of_the_time_that_is_forgotten_commits_nothing(aws: Aws) -> None:
    deployment = Deployment(aws, *DELETING, *AFTER)
    session = waiting(deployment)
    house = deployment.house
    deployment.remember()
    (asked,) = deployment.head(session).interventions
    house.resolve(session, asked, "reject")
    late = house.workflow.take()
    assert late is not None
    deployment.go_back()
    before = house.stores.log.latest(TENANT, session)
    house.go_on(late)
    assert house.stores.log.latest(TENANT, session) == before


def test_what_was_erased_since_is_erased_again(aws: Aws) -> None:
    deployment = Deployment(aws, *TURNS, *TURNS)
    kept, gone = ended(deployment.house).session_id, ended(deployment.house).session_id
    deployment.remember()
    deployment.delete(gone)

    done = deployment.go_back()

    assert done.counts["erased"] == 1
    assert deployment.listed() == [kept]
    assert deployment.house.stores.log.latest(TENANT, gone) is None


def test_a_schedule_that_was_deleted_since_starts_nothing_again(aws: Aws) -> None:
    deployment = Deployment(aws)
    house, stores = deployment.house, deployment.house.stores
    for name in ("nightly", "hourly"):
        stores.schedules.create(TENANT, schedule(house.clock.now()).model_copy(update={"schedule_id": name}))
    deployment.remember()
    stores.trail.note("schedule.delete", TENANT, schedule_id="hourly")
    deployment.go_back()
    assert [each.schedule_id for each in stores.schedules.all(TENANT)] == ["nightly"]


def test_what_was_erased_before_that_time_is_not_asked_for_again(aws: Aws) -> None:
    deployment = Deployment(aws, *TURNS, *TURNS)
    gone = ended(deployment.house).session_id
    deployment.delete(gone)
    deployment.house.clock.advance(3_600)
    deployment.remember()
    assert deployment.go_back().counts["erased"] == 0


def test_a_tenant_that_was_erased_since_is_erased_again(aws: Aws) -> None:
    deployment = Deployment(aws, *TURNS)
    ended(deployment.house)
    deployment.remember()
    deployment.erased(TENANT)

    deployment.go_back()

    left = aws.dynamodb.scan(TableName=aws.table)["Items"]
    assert [item for item in left if TENANT in item["pk"]["S"]] == []


def test_an_erasure_is_recorded_again_before_the_items_go(aws: Aws) -> None:
    """A tenant's files may take hours. A command that is killed after them has no record of its end."""
    deployment = Deployment(aws)
    clock, stores = deployment.house.clock, deployment.house.stores
    began = clock.now()

    class Slow:
        def __getattr__(self, name: str) -> Any:
            clock.advance(3_600)
            return getattr(stores.s3, name)

    deployment.erased(TENANT, type(stores)(stores.names, stores.dynamodb, Slow(), clock))
    records = [json.loads(each["j"]["S"]) for each in stores.scan(AUDIT)]
    assert any(datetime.fromisoformat(each["at"]) > began for each in records)


def test_an_erasure_that_ended_after_that_time_is_erased_again(aws: Aws) -> None:
    deployment = Deployment(aws)
    clock, stores = deployment.house.clock, deployment.house.stores
    began = clock.now()
    with stores.trail.recorded("tenant.erase", TENANT):
        clock.advance(7_200)
    assert [found[0] for found in _erased_since(stores, began + timedelta(hours=1))] == ["tenant.erase"]
    assert list(_erased_since(stores, clock.now() + timedelta(seconds=1))) == []


def test_what_came_after_is_gone_and_its_texts_are_named(aws: Aws) -> None:
    deployment = Deployment(aws, *TURNS, *TURNS)
    early = ended(deployment.house).session_id
    before = aws.dynamodb.scan(TableName=aws.table)["Items"]
    deployment.remember()
    late = ended(deployment.house).session_id
    deployment.house.say(early, "More")

    done = deployment.go_back()

    assert aws.dynamodb.scan(TableName=aws.table)["Items"] == before
    assert done.texts_alone == (f"{TENANT}/{late}",)
    assert deployment.house.blobs.get(TENANT, early, [name_of(LONG)])


def test_sessions_that_began_after_are_named_before_anything_changes_also_without_texts(aws: Aws) -> None:
    deployment = Deployment(aws, *TURNS, *TURNS)
    ended(deployment.house)
    deployment.remember()
    late = [ended(deployment.house).session_id, deployment.house.start("Tidy").session_id]
    assert later_sessions(deployment.house.stores, RESTORED_TABLE) == tuple(
        sorted(f"{TENANT}/{each}" for each in late)
    )

    deployment.go_back()

    assert later_sessions(deployment.house.stores, RESTORED_TABLE) == ()


def test_segments_and_replies_of_what_is_forgotten_are_removed(aws: Aws) -> None:
    deployment = Deployment(aws, *TURNS)
    session = ended(deployment.house).session_id
    newest = deployment.house.stores.log.latest(TENANT, session)
    assert newest is not None
    deployment.remember()
    blobs = deployment.house.blobs
    for name in ("conversation-0000000001", f"conversation-{newest.number:010d}", "conversation-0000000999"):
        blobs.put_named(TENANT, session, name, "{}")
    blobs.put_named(TENANT, session, f"reply-{'0' * 64}", "{}")

    assert deployment.go_back().counts["texts"] == 3

    keys = [each["Key"].rsplit("/", 1)[1] for each in aws.s3.list_objects_v2(Bucket=aws.bucket)["Contents"]]
    assert sorted(keys) == sorted(["conversation-0000000001", name_of(LONG)])


def test_it_may_be_repeated(aws: Aws) -> None:
    deployment = Deployment(aws, *DELETING, *TURNS)
    session = waiting(deployment)
    gone = ended(deployment.house).session_id
    deployment.remember()
    deployment.delete(gone)
    deployment.go_back()
    first = deployment.head(session)

    again = deployment.go_back()

    head = deployment.head(session)
    assert (again.counts["parked"], again.counts["erased"]) == (1, 1)
    assert head.model_copy(update={"interventions": ()}) == first.model_copy(update={"interventions": ()})
    assert deployment.listed() == [session]


@pytest.mark.parametrize("partition", ["D", "D#anthropic#=A"])
def test_what_the_release_itself_has_stored_stays(aws: Aws, partition: str) -> None:
    deployment = Deployment(aws)
    aws.dynamodb.put_item(
        TableName=RESTORED_TABLE, Item={"pk": {"S": partition}, "sk": {"S": "P#x"}, "v": {"N": "1"}}
    )
    present = {"pk": {"S": partition}, "sk": {"S": "P#x"}, "v": {"N": "2"}}
    aws.dynamodb.put_item(TableName=aws.table, Item=present)
    deployment.go_back()
    assert present in aws.dynamodb.scan(TableName=aws.table)["Items"]


def name_of(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()
