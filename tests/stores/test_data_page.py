"""docs/data.md names every kind of item and object there is: one of each is written and compared with its tables."""

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from acta.engine.agents.agent import AgentDefinition
from acta.engine.agents.dynamodb import DynamoTriggerStore
from acta.engine.audit.record import AuditRecord
from acta.engine.audit.trail import DynamoTrail
from acta.engine.limits.dynamodb import DynamoLongPolls, DynamoRateLeases
from acta.engine.limits.shares import LeaseChange
from acta.engine.limits.store import LongPolls
from acta.engine.limits.tenant_limits import Start
from acta.engine.log.beside import Marker, PartialReply, Segment, keep_segments
from acta.engine.log.store import (
    ChildRow,
    Erasure,
    IndexEntry,
    ListingEntry,
    LiveEntry,
    Places,
    SessionReceiver,
    TransactionItems,
    mark,
)
from acta.engine.memories.memory import Memory
from acta.engine.notifications.receiver import TenantReceiver
from acta.engine.prompts import prompt as prompts
from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM
from acta.engine.queue.dynamodb import DynamoAdmission
from acta.engine.queue.places import GrantPrice, ProviderLimits, QueuePlace
from acta.engine.recovery.aws import DynamoRecoveryScans
from acta.engine.recovery.store import ROUNDS, HousekeepingPlace, RoundCounts, RoundResult
from acta.engine.schedules.dynamodb import DynamoSchedules
from acta.engine.schedules.schedule import Schedule, ScheduleRun
from acta.engine.tools.tool import LambdaConfig, ToolDefinition, ToolSecret
from acta.engine.triggers.dynamodb import DynamoTriggerEvents
from acta.engine.triggers.trigger import Counts, Trigger, TriggerEvent, hashed
from acta.engine.usage.dynamodb import DynamoUsage
from acta.engine.usage.store import Fold, UsagePartition
from acta.engine.usage.usage import Amounts, RowKey, counted
from acta.infra.deployed.quarantine import SINCE
from acta.infra.deployed.tenants.erase import TOKENS
from acta.infra.lambdas.grants import GRANTS
from tests.stores.backends import Aws, Stores, aws_stores
from tests.stores.documents import NOW, make_commit, make_intervention, record_for
from tests.tools.mcp.test_store import make_server

pytestmark = pytest.mark.contract

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "data.md"
ENGINE = ROOT / "acta" / "engine"
SOURCES = (
    *ENGINE.rglob("dynamodb*.py"),
    *(ENGINE / "store").glob("*.py"),
    ENGINE / "audit" / "trail.py",
)
TENANT, SESSION, GONE = "acme", "ses_1", "ses_2"

Shape = tuple[str, str]
Attributes = dict[str, str]
"""Name -> DynamoDB's type."""
NAMES = {
    TENANT: "{tenant}",
    SESSION: "{session}",
    "anthropic": "{provider}",
    GONE: "{session}",
    "ses_below": "{child}",
    "int_1": "{intervention}",
    "librarian": "{agent}",
    "weigh": "{tool}",
    "desk": "{server}",
    "orders": "{trigger}",
    "stripe": "{secret}",
    "mem_1": "{memory}",
    "nightly": "{schedule}",
    AGENT_PLANNING_SYSTEM: "{prompt}",
    "POST /v1/sessions": "{route}",
    "aud_1": "{record}",
}
USED = {"p_acme_ann": "{user}", "librarian-model": "{model}", "completed%2Fx": "{end}"}
"""Names in keys of usage."""
TYPE_NAMES = {"S", "N", "B"}
AUDIT = {"begun action", "ended action"}
"""Items of the other table."""
USAGE = re.compile(r"usage of .*|ends of .*|counts of a session")
"""Items that `usage` alone writes, by a grant of its own."""
LEASES = {"requests taken", "places for long polls"}
"""Items that some may update and not put."""
ADMISSION = {"bucket of a provider", "session in a provider's line"}
"""Items of no tenant that the functions of the line have a grant of their own for; `recover` may anyway."""
READS = {"dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"}


def rows(*head: str) -> Iterator[list[str]]:
    """The cells of the tables of the page whose first columns are called so."""
    inside = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells or cells[0].startswith("---"):
            inside = inside and bool(cells)
        elif tuple(cells[: len(head)]) == head:
            inside = True
        elif inside:
            yield cells


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def documented() -> dict[Shape, list[Attributes]]:
    kinds: dict[Shape, list[Attributes]] = {}
    shared = dict(rows("counts", "attributes"))
    for _, pk, sk, attributes in rows("item", "pk", "sk", "attributes"):
        for name, meant in shared.items():
            attributes = attributes.replace(name, meant)
        found = dict(re.findall(r"`([a-z_]+)` ([A-Z]+)", attributes))
        kinds.setdefault((code(pk)[0], code(sk)[0]), []).append(found)
    return kinds


