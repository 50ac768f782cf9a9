"""A tenant comes back out of a backup: its definitions, its sessions, ended, and its files (ADR 79)."""

import gzip
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from acta.engine.agents.agent import AgentDefinition
from acta.engine.log.head import Head
from acta.engine.memories.memory import Memory
from acta.engine.notifications.receiver import TenantReceiver
from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM
from acta.engine.schedules.schedule import Schedule
from acta.engine.sessions.history import History
from acta.engine.tools.mcp.server import McpServer
from acta.engine.tools.tool import LambdaConfig, ToolDefinition, ToolSecret
from acta.engine.triggers.trigger import Trigger
from acta.engine.usage.dynamodb import DynamoUsage, committed_in
from acta.engine.usage.fold import fold
from acta.infra.deployed.tenants.backup import (
    LIST,
    BackupFolder,
    BackupPlace,
    BackupUnusable,
    Bucket,
    NothingThere,
    PartMissing,
    back_up,
)
from acta.infra.deployed.tenants.restore import Restored, restore
from acta.infra.deployed.tenants.stores import TenantStores
from tests.in_process.house import TENANT, USER
from tests.in_process.scripted import call, completes, plans, says, step
from tests.in_process.whole import WholeHistory
from tests.stores.backends import Aws
from tests.tenants.stored_house import Stored, StoredHouse

