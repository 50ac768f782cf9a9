"""The usage of tenants: sums that are added to once, and a partition of their own (ADR 67)."""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from acta.engine.agents.agent import AgentDefinition
from acta.engine.agents.dynamodb import DynamoDefinitions
from acta.engine.aws.errors import NOT_FOUND, AwsRefused
from acta.engine.log.commit import Commit
from acta.engine.log.head import Usage
from acta.engine.log.store import Erasure, SessionLog, TransactionItems
from acta.engine.notifications.aws import StreamedChanges
from acta.engine.usage.dynamodb import DynamoUsage, committed_in, counted_key, usage_pk
from acta.engine.usage.fold import FoldResult, fold
from acta.engine.usage.store import Fold, FoldLost, StreamCommit, SumsRefused, UsagePartition
from acta.engine.usage.tally import Tally
from acta.engine.usage.usage import NOTHING, Amounts, Dimension, RowKey, counted, hour_of
from acta.testing.clock import FakeClock
from tests.doubles.audit import PlainPseudonyms
from tests.stores.backends import Aws, aws_stores
from tests.stores.documents import NOW, make_commit, make_head

pytestmark = pytest.mark.contract

WHO = PlainPseudonyms()
ALWAYS = 9_999_999


class Backend(NamedTuple):
    log: SessionLog
    usage: DynamoUsage
    tenant: str

    def commit(self, number: int, session: str = "ses_1", *, deleted: bool = False) -> StreamCommit:
        used = Usage(input_tokens=10 * number, output_tokens=number)
        head = make_head(
            self.tenant,
            session,
            created_by="ann",
            usage=used,
            deleted=deleted,
            updated_at=NOW,
            tally=Tally(ended={"completed/goal_complete": 1}),
        )
        made: Commit = make_commit(self.tenant, session, number, head=head)
        erasure = Erasure(self.tenant, session, NOW) if deleted else None
        self.log.append(made, TransactionItems(erasure=erasure))
        return StreamCommit(UsagePartition(self.tenant, session), number, NOW)

    def fold(self, *commits: StreamCommit) -> FoldResult:
        return fold(self.usage, WHO, commits)

    def sums(self, dimension: Dimension) -> dict[str, Amounts]:
        found: dict[str, Amounts] = {}
        for key, row in self.usage.rows(self.tenant, dimension, 0, ALWAYS):
            found[key.name] = found.get(key.name, NOTHING).plus(row)
        return found


@pytest.fixture
def backend(account: Aws) -> Backend:
    tenant = f"tenant-{uuid4().hex}"
    return Backend(aws_stores(account).log, DynamoUsage(account.table, FakeClock(), account.dynamodb), tenant)


def test_agents_are_called_what_they_are_called_now(account: Aws) -> None:
    definitions = DynamoDefinitions(account.table, FakeClock(), account.dynamodb)
    usage = DynamoUsage(account.table, FakeClock(), account.dynamodb)
    tenant, at = f"tenant-{uuid4().hex}", NOW
    desk = AgentDefinition(agent_id="desk", name="Desk", version=1, created_at=at, updated_at=at)
    definitions.create_agent(tenant, desk)
    assert usage.agent_names(tenant, ["desk", "default", "gone"]) == {"desk": "Desk", "default": "Default"}
    assert usage.agent_names(tenant, ["gone"]) == {}
    orders = desk.model_copy(update={"name": "Orders", "version": 2})
    definitions.replace_agent(tenant, desk, orders)
    assert usage.agent_names(tenant, ["desk"]) == {"desk": "Orders"}
    definitions.delete_agent(tenant, orders)
    assert usage.agent_names(tenant, ["desk"]) == {}


def test_what_is_counted_is_read_by_hour_and_by_day_of_each_name(backend: Backend) -> None:
    told = [backend.commit(number, session) for session in ("ses_1", "ses_2") for number in (1, 2)]
    assert backend.fold(*told) == FoldResult(sessions=2, unread=0, writes=1)

    (tenant,) = backend.usage.rows(backend.tenant, "tenant", hour_of(NOW), hour_of(NOW))
    assert (tenant[0].at, tenant[1].fresh, tenant[1].idle) == (hour_of(NOW), 40, 2)
    assert backend.sums("agent") == {"default": tenant[1]}
    assert backend.sums("user") == {f"p_{backend.tenant}_ann": tenant[1]}
    assert {name: row.runs for name, row in backend.sums("end").items()} == {"completed/goal_complete": 2}
    assert list(backend.usage.rows(backend.tenant, "tenant", 0, hour_of(NOW) - 1)) == []
    assert backend.usage.counted_until(backend.tenant) == NOW