def shape(key: str) -> str:
    for name, placeholder in USED.items():
        key = key.replace(name, placeholder)
    for name, placeholder in NAMES.items():
        key = key.replace(name, placeholder)
    key = re.sub(r"[0-9a-f]{64}", "{hash}", key)
    key = re.sub(r"evt_[0-9A-Z]{26}", "{event}", key)
    key = re.sub(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "{time}", key)
    key = re.sub(r"[0-9]{10}", "{number}", key)
    key = re.sub(r"(=L|^O#)[0-9]{2}$", r"\1{share}", key)
    return re.sub(r"([LD])#[0-9]+", r"\1#{hour}", key)


def stored(aws: Aws) -> dict[Shape, list[Attributes]]:
    """What the table holds, by the shape of the keys; each set of attributes once."""
    kinds: dict[Shape, list[Attributes]] = {}
    for item in aws.dynamodb.scan(TableName=aws.table)["Items"]:
        attributes = {name: next(iter(value)) for name, value in item.items() if name not in ("pk", "sk")}
        found = kinds.setdefault((shape(item["pk"]["S"]), shape(item["sk"]["S"])), [])
        if attributes not in found:
            found.append(attributes)
    return kinds


def write_one_of_each(stores: Stores, aws: Aws) -> None:
    """The audit trail too, which is in a table of its own where it is deployed."""
    stores.log.append(
        make_commit(TENANT, SESSION, 1),
        TransactionItems(
            listing=IndexEntry(
                TENANT,
                SESSION,
                "librarian",
                "active",
                LiveEntry("active", NOW),
                "ann",
                counted=True,
                listed=ListingEntry("ann", "a goal", frozenset({mark("ticket", "OPS-42")}), is_child=True),
            ),
            interventions=(make_intervention(SESSION, "int_1", private_to="ann"),),
            idempotency=record_for(stores.clock, TENANT, commit=1),
            leases=(
                LeaseChange(TENANT, 490_000, 20_000, 10**9, share=7, drawn=30_000),
                LeaseChange(TENANT, 489_984, 20_000, 10**9, share=7, drawn=30_000, of_day=True),
            ),
            places=Places(TENANT, 1, Start(1, 64, 64), share=1, shares=2),
            receiver=SessionReceiver(TENANT, SESSION, "https://hooks.example.com/mine"),
            lifted=Erasure(TENANT, SESSION, NOW),
            child=ChildRow(TENANT, SESSION, "ses_below", "call_1/0000"),
        ),
    )
    leases = DynamoRateLeases(aws.table, aws.dynamodb)
    leases.take(TENANT, 1, 1)
    leases.hold(TENANT, 1, 1, renews=False)
    line = DynamoAdmission(aws.table, aws.dynamodb)
    place = QueuePlace("anthropic", TENANT, SESSION, NOW, 10)
    line.join(place, NOW, NOW)
    line.pass_over(place, NOW)
    line.learn("anthropic", ProviderLimits(9, 9), NOW)
    line.take_for(TENANT, "anthropic", GrantPrice(1, 1), NOW)
    line.share_out(TENANT, "anthropic", GrantPrice(1, 1), NOW, NOW)
    stores.partials.put(TENANT, SESSION, PartialReply(key="k", text="One", at=NOW))
    stores.attempts.write(TENANT, SESSION, Marker(), after=None)
    now = stores.clock.now()
    stores.definitions.create_agent(
        TENANT,
        AgentDefinition(agent_id="librarian", name="Librarian", version=1, created_at=now, updated_at=now),
    )
    stores.tools.create(TENANT, tool_of(now))
    stores.servers.create(TENANT, make_server(stores))
    schedule = Schedule(
        schedule_id="nightly", agent_id="librarian", goal="Report", cron="30 2 * * *", created_by="ann",
        created_at=now, updated_at=now, next_at=now,
    )  # fmt: skip
    schedules = DynamoSchedules(aws.table, stores.clock, aws.dynamodb)
    schedules.create(TENANT, schedule)
    schedules.replace(TENANT, schedule, schedule, [ScheduleRun(tick=now, at=now, outcome="skipped")])
    stores.secret_names.put(
        TENANT,
        ToolSecret(name="stripe", created_at=now, updated_at=now, updated_by="ann", hosts=("a.example",)),
    )
    stores.receivers.put(
        TenantReceiver(
            tenant=TENANT, url="https://hooks.example.com", created_at=now, updated_at=now, updated_by="ann"
        )
    )
    take_event(stores, aws, now)
    seed = prompts.seed(AGENT_PLANNING_SYSTEM, now)
    stores.definitions.store_seed(seed)
    stores.definitions.write_prompt(TENANT, seed, seed.next_version("Ours", None, "ann", now))
    memory = Memory(
        memory_id="mem_1", agent_id="librarian", kind="fact", text="a", created_at=now, updated_at=now,
        origin="agent",
    )  # fmt: skip
    stores.memories.add(TENANT, memory)
    begun = AuditRecord(
        audit_id="aud_1",
        at=now,
        who="p_ann",
        action="session.cancel",
        details={"session_id": SESSION},
    )
    trail = DynamoTrail(aws.table, 30, aws.dynamodb)
    trail.put(TENANT, begun)
    trail.put(TENANT, begun.model_copy(update={"outcome": "done"}))