LONG = "A line that is stored elsewhere.\n" * 200
TURNS = (
    plans("look"),
    says(LONG, call("list_files")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
)
ASKING = (plans("delete"), says("", call("delete_file", path="a.txt")))
OTHER = "acme-restored"


def ended(house: StoredHouse) -> Head:
    session = house.start("Look").session_id
    house.run()
    return house.head(session)


def define(house: StoredHouse) -> None:
    """One of each kind."""
    stores, now = house.stores, house.clock.now()
    stores.definitions.create_agent(
        TENANT, AgentDefinition(agent_id="librarian", name="L", version=1, created_at=now, updated_at=now)
    )
    stores.definitions.tools.create(
        TENANT,
        ToolDefinition(
            name="weigh",
            description="Weighs",
            input_schema={"type": "object"},
            kind="lambda",
            config=LambdaConfig(function="acta-staging-tool-weigh"),
            version=1,
            created_at=now,
            updated_at=now,
        ),
    )
    stores.definitions.servers.create(
        TENANT,
        McpServer(
            name="desk",
            url="https://mcp.example/",
            quotation_key="mcp_1",
            version=1,
            created_at=now,
            updated_at=now,
        ),
    )
    stores.definitions.triggers.create(
        TENANT,
        Trigger(
            name="orders", source="shop", goal="Go", created_by=USER, roles=("admin",), quotation_key="trg_1",
            version=1, created_at=now, updated_at=now,
        ),
    )  # fmt: skip
    prompt = stores.definitions.prompt(TENANT, AGENT_PLANNING_SYSTEM)
    for text in ("update_plan wait_for_user GOAL_COMPLETE, first", "second"):
        new = prompt.next_version(text, None, USER, now)
        stores.definitions.write_prompt(TENANT, prompt, new)
        prompt = new
    stores.memories.add(
        TENANT,
        Memory(
            memory_id="mem_1",
            agent_id="librarian",
            kind="fact",
            text="May",
            created_at=now,
            updated_at=now,
            origin="person",
        ),
    )
    stores.schedules.create(TENANT, schedule(now))
    url = "https://hooks.example.com"
    stores.receivers.put(
        TenantReceiver(tenant=TENANT, url=url, created_at=now, updated_at=now, updated_by=USER)
    )
    stores.secret_names.put(
        TENANT,
        ToolSecret(
            name="stripe",
            created_at=now,
            updated_at=now,
            updated_by=USER,
            hosts=("a.example", "b.example:8443"),
        ),
    )


def schedule(now: datetime) -> Schedule:
    return Schedule(
        schedule_id="nightly", agent_id="librarian", goal="Report of {{date}}", cron="30 2 * * *", created_by=USER,
        roles=("finance", "member"), created_at=now, updated_at=now, next_at=now, last_session="ses_1", failures=2,
        visibility="private", metadata={"team": "ops"},
    )  # fmt: skip


def taken(house: Stored, place: BackupPlace) -> BackupPlace:
    assert back_up(house.stores, TENANT, place, told)["unreadable"] == 0
    return place


def told(what: str, why: str) -> None:
    raise AssertionError(f"{what}: {why}")


def back(stores: TenantStores, place: BackupPlace, tenant: str = OTHER, **more: Any) -> Restored:
    return restore(stores, tenant, place, **more)


def restored_head(house: Stored, session: str, tenant: str = OTHER) -> Head:
    return house.fresh_repository().newest(tenant, session).head


def history(house: StoredHouse, session: str, tenant: str) -> WholeHistory:
    return WholeHistory(History(house.stores.log, house.stores.blobs, tenant, session))


def everything(place: Path) -> str:
    """All that is in a backup, unpacked."""
    parts = [path for path in place.rglob("*") if path.is_file()]
    return "\n".join(
        (gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()).decode()
        for path in parts
    )


def test_a_session_comes_back_with_its_log_and_its_texts_as_it_ended(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    session = ended(house).session_id
    place = taken(house, BackupFolder(tmp_path / "backup"))

    assert back(house.stores, place).sessions == {"restored": 1}

    before, after = house.head(session), restored_head(house, session)
    assert (after.tenant, after.state, after.result) == (OTHER, "completed", before.result)
    assert history(house, session, OTHER).messages(0, 99) == history(house, session, TENANT).messages(0, 99)
    assert history(house, session, OTHER).steps() == history(house, session, TENANT).steps()
    listed = house.stores.index.sessions(OTHER, states=(), agent_id=None, limit=9, cursor=None).entries
    assert [(entry.session_id, entry.state, entry.live) for entry in listed] == [(session, "completed", None)]


def test_a_session_at_work_comes_back_cancelled_and_says_why(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, ASKING)
    session = house.start("Tidy").session_id
    house.run()
    assert house.head(session).state == "waiting_for_user"
    place = taken(house, BackupFolder(tmp_path))

    back(house.stores, place)

    head = restored_head(house, session)
    assert (head.state, head.state_reason) == ("cancelled", "restored")
    assert (head.interventions, head.calls, head.wait, head.lease) == ((), (), None, None)
    assert head.run is not None
    assert head.run.run_id != house.head(session).run.run_id  # type: ignore[union-attr]
    assert house.stores.index.interventions(OTHER, state=None, limit=9, cursor=None).items == ()


def test_neither_tokens_nor_secrets_are_in_a_backup(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, ASKING)
    session = house.start("Tidy").session_id
    house.run()
    define(house)
    wait = house.head(session).wait
    assert wait is not None
    taken(house, BackupFolder(tmp_path))

    assert wait.token not in everything(tmp_path)


def test_a_restored_session_goes_on_with_a_message(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, (*TURNS, *TURNS))
    session = ended(house).session_id
    place = taken(house, BackupFolder(tmp_path))
    house.delete(session)
    house.clock.advance(3_601)
    house.stores.log.end_erasure(TENANT, session)

    assert back(house.stores, place, TENANT).sessions == {"restored": 1}
    house.say(session, "Once more")
    house.run()

    assert house.head(session).state == "completed"
    shown = house.model.requests[-1].entries  # type: ignore[attr-defined]
    assert LONG in [entry.content.loaded for entry in shown]


def test_what_a_session_used_is_not_counted_again(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, (*TURNS, *TURNS))
    session = ended(house).session_id
    back(house.stores, taken(house, BackupFolder(tmp_path)))
    usage = DynamoUsage(aws.table, house.clock, aws.dynamodb)

    def stream() -> Any:
        """The commits of the restored session, as the table's stream tells of them."""
        found = aws.dynamodb.scan(TableName=aws.table)["Items"]
        keys = [{"pk": item["pk"], "sk": item["sk"]} for item in found]
        records = [
            {"eventName": "INSERT", "dynamodb": {"Keys": key}} for key in keys if OTHER in key["pk"]["S"]
        ]
        return committed_in({"Records": records})

    class NoPseudonyms:
        def of(self, tenant: str, subject: str) -> str:
            return subject

    assert fold(usage, NoPseudonyms(), stream()).sessions == 0, "what it used was counted once more"
    assert session


def test_definitions_and_files_come_back(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    define(house)
    house.stored_files.write(TENANT, "reports/may.md", b"May")
    house.stored_files.seen_by(USER).write(TENANT, "~/mine.md", b"mine")
    stores = house.stores

    done = back(stores, taken(house, BackupFolder(tmp_path)))

    assert (done.definitions, done.files) == ({"restored": 8}, {"restored": 2})
    assert (done.secrets, done.webhook) == ({"stripe": ["a.example", "b.example:8443"]}, True)
    assert stores.definitions.agent(OTHER, "librarian") == stores.definitions.agent(TENANT, "librarian")
    assert stores.definitions.tools.all(OTHER) == stores.definitions.tools.all(TENANT)
    assert stores.definitions.servers.all(OTHER) == stores.definitions.servers.all(TENANT) != ()
    (trigger,) = stores.definitions.triggers.all(OTHER)
    (old,) = stores.definitions.triggers.all(TENANT)
    assert trigger == old.model_copy(update={"paused": True}), "nothing starts before an admin has looked"
    versions = stores.definitions.prompt_versions(OTHER, AGENT_PLANNING_SYSTEM, limit=9, cursor=None).versions
    assert [each.content for each in versions[:2]] == [
        "second",
        "update_plan wait_for_user GOAL_COMPLETE, first",
    ]
    assert stores.memories.get(OTHER, "mem_1") == stores.memories.get(TENANT, "mem_1")
    here = stores.schedules.get(OTHER, "nightly")
    assert here is not None
    assert (here.goal, here.created_by, here.metadata, here.visibility) == (
        "Report of {{date}}", USER, {"team": "ops"}, "private",
    )  # fmt: skip
    assert (here.paused, here.roles, here.next_at, here.last_session, here.failures) == (
        True,
        (),
        None,
        "",
        0,
    )
    assert back(stores, BackupFolder(tmp_path)).definitions == {"there already": 8}
    assert house.stored_files.read(OTHER, "reports/may.md") == b"May"
    assert house.stored_files.seen_by(USER).read(OTHER, "~/mine.md") == b"mine"
    receiver = stores.receivers.get(OTHER)
    assert receiver is not None
    assert receiver.url == "https://hooks.example.com"


def test_no_write_of_a_restored_definition_has_the_name_of_an_earlier_one(aws: Aws, tmp_path: Path) -> None:
    """Calls, and what people approved, are bound to that name (`written`)."""
    house = StoredHouse(aws, ())
    define(house)
    place, stores = taken(house, BackupFolder(tmp_path)), house.stores.definitions
    tool, server = stores.tools.get(TENANT, "weigh"), stores.servers.get(TENANT, "desk")
    assert tool is not None
    assert server is not None
    stores.tools.delete(TENANT, tool)
    stores.servers.delete(TENANT, server)
    house.clock.advance(3_600)
    back(house.stores, place, TENANT)
    for old, new in (
        (tool, stores.tools.get(TENANT, "weigh")),
        (server, stores.servers.get(TENANT, "desk")),
    ):
        assert new is not None
        assert new == old.model_copy(update={"created_at": new.created_at})
        assert old.written != new.written
        assert old.model_copy(update={"version": 2}).written != new.model_copy(update={"version": 2}).written

    now = stores.tools.get(TENANT, "weigh")
    assert now is not None
    stores.tools.replace(TENANT, now, now.model_copy(update={"version": 2, "description": "Weighs more"}))
    back(house.stores, place, TENANT, replace=True)
    last = stores.tools.get(TENANT, "weigh")
    assert last is not None
    assert last.written not in {tool.written, now.written, f"2/{now.created_at.isoformat()}"}


def test_a_restore_may_be_repeated(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    ended(house)
    define(house)
    house.stored_files.write(TENANT, "a.md", b"A")
    place = taken(house, BackupFolder(tmp_path))
    back(house.stores, place)
    before = aws.dynamodb.scan(TableName=aws.table)["Items"]

    again = back(house.stores, place, replace=True)

    assert again.sessions == again.files == {"there already": 1}
    assert again.definitions == {"there already": 8}
    assert aws.dynamodb.scan(TableName=aws.table)["Items"] == before


def test_what_is_there_is_left_unless_it_shall_be_replaced(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    define(house)
    house.stored_files.write(TENANT, "a.md", b"before")
    place, stores = taken(house, BackupFolder(tmp_path)), house.stores
    house.stored_files.write(TENANT, "a.md", b"after")
    agent = stores.definitions.agent(TENANT, "librarian")
    assert agent is not None
    stores.definitions.replace_agent(TENANT, agent, agent.model_copy(update={"name": "Later", "version": 2}))

    left = back(stores, place, TENANT)
    assert (left.files, left.definitions["left as it is"]) == ({"left as it is": 1}, 1)
    assert house.stored_files.read(TENANT, "a.md") == b"after"

    replaced = back(stores, place, TENANT, replace=True)
    assert (replaced.files, replaced.definitions["replaced"]) == ({"replaced": 1}, 1)
    assert house.stored_files.read(TENANT, "a.md") == b"before"
    now = stores.definitions.agent(TENANT, "librarian")
    assert now is not None
    assert (now.name, now.version) == ("L", 3)


def test_a_session_that_nobody_touched_since_is_there_already(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, (*ASKING, *TURNS))
    waiting = house.start("Tidy").session_id
    house.run()
    before = house.head(waiting)
    place = taken(house, BackupFolder(tmp_path))

    assert back(house.stores, place, TENANT).sessions == {"there already": 1}
    assert house.head(waiting) == before


def test_of_a_tenant_of_which_nothing_is_stored_no_backup_is_taken(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    ended(house)

    with pytest.raises(NothingThere):
        back_up(house.stores, "acmee", BackupFolder(tmp_path / "none"), told)
    assert not (tmp_path / "none").exists()
    house.stored_files.write("acmee", "a.md", b"A")
    assert back_up(house.stores, "acmee", BackupFolder(tmp_path / "some"), told)["files"] == 1


def test_a_session_that_is_there_is_never_replaced(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, (*TURNS, *TURNS))
    session = ended(house).session_id
    place = taken(house, BackupFolder(tmp_path))
    house.say(session, "Once more")
    house.run()
    before = house.head(session)

    assert back(house.stores, place, TENANT, replace=True).sessions == {"left as it is": 1}
    assert house.head(session) == before


def test_the_rest_of_a_deleted_session_stops_it_for_an_hour(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    session = ended(house).session_id
    place = taken(house, BackupFolder(tmp_path))
    house.delete(session)
    stores = house.stores

    assert back(stores, place, TENANT).sessions == {"deleted lately": 1}
    house.clock.set(house.clock.now() + timedelta(hours=1, seconds=1))
    assert back(stores, place, TENANT).sessions == {"deleted lately": 1}, "it would be erased once more"
    stores.log.end_erasure(TENANT, session)
    assert back(stores, place, TENANT).sessions == {"restored": 1}
    assert house.head(session).state == "completed"


class Crash(BaseException):
    """The machine is gone."""


class DyingClient:
    """DynamoDB until it has been written to so often."""

    def __init__(self, client: Any, writes: int) -> None:
        self._client = client
        self._left = writes

    def __getattr__(self, name: str) -> Any:
        if name in ("put_item", "transact_write_items"):
            self._left -= 1
            if self._left < 0:
                raise Crash
        return getattr(self._client, name)


def test_a_restore_that_was_cut_short_goes_on_and_shows_nothing_half_done(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    session = ended(house).session_id
    place, stores = taken(house, BackupFolder(tmp_path)), house.stores
    writes = 0
    while True:
        dying = TenantStores(stores.names, DyingClient(aws.dynamodb, writes), aws.s3, house.clock)
        try:
            outcome = back(dying, place, f"other-{writes}").sessions
        except Crash:
            tenant = f"other-{writes}"
            page = stores.index.sessions(tenant, states=(), agent_id=None, limit=9, cursor=None)
            assert page.entries == (), "a session that is half there is listed"
            newest = stores.log.latest(tenant, session)
            assert newest is None or newest.head.is_over
            assert back(stores, place, tenant).sessions == {"restored": 1}
            assert history(house, session, tenant).messages(0, 99) == history(
                house, session, TENANT
            ).messages(0, 99)
            writes += 1
        else:
            assert outcome == {"restored": 1}
            break
    assert writes > 5


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/hostname", "sessions/../../outside", "link", "sessions/"]
)
def test_a_part_that_a_backup_names_outside_of_its_folder_is_not_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"x")
    folder = tmp_path / "backup"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(PartMissing):
        BackupFolder(folder).read(name)
    with pytest.raises(ValueError, match="here"):
        BackupFolder(folder).write(name, b"y")
    assert (tmp_path / "outside").read_bytes() == b"x"


def test_a_damaged_backup_is_refused(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    ended(house)
    place = taken(house, BackupFolder(tmp_path))
    (part,) = (tmp_path / "sessions").iterdir()
    whole = part.read_bytes()

    part.write_bytes(whole[:-1] + b"x")
    with pytest.raises(BackupUnusable, match="hash differs"):
        back(house.stores, place)
    part.unlink()
    with pytest.raises(BackupUnusable, match="is missing"):
        back(house.stores, place)
    part.write_bytes(whole)

    text = (tmp_path / LIST).read_text()
    (tmp_path / LIST).write_text("\n".join(text.splitlines()[:-1]))
    with pytest.raises(BackupUnusable, match="damaged or cut off"):
        back(house.stores, place)
    (tmp_path / LIST).unlink()
    with pytest.raises(BackupUnusable, match="not finished"):
        back(house.stores, place)
    (tmp_path / LIST).write_text(text.replace('"acta_backup":1', '"acta_backup":2'))
    with pytest.raises(BackupUnusable, match="format 2"):
        back(house.stores, place)


def test_a_backup_in_a_bucket_is_the_same_one(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    ended(house)
    house.stored_files.write(TENANT, "a.md", b"A")
    aws.s3.create_bucket(Bucket="backups")
    in_bucket = taken(house, Bucket(aws.s3, "backups", "acme/may", "123456789012"))
    taken(house, BackupFolder(tmp_path))
    keys = [each["Key"] for each in aws.s3.list_objects_v2(Bucket="backups")["Contents"]]
    parts = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert [key.removeprefix("acme/may/") for key in keys] == parts
    assert back(house.stores, in_bucket).sessions == {"restored": 1}


def test_a_session_that_cannot_be_read_is_named_and_left_out(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, (*TURNS, *TURNS))
    damaged, sound = ended(house).session_id, ended(house).session_id
    item = next(
        each
        for each in aws.dynamodb.scan(TableName=aws.table)["Items"]
        if each["pk"]["S"].endswith(damaged) and each["sk"]["S"] == "C#0000000002"
    )
    aws.dynamodb.put_item(TableName=aws.table, Item={**item, "z": {"B": b"damaged"}})
    named: list[str] = []
    counts = back_up(house.stores, TENANT, BackupFolder(tmp_path), lambda session, _: named.append(session))
    assert (counts["sessions"], counts["unreadable"], named) == (1, 1, [damaged])
    back(house.stores, BackupFolder(tmp_path))
    assert restored_head(house, sound).state == "completed"


def test_a_tool_and_a_server_that_cannot_be_read_are_named_and_left_out(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    define(house)
    for item in aws.dynamodb.scan(TableName=aws.table)["Items"]:
        if item["sk"]["S"] in ("F#weigh", "MCP#desk"):
            aws.dynamodb.put_item(TableName=aws.table, Item={**item, "z": {"B": b"damaged"}})
    named: list[str] = []
    counts = back_up(house.stores, TENANT, BackupFolder(tmp_path), lambda what, _: named.append(what))
    assert (counts["unreadable"], named) == (2, ["tool weigh", "MCP server desk"])
    back(house.stores, BackupFolder(tmp_path))
    assert house.stores.definitions.agent(OTHER, "librarian") is not None
    assert house.stores.definitions.tools.all(OTHER) == ()


def test_a_tenant_of_which_only_a_damaged_tool_is_stored_is_there(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    define(house)
    for item in aws.dynamodb.scan(TableName=aws.table)["Items"]:
        key = {name: item[name] for name in ("pk", "sk")}
        aws.dynamodb.delete_item(TableName=aws.table, Key=key)
        if item["sk"]["S"] == "F#weigh":
            aws.dynamodb.put_item(TableName=aws.table, Item={**item, "z": {"B": b"damaged"}})
    counts = back_up(house.stores, TENANT, BackupFolder(tmp_path), lambda *_: None)
    assert (counts["unreadable"], counts["definitions"]) == (1, 0)


def test_the_list_says_whose_backup_it_is(aws: Aws, tmp_path: Path) -> None:
    house = StoredHouse(aws, TURNS)
    house.stored_files.write(TENANT, "a.md", b"A")
    taken(house, BackupFolder(tmp_path))
    about = json.loads((tmp_path / LIST).read_text().splitlines()[0])
    assert (about["tenant"], about["environment"], about["acta_backup"]) == (TENANT, "staging", 1)
