"""What a restore brings back was traced when it happened: none of it is sent again (ADR 78)."""

from collections.abc import Iterable
from pathlib import Path

from acta.engine.recovery.recover import recover
from acta.engine.store.keys import tenant_pk
from acta.engine.telemetry import Telemetry
from acta.engine.traces.export import ExportCount, export
from acta.engine.traces.queue import DynamoTracedCommits
from acta.engine.traces.spans import CommitName, RunName, Span
from acta.engine.usage.dynamodb import DynamoUsage
from acta.engine.usage.usage_count import UsageCount
from acta.infra.deployed.tenants.backup import BackupFolder
from tests.doubles.audit import PlainPseudonyms
from tests.in_process.house import TENANT
from tests.stores.backends import Aws
from tests.tenants.stored_house import StoredHouse
from tests.tenants.test_backup import OTHER, TURNS, back, ended, taken
from tests.tenants.test_restored_table import AFTER, DELETING, Deployment, waiting
from tests.traces.test_exporting import Receiver


class Queue:
    """A CommitQueue that keeps the names."""

    def __init__(self) -> None:
        self.names: list[CommitName] = []

    def put(self, commits: Iterable[CommitName]) -> None:
        self.names += list(commits)


def traced(house: StoredHouse, aws: Aws, tenant: str) -> tuple[ExportCount, list[Span]]:
    """What becomes of all items of the tenant's, as if each had been put there now."""
    items = aws.dynamodb.scan(TableName=aws.table)["Items"]
    keys = [{"pk": item["pk"], "sk": item["sk"]} for item in items]
    records = [
        {"eventName": "INSERT", "dynamodb": {"Keys": key}}
        for key in keys
        if key["pk"]["S"].startswith(f"{tenant_pk(tenant)}#")
    ]
    queue, receiver = Queue(), Receiver()
    usage = DynamoUsage(aws.table, house.clock, aws.dynamodb)
    UsageCount(usage, PlainPseudonyms(), queue, Telemetry("usage")).handle({"Records": records})
    assert queue.names
    done = export(DynamoTracedCommits(aws.table, house.clock, aws.dynamodb), receiver, queue.names)
    return done, receiver.taken


def empty(aws: Aws) -> None:
    for item in aws.dynamodb.scan(TableName=aws.table)["Items"]:
        aws.dynamodb.delete_item(TableName=aws.table, Key={"pk": item["pk"], "sk": item["sk"]})


def test_what_a_backup_brings_back_is_not_traced_again_and_not_lost(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    ended(house)
    assert traced(house, aws, TENANT)[0].restored == 0
    back(house.stores, taken(house, BackupFolder(tmp_path)))

    done, spans = traced(house, aws, OTHER)

    assert (done.spans, done.lost, spans) == (0, 0, [])
    assert done.restored


def test_a_run_that_begins_after_the_restore_is_traced(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, (*TURNS, *TURNS))
    session = ended(house).session_id
    place = taken(house, BackupFolder(tmp_path))
    house.delete(session)
    house.clock.advance(7_200)
    house.stores.log.end_erasure(TENANT, session)
    back(house.stores, place, TENANT)
    house.say(session, "And again")
    house.run()

    _, spans = traced(house, aws, TENANT)

    run = house.head(session).run
    assert run is not None
    assert {span.trace_id for span in spans} == {RunName(TENANT, session, run.run_id).trace_id}


def test_what_a_restored_table_brings_back_is_not_traced_again_and_not_lost(aws: Aws) -> None:
    deployment = Deployment(aws, *TURNS)
    ended(deployment.house)
    deployment.remember()
    empty(aws)
    for _ in range(2):  # the first attempt may have been cut short
        deployment.go_back()

        done, spans = traced(deployment.house, aws, TENANT)

        assert (done.spans, done.lost, spans) == (0, 0, [])
        assert done.restored


def test_what_follows_a_restore_has_no_ids_of_what_is_forgotten(aws: Aws) -> None:
    """A run had ended in the time that is forgotten, and goes on from before."""
    deployment = Deployment(aws, *DELETING, *AFTER, *AFTER)
    house, session = deployment.house, waiting(deployment)
    deployment.remember()
    before = {span.span_id for span in traced(house, aws, TENANT)[1]}
    house.resolve(session, deployment.head(session).interventions[0], "reject")
    house.run()
    forgotten = {span.span_id for span in traced(house, aws, TENANT)[1]} - before
    deployment.go_back()
    house.resolve(session, deployment.head(session).interventions[0], "retry")
    recover(house.fresh_repository(), house.workflow, TENANT, session)
    house.run()

    later = {span.span_id for span in traced(house, aws, TENANT)[1]} - before

    assert deployment.head(session).state == "completed"
    assert forgotten
    assert later
    assert not forgotten & later


def test_what_was_there_all_the_time_is_traced_as_before(aws: Aws) -> None:
    """What waits to be sent while the table is restored is still sent."""
    deployment = Deployment(aws, *TURNS)
    ended(deployment.house)
    before = traced(deployment.house, aws, TENANT)
    deployment.remember()
    deployment.go_back()
    assert traced(deployment.house, aws, TENANT) == before
