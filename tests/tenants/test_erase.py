"""Nothing of a tenant, or of a person in it, is left once it is erased (ADR 86)."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from moto import mock_aws

from acta.cli.operations.stored import erased_lines
from acta.engine.aws.clients import Service, make_client
from acta.engine.memories.memory import Memory, Source
from acta.engine.people.requester import Requester
from acta.engine.queue.dynamodb import DynamoAdmission
from acta.engine.queue.places import GrantPrice, QueuePlace
from acta.engine.schedules.schedule import Schedule
from acta.engine.sessions.control import rate_answer
from acta.engine.store.keys import notification_secrets_prefix
from acta.engine.store.schema import CURRENT
from acta.engine.tools.secret_reader import ToolSecretStore
from acta.engine.triggers.trigger import Trigger
from acta.engine.usage.dynamodb import DynamoUsage, committed_in
from acta.engine.usage.fold import fold
from acta.infra.deployed.tenants.erase import (
    Eraser,
    delete_items,
    erase_tenant,
    erase_user,
    eraser_of,
)
from acta.infra.deployed.users import Users
from tests.in_process.house import TENANT, USER
from tests.stores.backends import Aws
from tests.stores.documents import NOW
from tests.tenants.stored_house import AUDIT, StoredHouse
from tests.tenants.test_backup import ASKING, TURNS, define, ended

OTHERS = f"{TENANT}-2"
"""A tenant whose name begins with the same letters."""


class Pool:
    """A user pool that answers one user at a time."""

    def __init__(self) -> None:
        self.users: dict[str, dict[str, str]] = {}

    def add(self, name: str, tenant: str, subject: str) -> None:
        self.users[name] = {"custom:tenant": tenant, "sub": subject}

    def list_users(self, UserPoolId: str, Limit: int, PaginationToken: str = "0") -> dict[str, Any]:  # noqa: N803
        names = sorted(self.users)
        at = int(PaginationToken)
        found = [
            {
                "Username": name,
                "Attributes": [{"Name": key, "Value": value} for key, value in self.users[name].items()],
            }
            for name in names[at : at + 1]
        ]
        return {"Users": found} | ({"PaginationToken": str(at + 1)} if at + 1 < len(names) else {})

    def admin_delete_user(self, UserPoolId: str, Username: str) -> dict[str, Any]:  # noqa: N803
        del self.users[Username]
        return {}


@pytest.fixture(scope="module")
def secretsmanager() -> Any:
    """Made once: a client reads all that the service has to offer."""
    with mock_aws():
        return make_client(
            "secretsmanager",
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )


class NoPseudonyms:
    def of(self, tenant: str, subject: str) -> str:
        return subject


class Deployment:
    """A tenant with one of everything, beside another one."""

    def __init__(self, aws: Aws, secretsmanager: Any) -> None:
        self.aws = aws
        aws.dynamodb.create_table(
            TableName=AUDIT,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
        )
        self.secretsmanager, self.pool = secretsmanager, Pool()
        self.house = StoredHouse(aws, (*TURNS, *ASKING, *TURNS))
        self.eraser = Eraser(
            self.house.stores,
            self.house.workflow,
            Service("secretsmanager", self.secretsmanager),
            Users("eu-west-1_abc", self.pool),
        )

    def fill(self) -> tuple[str, str]:
        """The ids of a session that has ended and of one that waits for a person."""
        house = self.house
        first = ended(house).session_id
        waiting = house.start("Tidy").session_id
        house.run()
        define(house)
        for tenant in (TENANT, OTHERS):
            house.stored_files.write(tenant, "a.md", b"A")
            house.stored_files.write(tenant, "a.md", b"B")
            house.stored_files.seen_by(USER).write(tenant, "~/mine.md", b"mine")
            ToolSecretStore("staging", client=self.secretsmanager).put(tenant, "stripe", "sk")
            notify = ToolSecretStore(
                "staging", client=self.secretsmanager, prefix=notification_secrets_prefix
            )
            notify.put(tenant, "webhook", "whsec")
            self.pool.add(f"ann@{tenant}.example", tenant, f"sub-of-{tenant}")
        found = self.aws.dynamodb.scan(TableName=self.aws.table)["Items"]
        records = [{"eventName": "INSERT", "dynamodb": {"Keys": item}} for item in found]
        fold(
            DynamoUsage(self.aws.table, house.clock, self.aws.dynamodb),
            NoPseudonyms(),
            committed_in({"Records": records}),
        )
        now, admission = house.clock.now(), DynamoAdmission(self.aws.table, self.aws.dynamodb)
        for provider, last in (("anthropic", TENANT), ("openai", OTHERS)):
            for tenant in (TENANT, OTHERS):
                place = QueuePlace(provider, tenant, waiting, now, 100)
                admission.join(place, now, now + timedelta(minutes=1))
            admission.take_for(last, provider, GrantPrice(60_000, 1_000), now)
        other = StoredHouse(self.aws, TURNS)
        other.stores.memories.add(OTHERS, memory("mem_other", USER))
        return first, waiting

    def left(self, tenant: str = TENANT) -> list[str]:
        """All that names the tenant, in whatever store, but the audit trail."""
        marks = (f'"{tenant}"', f"#{tenant}#", f'T#{tenant}"')
        items = [
            f"T#{tenant} in {item['pk']['S']} {item['sk']['S']}"
            for item in self.items()
            if any(each in json.dumps(item, default=repr) for each in marks)
        ]
        versions = self.aws.s3.list_object_versions(Bucket=self.aws.bucket)
        objects = [each["Key"] for kind in ("Versions", "DeleteMarkers") for each in versions.get(kind, ())]
        secrets = [each["Name"] for each in self.secretsmanager.list_secrets()["SecretList"]]
        mine = (f"T#{tenant} ", f"T#{tenant}#", f"files/{tenant}/", f"sessions/{tenant}/", f"/{tenant}/")
        named = [each for each in (*items, *objects, *secrets) if any(one in each for one in mine)]
        return named + [user for user in self.pool.users if f"@{tenant}." in user]

    def items(self) -> Iterator[Any]:
        more: dict[str, Any] = {}
        while True:
            answer = self.aws.dynamodb.scan(TableName=self.aws.table, **more)
            yield from answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            more = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def audited(self) -> list[tuple[str, str]]:
        found = [json.loads(item["j"]["S"]) for item in self.aws.dynamodb.scan(TableName=AUDIT)["Items"]]
        return sorted((each["action"], each["details"].get("session_id", "")) for each in found)


def schedule(user: str) -> Schedule:
    return Schedule(
        schedule_id=f"of-{user}", agent_id="default", goal="x", every="1 day", created_by=user, created_at=NOW,
        updated_at=NOW, next_at=NOW,
    )  # fmt: skip


def memory(memory_id: str, user: str) -> Memory:
    source = Source(user=user)
    return Memory(
        memory_id=memory_id,
        agent_id="default",
        kind="fact",
        text="x",
        created_at=NOW,
        updated_at=NOW,
        source=source,
        origin="person",
    )


@pytest.fixture
def deployment(aws: Aws, secretsmanager: Any) -> Deployment:
    return Deployment(aws, secretsmanager)


def test_nothing_of_a_tenant_is_left_in_any_store(deployment: Deployment) -> None:
    first, waiting = deployment.fill()
    others = deployment.left(OTHERS)
    assert len(deployment.left()) > 30

    receipt = erase_tenant(deployment.eraser, TENANT)

    assert (receipt.removed["sessions"], receipt.removed["users"], receipt.removed["secrets"]) == (2, 1, 2)
    assert receipt.removed["objects"] == 3, "earlier versions count, too"
    assert receipt.until is not None
    here = f"T#{TENANT} in T#{TENANT}"
    late = (f"{here}#S#{first} ", f"{here}#S#{waiting} ")
    tokens = f"{here} Q"
    assert all(each.startswith((*late, tokens)) for each in deployment.left()), (
        "more is left than what stops late workers"
    )

    deployment.house.blobs.put(TENANT, waiting, "what a late worker has stored")
    deployment.house.clock.set(receipt.until)
    again = erase_tenant(deployment.eraser, TENANT)

    assert again.until is None
    assert deployment.left() == []
    assert deployment.left(OTHERS) == others, "another tenant has lost something"
    assert deployment.audited() == [
        ("session.delete", first),
        ("session.delete", waiting),
        *[("tenant.erase", "")] * 6,
    ], "both times before it began, before the items went and when it had ended"


def test_an_erasure_that_was_cut_short_is_repeated(deployment: Deployment) -> None:
    deployment.fill()

    class Crash(BaseException):
        """The machine is gone."""

    class Dying:
        def __init__(self, client: Any, left: int) -> None:
            self._client, self._left = client, left

        def __getattr__(self, name: str) -> Any:
            if name in ("put_item", "transact_write_items", "batch_write_item", "delete_item"):
                self._left -= 1
                if self._left < 0:
                    raise Crash
            return getattr(self._client, name)

    stores, crashes = deployment.house.stores, 0
    for left in range(40):
        dying = Dying(deployment.aws.dynamodb, left % 5 + 1)
        weak = deployment.eraser._replace(stores=type(stores)(stores.names, dying, stores.s3, stores.clock))
        try:
            erase_tenant(weak, TENANT)
        except Crash:
            crashes += 1
    deployment.house.clock.advance(3_601)
    assert erase_tenant(deployment.eraser, TENANT).until is None
    assert crashes > 5
    assert deployment.left() == []


def test_a_session_that_begins_meanwhile_is_asked_for_once_more(deployment: Deployment) -> None:
    """A token that is valid still starts it after the listing; its worker commits once more after the erasure."""
    house, eraser = deployment.house, deployment.eraser

    class LateStart:
        """Secrets are looked for after sessions and texts were deleted."""

        def __init__(self) -> None:
            self.session_id = ""

        def list_secrets(self, **_: Any) -> dict[str, Any]:
            self.session_id = self.session_id or house.start("Late").session_id
            return {"SecretList": []}

    late = LateStart()
    meanwhile = eraser._replace(users=None, secrets=Service("secretsmanager", late))
    first = erase_tenant(meanwhile, TENANT)
    assert first.until == house.clock.now() + timedelta(minutes=20)

    house.blobs.put(TENANT, late.session_id, "what a late worker has stored")
    house.clock.set(first.until)
    second = erase_tenant(meanwhile, TENANT)
    assert second.until is None
    assert deployment.left() == []


def test_a_commit_of_a_late_worker_is_asked_for_once_more(deployment: Deployment) -> None:
    house = deployment.house
    session = house.start("Late").session_id
    commit = house.log.latest(TENANT, session)
    assert commit is not None
    delete_items(house.stores, TENANT)
    house.log.append(commit.model_copy(update={"number": commit.number + 1, "key": "late/worker"}))

    assert erase_tenant(deployment.eraser, TENANT).until == house.clock.now() + timedelta(minutes=20)
    house.clock.advance(1_200)
    assert erase_tenant(deployment.eraser, TENANT).until is None
    assert deployment.left() == []


def test_tokens_of_removed_users_are_outlived(deployment: Deployment) -> None:
    """Also where the command is run again too early, and finds no user any more."""
    house = deployment.house
    eraser = deployment.eraser._replace(token_life=timedelta(minutes=90))
    for name in ("ann", "bob"):
        deployment.pool.add(f"{name}@{TENANT}.example", TENANT, name)
    over = house.clock.now() + timedelta(minutes=90)

    person = erase_user(eraser, TENANT, "ann")
    assert person.removed["users"] == 1
    assert person.until is not None
    assert over <= person.until < over + timedelta(seconds=2)
    house.clock.advance(60)
    again = erase_user(eraser, TENANT, "ann")
    assert (again.removed["users"], again.until) == (0, person.until), "a token of theirs is still valid"
    over = house.clock.now() + timedelta(minutes=90)
    first = erase_tenant(eraser, TENANT).until
    assert first is not None
    assert first >= over
    house.clock.advance(1_800)
    assert erase_tenant(eraser, TENANT).until == first
    house.clock.set(first)
    assert erase_tenant(eraser, TENANT).until is None
    assert deployment.left() == []


def test_a_removed_person_s_tokens_are_outlived(deployment: Deployment) -> None:
    deployment.pool.add(f"ann@{TENANT}.example", TENANT, "ann")
    until = erase_user(deployment.eraser, TENANT, "ann").until
    assert until is not None
    deployment.house.clock.set(until)
    assert erase_user(deployment.eraser, TENANT, "ann").until is None


def test_run_again_the_time_goes_on_where_it_was(deployment: Deployment) -> None:
    """Too early, and when `recover` has erased the sessions a second time."""
    first, waiting = deployment.fill()
    eraser, house = deployment.eraser._replace(users=None), deployment.house
    until = erase_tenant(eraser, TENANT).until
    assert until is not None
    house.clock.advance(600)
    assert erase_tenant(eraser, TENANT).until == until
    for session in (first, waiting):
        house.log.delete(TENANT, session)
    house.clock.set(until)
    assert erase_tenant(eraser, TENANT).until is None


def trigger(name: str, writer: str) -> Trigger:
    return Trigger(
        name=name, source="shop", goal="Go", created_by=writer, roles=("admin",), quotation_key="trg_1", version=1,
        created_at=datetime(2026, 1, 1, tzinfo=UTC), updated_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip


def test_a_person_leaves_and_takes_what_is_theirs(deployment: Deployment) -> None:
    first, waiting = deployment.fill()
    house = deployment.house
    house.user = "bob"
    bobs = ended(house).session_id
    house.user = USER
    house.say(bobs, "And this?")
    stores = house.stores
    stores.memories.add(TENANT, memory("mem_ann", USER))
    stores.memories.add(TENANT, memory("mem_bob", "bob"))
    for who in (USER, "bob"):
        stores.schedules.create(TENANT, schedule(who))
    for name, writer in (("anns", USER), ("bobs", "bob")):
        stores.definitions.triggers.create(TENANT, trigger(name, writer))
    receipt = erase_user(deployment.eraser, TENANT, USER)

    assert receipt.removed == {
        "users": 0,
        "sessions": 2,
        "objects": 1,
        "memories": 1,
        "schedules": 2,
        "triggers": 2,
    }
    assert [each.created_by for each in stores.schedules.all(TENANT)] == ["bob"]
    assert [each.name for each in stores.definitions.triggers.all(TENANT)] == ["bobs"]
    assert receipt.wrote_to == (bobs,)
    assert receipt.looked_at == {"users": 1, "sessions": 3, "memories": 3, "schedules": 3}
    listed = stores.index.sessions(TENANT, states=(), agent_id=None, limit=9, cursor=None).entries
    assert [entry.session_id for entry in listed] == [bobs]
    assert stores.memories.get(TENANT, "mem_ann") is None
    assert stores.memories.get(TENANT, "mem_bob") is not None
    assert house.stored_files.read(TENANT, "a.md") == b"B"
    assert {first, waiting} == {
        session for action, session in deployment.audited() if action == "session.delete"
    }
    assert erase_user(deployment.eraser, TENANT, f"sub-of-{TENANT}").removed["users"] == 1


def test_sessions_with_a_comment_of_the_person_on_an_answer_are_named(deployment: Deployment) -> None:
    first, _ = deployment.fill()
    rate_answer(
        deployment.house.repository, Requester(TENANT, "bob"), first, "down", comment="Call me: 555 01"
    )
    assert erase_user(deployment.eraser, TENANT, "bob").wrote_to == (first,)


def test_users_of_a_pool_that_is_not_acta_s_are_never_deleted() -> None:
    """An issuer of the operator's own may be a Cognito pool, too, which other applications sign people in with."""
    outputs = {
        "Issuer": "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_company",
        "ReadsVersion": str(CURRENT),
        "TableName": "t",
        "BucketName": "b",
        "SessionBucketName": "s",
        "AuditTableName": AUDIT,
        "StateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:acta-prod",
    }

    def eraser(more: dict[str, str]) -> Eraser:
        class Told:
            def describe_stacks(self, StackName: str) -> dict[str, Any]:  # noqa: N803
                told = [
                    {"OutputKey": key, "OutputValue": value} for key, value in {**outputs, **more}.items()
                ]
                return {
                    "Stacks": [{"StackName": StackName, "StackStatus": "UPDATE_COMPLETE", "Outputs": told}]
                }

        class Caller:
            environment = "prod"

            def client(self, name: str) -> Any:
                return Told() if name == "cloudformation" else object()

        return eraser_of(Caller())  # type: ignore[arg-type]

    assert eraser({}).users is None
    assert eraser({"UserPoolId": "eu-west-1_acta"}).users is not None