def take_event(stores: Stores, aws: Aws, now: datetime) -> None:
    """Of a trigger, which has every attribute that an event can have."""
    trigger = Trigger(
        name="orders", source="shop", goal="Go", created_by="ann", roles=("admin",), quotation_key="q", version=1,
        created_at=now, updated_at=now,
    )  # fmt: skip
    DynamoTriggerStore(aws.table, stores.clock, aws.dynamodb).create(TENANT, trigger)
    events = DynamoTriggerEvents(aws.table, stores.clock, aws.dynamodb)
    taken, _ = events.take(TENANT, "orders", "1", {"id": 1}, now, ("bank",))
    events.settle(TENANT, "orders", taken, taken._replace(code="BUSY", reason="It waits."))
    refused, _ = events.take(TENANT, "orders", "3", {"id": 3}, now, ("bank",))
    events.settle(
        TENANT, "orders", refused, refused._replace(outcome="refused", code="PAUSED", reason="It is.")
    )
    other, _ = events.take(TENANT, "orders", "2", {"id": 2}, now)
    events.settle(TENANT, "orders", other, TriggerEvent(other.event_id, now, "started", SESSION))
    for name in Counts._fields:
        events.count(TENANT, "orders", name)
    events.hold(TENANT, "orders", hashed("key"), SESSION, None)


def tool_of(now: datetime) -> ToolDefinition:
    return ToolDefinition(
        name="weigh",
        description="Weighs",
        input_schema={"type": "object"},
        kind="lambda",
        config=LambdaConfig(function="acta-prod-tool-weigh"),
        version=1,
        created_at=now,
        updated_at=now,
    )


def count_usage(stores: Stores, aws: Aws) -> None:
    """Of everything something, of a session that goes on and of one that is deleted and counted no more."""
    usage = DynamoUsage(aws.table, stores.clock, aws.dynamodb)
    every = Amounts(*(1 for _ in Amounts._fields))
    of_model = Amounts(1, 1, 1, 1, 1, 1)
    rows = {
        RowKey("tenant", 7): every,
        RowKey("agent", 7, "librarian"): every,
        RowKey("user", 7, "p_acme_ann"): every,
        RowKey("model", 7, "librarian-model"): of_model,
        RowKey("end", 7, "completed/x"): Amounts(runs=1),
    }
    now = counted(make_commit(TENANT, SESSION, 1).head, 1, "p_acme_ann")
    gone = now.model_copy(update={"standing": "deleted"})
    hour = datetime.fromtimestamp(7 * 3_600, UTC)
    usage.add([Fold(UsagePartition(TENANT, SESSION), 0, now)], rows)
    usage.add([Fold(UsagePartition(TENANT, GONE), 0, gone)], {})
    usage.reach(TENANT, hour)


def write_and_delete_a_session(stores: Stores) -> None:
    stores.log.append(make_commit(TENANT, GONE, 1), TransactionItems(erasure=Erasure(TENANT, GONE, NOW)))
    stores.partials.put(TENANT, GONE, PartialReply(key="k", text="One", at=NOW))
    stores.log.note_erasure(Erasure(TENANT, GONE, NOW))
    stores.log.delete(TENANT, GONE)