def test_how_far_is_counted_goes_forwards_alone(backend: Backend) -> None:
    usage, minute, hour = backend.usage, timedelta(minutes=1), timedelta(hours=1)
    for until in (NOW, NOW + minute, NOW, NOW - hour):
        usage.reach(backend.tenant, until)
    assert usage.counted_until(backend.tenant) == NOW + minute
    now = counted(make_head(backend.tenant, "ses_1", updated_at=NOW + hour), 1, "ann")
    row = {RowKey("tenant", hour_of(NOW + hour)): Amounts(runs=1)}
    usage.add([Fold(UsagePartition(backend.tenant, "ses_1"), 0, now)], row)
    assert usage.counted_until(backend.tenant) == NOW + minute, "the newest hour does not say it yet"
    usage.reach(backend.tenant, NOW + hour)
    assert usage.counted_until(backend.tenant) == NOW + hour


def test_one_name_s_rows_are_found_among_those_of_others(backend: Backend) -> None:
    rows = {RowKey("user", day, who): Amounts(runs=1) for day in (7, 8, 9) for who in ("ann", "bob", "cy")}
    now = counted(make_head(backend.tenant, "ses_1", updated_at=NOW), 1, "ann")
    backend.usage.add([Fold(UsagePartition(backend.tenant, "ses_1"), 0, now)], rows)
    found = backend.usage.rows(backend.tenant, "user", 8, 12, "bob")
    assert list(found) == [(RowKey("user", at, "bob"), Amounts(runs=1)) for at in (8, 9)]


class CountedReads:
    """A client that says how many items its answers had."""

    def __init__(self, dynamodb: Any) -> None:
        self._dynamodb = dynamodb
        self.items = 0

    def get_item(self, **asked: Any) -> Any:
        answer = self._dynamodb.get_item(**asked)
        self.items += "Item" in answer
        return answer

    def query(self, **asked: Any) -> Any:
        answer = self._dynamodb.query(**asked)
        self.items += answer["ScannedCount"]
        return answer


def test_who_asks_for_one_name_reads_nobody_else_s_rows(account: Aws) -> None:
    tenant = f"tenant-{uuid4().hex}"
    rows = {RowKey("user", 7, f"p_{number}"): Amounts(runs=1) for number in range(50)}
    now = counted(make_head(tenant, "ses_1", updated_at=NOW), 1, "ann")
    client = CountedReads(account.dynamodb)
    DynamoUsage(account.table, FakeClock(), account.dynamodb).add(
        [Fold(UsagePartition(tenant, "ses_1"), 0, now)], rows
    )

    assert len(list(DynamoUsage(account.table, FakeClock(), client).rows(tenant, "user", 7, 8, "p_30"))) == 1
    assert client.items == 1


class FiveAtOnce:
    """A table of items so large that an answer has no more than five of them."""

    def batch_get_item(self, **asked: Any) -> Any:
        ((table, wanted),) = asked["RequestItems"].items()
        found, rest = wanted["Keys"][:5], wanted["Keys"][5:]
        answer = {"Responses": {table: [{**key, "ttl": {"N": "1"}} for key in found]}}
        return answer | ({"UnprocessedKeys": {table: {"Keys": rest}}} if rest else {})


def test_what_does_not_fit_into_one_answer_is_read_in_as_many_as_it_needs() -> None:
    usage = DynamoUsage("table", FakeClock(), FiveAtOnce())
    assert len(usage.counted([UsagePartition("acme", f"ses_{number}") for number in range(60)])) == 60


def test_the_same_commits_again_change_nothing(backend: Backend) -> None:
    told = [backend.commit(number) for number in (1, 2, 3)]
    backend.fold(*told)
    before = backend.sums("tenant")
    assert backend.fold(*reversed(told)) == FoldResult()
    assert backend.fold(told[0]) == FoldResult()
    assert backend.sums("tenant") == before


def test_who_was_overtaken_writes_nothing(backend: Backend) -> None:
    told = backend.commit(1)
    backend.fold(told)
    before = backend.sums("tenant")
    (now,) = backend.usage.counted([told.partition]).values()
    assert now is not None
    with pytest.raises(FoldLost):
        backend.usage.add([Fold(told.partition, 0, now)], {})
    with pytest.raises(FoldLost):
        backend.usage.add([Fold(told.partition, 7, now)], {})
    assert backend.sums("tenant") == before


def test_what_a_session_had_used_last_is_counted_after_it_was_deleted(backend: Backend) -> None:
    backend.fold(backend.commit(1))
    gone = backend.commit(4, deleted=True)
    backend.log.delete(backend.tenant, "ses_1")
    backend.log.delete(backend.tenant, "ses_1")

    assert backend.fold(gone).sessions == 1
    (row,) = backend.sums("tenant").values()
    assert (row.fresh, row.deleted, row.idle) == (40, 1, 0)
    assert backend.usage.left(gone.partition) is None
    assert backend.fold(gone) == FoldResult(unread=1)
    assert backend.usage.counted([gone.partition]) == {gone.partition: None}, "nothing of it is kept"


def test_a_damaged_commit_holds_nobody_up(account: Aws) -> None:
    stores, tenant = aws_stores(account), f"tenant-{uuid4().hex}"
    backend = Backend(stores.log, DynamoUsage(account.table, FakeClock(), account.dynamodb), tenant)
    damaged, whole = backend.commit(1), backend.commit(1, "ses_2")
    stores.spoil(tenant, "ses_1", 1)
    assert backend.fold(damaged, whole) == FoldResult(sessions=1, unread=1, writes=1)
    assert backend.fold(backend.commit(2)).sessions == 1, "the next one counts all of it"