def test_what_a_late_worker_of_a_person_wrote_is_removed_once_none_can_live(deployment: Deployment) -> None:
    """A tool may have keys to private files for minutes after its session was deleted; `recover` looks at sessions."""
    house, eraser = deployment.house, deployment.eraser._replace(users=None)
    house.start("Tidy")
    until = erase_user(eraser, TENANT, USER).until
    assert until is not None
    assert house.clock.now() + timedelta(minutes=20) <= until
    house.clock.advance(600)
    assert erase_user(eraser, TENANT, USER).until == until, "a later run does not change the time"

    house.stored_files.seen_by(USER).write(TENANT, "~/diary.md", b"private")
    house.stores.memories.add(TENANT, memory("mem_late", USER))
    house.clock.set(until)
    last = erase_user(eraser, TENANT, USER)
    assert (last.until, last.removed["objects"], last.removed["memories"]) == (None, 1, 1)


def test_of_a_person_whom_nobody_knows_it_is_said_what_was_looked_at(deployment: Deployment) -> None:
    deployment.fill()
    receipt = erase_user(deployment.eraser, TENANT, f"ann@{TENANT}.example")
    said = list(erased_lines(receipt, TENANT, f"ann@{TENANT}.example"))
    assert said[0].endswith("nothing was there")
    assert said[1] == f"looked at in {TENANT}: sessions 2, memories 1, schedules 1, users 1"
    assert "sub of their tokens" in said[2]