def test_every_item_is_on_the_page_with_its_attributes(moto_account: Aws) -> None:
    stores = aws_stores(moto_account)
    write_one_of_each(stores, moto_account)
    write_and_delete_a_session(stores)
    count_usage(stores, moto_account)
    DynamoLongPolls(moto_account.table, moto_account.dynamodb).put(LongPolls(0.5), NOW)
    scans = DynamoRecoveryScans(moto_account.table, moto_account.dynamodb)
    for round in ROUNDS:
        scans.put(round, RoundResult(NOW, RoundCounts()))
    scans.put_place(HousekeepingPlace())

    found, documented_kinds = stored(moto_account), documented()

    assert set(found) == set(documented_kinds)
    for kind, sets in found.items():
        for attributes in sets:
            assert attributes in documented_kinds[kind], f"{kind} is written with {attributes}"
        seen = {name for attributes in sets for name in attributes}
        assert {name for attributes in documented_kinds[kind] for name in attributes} == seen, kind


def test_no_kind_of_item_is_made_that_this_test_does_not_write() -> None:
    """Every key the adapters build begins with a letter; a new one has to come onto the page and into this test."""
    letters = set()
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                begins = re.fullmatch(r"#?([A-Z])#.*|([A-Z])", node.value)
                if begins and node.value not in TYPE_NAMES:
                    letters.add(begins[1] or begins[2])
    documented_letters = {
        part[0] for kind in documented() for key in kind for part in key.split("#") if part[0].isalpha()
    }
    assert letters == documented_letters


def test_what_operators_commands_write_is_on_the_page() -> None:
    found = {(code(pk)[0], code(sk)[0]) for _, pk, sk, *_ in rows("item of a command", "pk", "sk")}
    assert found == {(SINCE["pk"]["S"], SINCE["sk"]["S"]), ("T#{tenant}", TOKENS)}


def test_every_object_is_on_the_page(moto_account: Aws) -> None:
    stores = aws_stores(moto_account)
    stores.blobs.put(TENANT, SESSION, "a long text")
    stores.blobs.put_named(TENANT, SESSION, f"reply-{'0' * 64}", "a reply")
    segment = Segment(
        since=1,
        through=32,
        is_whole=True,
        entries=(),
        waiting=(),
        results=(),
        has_waited=False,
    )
    keep_segments(stores.blobs, make_commit(TENANT, SESSION, 1).head, [segment])
    for files, path in ((stores.files, "notes/may.md"), (stores.files.seen_by("ann"), "~/notes/may.md")):
        files.write(TENANT, path, b"notes")

    listed = moto_account.s3.list_objects_v2(Bucket=moto_account.bucket)["Contents"]

    found = {shape(one["Key"]).replace("notes/may.md", "{path}") for one in listed}
    assert found == {code(key)[0] for _, key, *_ in rows("object", "key")}


def test_who_writes_and_reads_an_item_has_the_right_to() -> None:
    described = list(rows("item", "written by", "read by"))
    of_no_tenant = {item for item, pk, *_ in rows("item", "pk", "sk", "attributes") if code(pk) == ["D"]}
    assert of_no_tenant

    def on(item: str, function: str) -> frozenset[str]:
        if item in ADMISSION and GRANTS[function].by_tenant:  # type: ignore[index]
            return rights("admission", function)
        own = item in of_no_tenant and GRANTS[function].by_tenant  # type: ignore[index]
        table = "audit" if item in AUDIT else "table"
        return rights("deployment" if own else table, function)

    for item, writers, readers, _ in described:
        assert code(writers), item
        if USAGE.fullmatch(item):
            assert all(GRANTS[name].usage for name in code(writers)), item  # type: ignore[index]
        elif item in LEASES:
            assert all(GRANTS[name].leases for name in code(writers)), item  # type: ignore[index]
        else:
            assert all("dynamodb:PutItem" in on(item, name) for name in code(writers)), item
        assert all(READS & on(item, name) for name in code(readers)), item
    kinds = {item for item, *_ in rows("item", "pk", "sk", "attributes") if "deleted" not in item}
    assert {item for item, *_ in described} == kinds


def test_who_writes_and_reads_an_object_has_the_right_to() -> None:
    for _, key, writers, readers, _ in rows("object", "key"):
        thing = code(key)[0].partition("/")[0]
        assert all("s3:PutObject" in rights(thing, name) for name in code(writers)), key
        assert all("s3:GetObject" in rights(thing, name) for name in code(readers)), key


def rights(thing: str, function: str) -> frozenset[str]:
    granted: frozenset[str] = getattr(GRANTS[function], thing)  # type: ignore[index]
    return granted