@pytest.mark.parametrize("damage", [{"z": {"B": b"no document"}}, {"v": {"S": "two"}}, {"v": {"N": "999"}}])
def test_a_damaged_count_holds_nobody_up(account: Aws, damage: dict[str, Any]) -> None:
    stores, tenant = aws_stores(account), f"tenant-{uuid4().hex}"
    backend = Backend(stores.log, DynamoUsage(account.table, FakeClock(), account.dynamodb), tenant)
    backend.fold(backend.commit(1), backend.commit(1, "ses_2"))
    key = counted_key(UsagePartition(tenant, "ses_1"))
    stored = account.dynamodb.get_item(TableName=account.table, Key=key)["Item"]
    account.dynamodb.put_item(TableName=account.table, Item={**stored, **damage})

    done = backend.fold(backend.commit(2), backend.commit(2, "ses_2"))

    assert done == FoldResult(sessions=1, unread=1, writes=1)


class Refusing:
    """A botocore client of a table that refuses each transaction."""

    def __init__(self, code: str, *reasons: str) -> None:
        self.answer: Any = {
            "Error": {"Code": code},
            "CancellationReasons": [{"Code": each} for each in reasons],
        }

    def transact_write_items(self, **_: Any) -> None:
        raise ClientError(self.answer, "TransactWriteItems")


@pytest.mark.parametrize(
    ("client", "raised"),
    [
        (Refusing("ValidationException"), SumsRefused),
        (Refusing("TransactionCanceledException", "None", "ValidationError"), SumsRefused),
        (Refusing(NOT_FOUND), AwsRefused),
    ],
    ids=["a number", "a sum", "the table"],
)
def test_sums_that_the_table_refuses_are_told_from_a_table_that_is_not_there(
    client: Refusing, raised: type[Exception]
) -> None:
    head = make_head("acme", "ses_1", usage=Usage(input_tokens=10**40))
    fold_of_it = Fold(UsagePartition("acme", "ses_1"), 0, counted(head, 1, "ann"))
    with pytest.raises(raised):
        DynamoUsage("table", FakeClock(), client).add([fold_of_it], {})


def test_the_stream_tells_of_new_commits_alone() -> None:
    keys = {"pk": {"S": "T#acme#S#ses_1"}, "sk": {"S": "C#0000000007"}}
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    told = {"Keys": keys, "ApproximateCreationDateTime": at.timestamp()}
    others = [
        {"eventName": "MODIFY", "dynamodb": told},
        {"eventName": "INSERT", "dynamodb": {**told, "Keys": {**keys, "sk": {"S": "P"}}}},
        {"eventName": "INSERT", "dynamodb": {**told, "Keys": {**keys, "pk": {"S": "T#acme"}}}},
    ]
    event = {"Records": [{"eventName": "INSERT", "dynamodb": told}, *others]}
    assert list(committed_in(event)) == [StreamCommit(UsagePartition("acme", "ses_1"), 7, at)]


def test_what_the_stream_brings_of_usage_is_nothing_to_notify_of(account: Aws) -> None:
    tenant = f"tenant-{uuid4().hex}"
    backend = Backend(
        aws_stores(account).log, DynamoUsage(account.table, FakeClock(), account.dynamodb), tenant
    )
    for number in (1, 2):
        backend.fold(backend.commit(number))
    backend.commit(3, deleted=True)
    stored = account.dynamodb.query(
        TableName=account.table,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": usage_pk(tenant)}},
    )["Items"]
    assert len(stored) == 6, "rows of four kinds, what was counted of the session, and what its deletion left"
    told = [
        {"eventName": what, "dynamodb": {"Keys": {"pk": item["pk"], "sk": item["sk"]}}}
        for item in stored
        for what in ("INSERT", "MODIFY")
    ]
    assert list(StreamedChanges(account.table, account.dynamodb).changed_by({"Records": told})) == []


@pytest.mark.parametrize("tenant", ["a b/ü", "x" * 300])
def test_names_that_do_not_fit_into_keys_are_counted_too(tenant: str, account: Aws) -> None:
    stores = aws_stores(account)
    usage = DynamoUsage(account.table, FakeClock(), account.dynamodb)
    session = f"ses_{uuid4().hex}"
    stores.log.append(
        make_commit(tenant, session, 1, head=make_head(tenant, session, usage=Usage(output_tokens=5)))
    )
    stored = account.dynamodb.scan(TableName=account.table)["Items"]
    (item,) = (each for each in stored if session in each["pk"]["S"])
    record = {"eventName": "INSERT", "dynamodb": {"Keys": {"pk": item["pk"], "sk": item["sk"]}}}

    fold(usage, WHO, committed_in({"Records": [record]}))

    assert sum(row.output for _, row in usage.rows(tenant, "tenant", 0, ALWAYS)) >= 5
