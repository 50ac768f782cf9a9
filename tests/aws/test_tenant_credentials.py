"""One tenant at a time: what is bound decides which keys a request is signed with, and the store what they reach."""

import json
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from random import Random
from string import ascii_letters, ascii_lowercase, digits, punctuation
from threading import Barrier, Thread
from typing import Any, NamedTuple

import pytest

from acta.engine.api.identity import MAX_CHARS
from acta.engine.app import App
from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.aws.tenant_credentials import TENANTS_KEPT, secrets_policy, session_name, session_policy
from acta.engine.bound_tenant import as_deployment, bound, bound_to, carried, tenant_hash
from acta.engine.errors import (
    AwsDenied,
    SessionPolicyTooLarge,
    StoreThrottled,
    StoreUnavailable,
    TransientError,
)
from acta.engine.files.s3 import S3FileStore
from acta.engine.files.store import FileMissing
from acta.engine.files.tool_credentials import private_files_policy, shared_files_policy
from acta.engine.limits.dynamodb import DynamoLongPolls
from acta.engine.limits.long_polls import LongPollLimit
from acta.engine.log.commit import Position
from acta.engine.log.dynamodb import DynamoLog, DynamoPartials
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import IndexEntry, TransactionItems
from acta.engine.settings import Settings
from acta.engine.store.keys import FILES, MAX_TENANT_BYTES, tenant_prefix
from acta.engine.turn.running_text import RunningText
from acta.engine.untrusted.path import private_folder
from acta.testing.clock import FakeClock
from tests.api.gateway import Gateway, api_of, claims
from tests.doubles.iam.account import Account, Role
from tests.doubles.iam.requests import LEADING_KEYS
from tests.stores.backends import Aws
from tests.stores.documents import make_commit

pytestmark = pytest.mark.contract

BASE, NARROWED = "arn:aws:iam::123456789012:role/status", "arn:aws:iam::123456789012:role/status-tenant"
CLOCK = FakeClock()


def allowing(*actions: str, resource: str = "*", **condition: object) -> list[dict[str, Any]]:
    statement = {"Effect": "Allow", "Action": list(actions), "Resource": resource, "Condition": condition}
    return [{"Version": "2012-10-17", "Statement": [statement]}]


DATA = [*allowing("dynamodb:*", Null={LEADING_KEYS: "false"}), *allowing("s3:*")]
"""As the role of each function: the session policy says which keys, the role that there are some."""


class Function(NamedTuple):
    """A worker of one function in an account that enforces IAM."""

    account: Account
    dynamodb: Any
    s3: Any
    table: str
    bucket: str

    @property
    def log(self) -> DynamoLog:
        return DynamoLog(self.table, CLOCK, self.dynamodb)

    @property
    def files(self) -> S3FileStore:
        return S3FileStore(self.bucket, self.s3)

    @property
    def blobs(self) -> S3Blobs:
        return S3Blobs(self.bucket, self.s3)

    def reads(self, tenant: str) -> None:
        self.log.latest(tenant, "ses_1")


def function_in(aws: Aws) -> Function:
    account = Account(
        Role(BASE, allowing("sts:AssumeRole", resource=NARROWED)),
        Role(NARROWED, DATA, trusts=BASE),
    )
    credentials = account.credentials(NARROWED, account.running_as(BASE), aws.bucket, aws.bucket)
    dynamodb, s3 = (account.client(service, credentials) for service in ("dynamodb", "s3"))
    return Function(account, dynamodb, s3, aws.table, aws.bucket)


@pytest.fixture
def function(moto_account: Aws) -> Function:
    return function_in(moto_account)


@pytest.fixture
def account(function: Function) -> Account:
    return function.account


def test_requests_are_signed_for_the_tenant_that_is_bound_and_otherwise_by_the_function_itself(
    function: Function, account: Account, tenant: str
) -> None:
    with bound_to(tenant):
        function.reads(tenant)
    with pytest.raises(AwsDenied):
        function.reads(tenant)
    assert account.signed == [(NARROWED, "dynamodb:Query"), (BASE, "dynamodb:Query")]


def test_sts_is_asked_once_for_a_tenant_whatever_is_done_for_it(
    function: Function, account: Account, tenant: str
) -> None:
    for _ in range(3):
        with bound_to(tenant):
            function.reads(tenant)
            function.files.write(tenant, "a.md", b"x")
    with bound_to("another"):
        function.reads("another")
    with bound_to(tenant):
        function.reads(tenant)

    assert [asked["RoleSessionName"] for asked in account.assumed] == [f"t-{tenant}", "t-another"]
    assert {asked["RoleArn"] for asked in account.assumed} == {NARROWED}
    assert account.assumed[0]["Policy"] == session_policy(tenant, "aws", function.bucket, function.bucket)
    assert account.assumed[0]["DurationSeconds"] == "3600"


def test_threads_that_begin_together_ask_once(function: Function, account: Account, tenant: str) -> None:
    together = Barrier(4)

    def read() -> None:
        together.wait(30)
        function.reads(tenant)

    with ThreadPoolExecutor(4) as pool, bound_to(tenant):
        for done in [pool.submit(carried(read)) for _ in range(4)]:
            done.result()
    assert len(account.assumed) == 1


def test_an_invocation_begins_with_keys_that_outlast_it_and_keeps_them_to_its_end(
    function: Function, account: Account, tenant: str
) -> None:
    """So what it has paid for is stored, also when STS goes away meanwhile."""
    account.lasting = timedelta(minutes=15)
    with bound_to(tenant):
        function.reads(tenant)
        function.reads(tenant)
    assert len(account.assumed) == 1
    account.lasting = timedelta(minutes=17)
    for _ in range(2):
        with bound_to(tenant):
            function.reads(tenant)
    assert len(account.assumed) == 2


def test_keys_are_kept_of_so_many_tenants_and_of_those_that_were_seen_last(
    function: Function, account: Account
) -> None:
    def work_for(number: int) -> int:
        before = len(account.assumed)
        with bound_to(f"t{number}"):
            function.reads(f"t{number}")
        return len(account.assumed) - before

    assert sum(map(work_for, range(TENANTS_KEPT))) == TENANTS_KEPT
    assert work_for(0) == 0
    assert work_for(TENANTS_KEPT) == 1
    assert (work_for(0), work_for(1)) == (0, 1)


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        ((403, "AccessDenied"), AwsDenied),
        ((403, "RegionDisabledException"), AwsDenied),
        ((400, "PackedPolicyTooLarge"), SessionPolicyTooLarge),
        ((400, "MalformedPolicyDocument"), AwsDenied),
        ((400, "Throttling"), StoreThrottled),
        ((500, "InternalFailure"), StoreUnavailable),
        ((503, "ServiceUnavailable"), StoreUnavailable),
    ],
)
def test_without_keys_nothing_is_asked_of_the_store_and_the_session_waits_as_without_the_store(
    function: Function, account: Account, tenant: str, answer: tuple[int, str], seen: type[TransientError]
) -> None:
    account.sts_answers = [answer]
    with bound_to(tenant):
        with pytest.raises(seen) as raised:
            function.reads(tenant)
        assert raised.type is seen
        assert account.signed == []
        function.reads(tenant)  # and goes on when it is over


def test_how_full_each_policy_is_is_a_metric_also_where_sts_refuses_it_for_its_size(
    function: Function,
    account: Account,
    tenant: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", tenant)  # a logger writes to the stdout of its first day
    account.packed = 87
    account.sts_answers = [(400, "PackedPolicyTooLarge")]
    with bound_to(tenant):
        with pytest.raises(SessionPolicyTooLarge):
            function.reads(tenant)
        function.reads(tenant)
        function.reads(tenant)

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["PackedPolicySize"] for line in lines] == [101, 87]
    for line in lines:
        (metric,) = line["_aws"]["CloudWatchMetrics"]
        assert metric["Dimensions"] == [[]]
        assert metric["Metrics"] == [{"Name": "PackedPolicySize", "Unit": "Percent"}]
        assert line["tenant_hash"] == tenant_hash(tenant)


def test_an_outage_of_sts_is_not_felt_where_the_keys_are_there(
    function: Function, account: Account, tenant: str
) -> None:
    with bound_to(tenant):
        function.reads(tenant)
        account.sts_answers = [(503, "ServiceUnavailable")] * 9
        function.files.write(tenant, "a.md", b"x")
    with bound_to(tenant):
        function.reads(tenant)


def test_keys_that_were_withdrawn_are_asked_for_anew_by_the_next_attempt(
    function: Function, account: Account, tenant: str
) -> None:
    with bound_to(tenant):
        function.reads(tenant)
        account.withdraw()
        with pytest.raises(AwsDenied):
            function.reads(tenant)
        function.reads(tenant)
    assert len(account.assumed) == 2


Attempt = Callable[[Function, str], object]
ATTEMPTS: dict[str, Attempt] = {
    "read a log": lambda function, whose: function.log.read(whose, "ses_1", 1),
    "append to it": lambda function, whose: function.log.append(make_commit(whose, "ses_1", 1)),
    "append in a transaction": lambda function, whose: function.log.append(
        make_commit(whose, "ses_1", 1), TransactionItems(IndexEntry(whose, "ses_1", "a", "idle"))
    ),
    "delete it": lambda function, whose: function.log.delete(whose, "ses_1"),
    "list sessions": lambda function, whose: DynamoIndex(function.table, CLOCK, function.dynamodb).sessions(
        whose, states=(), agent_id=None, limit=5, cursor=None
    ),
    "read an item": lambda function, whose: DynamoPartials(function.table, function.dynamodb).get(
        whose, "ses_1"
    ),
    "read a file": lambda function, whose: function.files.read(whose, "a.md"),
    "write one": lambda function, whose: function.files.write(whose, "b.md", b"y"),
    "delete one": lambda function, whose: function.files.delete(whose, "a.md"),
    "list files": lambda function, whose: function.files.list(whose, "", 5),
    "store a text": lambda function, whose: function.blobs.put(whose, "ses_1", "text"),
    "read one": lambda function, whose: function.blobs.get(whose, "ses_1", ["t"]),
    "read several": lambda function, whose: function.blobs.get(whose, "ses_1", ["t", "u"]),
    "erase all": lambda function, whose: function.blobs.delete_all(whose, "ses_1"),
}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_code_that_names_another_tenant_meets_the_stores_refusal(
    function: Function, moto_account: Aws, tenant: str, attempt: Attempt
) -> None:
    """Plays the mistake: whatever a repository was asked for, what is bound decides (F2, API1)."""
    victim = f"victim-of-{tenant}"
    for whose in (tenant, victim):
        with bound_to(whose):
            function.files.write(whose, "a.md", b"x")
            for name in ("t", "u"):
                function.blobs.put_named(whose, "ses_1", name, "text")
            with suppress(AwsRefused):
                function.log.append(make_commit(whose, "ses_2", 1))
    before = everything(moto_account)
    with bound_to(tenant), pytest.raises(AwsDenied):
        attempt(function, victim)
    assert everything(moto_account) == before
    with bound_to(tenant):
        attempt(function, tenant)


def everything(aws: Aws) -> tuple[int, int]:
    objects = aws.s3.list_objects_v2(Bucket=aws.bucket).get("Contents", ())
    return aws.dynamodb.scan(TableName=aws.table)["Count"], len(objects)


@pytest.mark.parametrize(
    "other", ["t1*", "t", "t11", "T1", "t1#S", "t1/x", "%74%31", "*", "?1", "${aws:userid}"]
)
def test_no_name_of_a_tenant_reaches_another_tenants_keys(function: Function, other: str) -> None:
    with bound_to(other), pytest.raises(AwsDenied):
        function.reads("t1")
    with bound_to("t1"), pytest.raises(AwsDenied):
        function.files.list(other, "", 5)


def test_what_has_no_key_is_refused(function: Function, tenant: str) -> None:
    dynamodb, s3 = Service("dynamodb", function.dynamodb), Service("s3", function.s3)
    with bound_to(tenant):
        for operation, request in (
            (dynamodb, ("scan", {"TableName": function.table})),
            (s3, ("list_objects_v2", {"Bucket": function.bucket})),
            (s3, ("list_objects_v2", {"Bucket": function.bucket, "Prefix": "files/"})),
            (s3, ("list_object_versions", {"Bucket": function.bucket})),
        ):
            with pytest.raises(AwsDenied):
                operation.call(request[0], **request[1])


def test_what_belongs_to_the_deployment_is_asked_for_by_the_function_itself(
    moto_account: Aws, tenant: str
) -> None:
    both = allowing("sts:AssumeRole", "dynamodb:GetItem")
    account = Account(Role(BASE, both), Role(NARROWED, allowing("dynamodb:*"), trusts=BASE))
    client = account.client("dynamodb", account.credentials(NARROWED, account.running_as(BASE)))
    with bound_to(tenant):
        DynamoLongPolls(moto_account.table, client).get(CLOCK.now())
        assert bound() is not None
    assert account.signed == [(BASE, "dynamodb:GetItem")]
    assert account.assumed == []


def test_s3_hides_what_is_missing_from_who_may_not_list_all_and_it_is_still_told_from_what_is_forbidden(
    moto_account: Aws, tenant: str
) -> None:
    def with_rights(*actions: str) -> S3FileStore:
        account = Account(
            Role(BASE, allowing("sts:AssumeRole")), Role(NARROWED, allowing(*actions), trusts=BASE)
        )
        credentials = account.credentials(NARROWED, account.running_as(BASE), moto_account.bucket)
        return S3FileStore(moto_account.bucket, account.client("s3", credentials))

    with bound_to(tenant):
        files = with_rights("s3:*")
        for ask in (files.read, files.delete):
            with pytest.raises(FileMissing):
                ask(tenant, "none.md")
        assert files.write(tenant, "none.md.bak", b"") is True
        with pytest.raises(FileMissing):
            files.read(tenant, "none.md")
        files.write(tenant, "none.md", b"x")
        only_lists = with_rights("s3:ListBucket")
        for ask in (only_lists.read, only_lists.delete):
            with pytest.raises(AwsDenied):
                ask(tenant, "none.md")


def test_an_invocation_works_for_one_tenant(tenant: str) -> None:
    with bound_to(tenant):
        with pytest.raises(RuntimeError), bound_to("another"):
            raise AssertionError("it was bound")
        with as_deployment():
            assert bound() is None
        now = bound()
        assert now is not None
        assert now.tenant == tenant
    assert bound() is None


def test_a_thread_works_for_nobody_unless_it_was_told(function: Function, tenant: str) -> None:
    outcomes: list[str] = []

    def read() -> None:
        try:
            function.reads(tenant)
        except AwsDenied:
            outcomes.append("denied")
        else:
            outcomes.append("read")

    with bound_to(tenant):
        for work in (read, carried(read)):
            thread = Thread(target=work)
            thread.start()
            thread.join()
    assert outcomes == ["denied", "read"]


def test_the_text_of_a_running_turn_is_stored_from_threads_that_read_the_answer(
    function: Function, tenant: str
) -> None:
    partials = DynamoPartials(function.table, function.dynamodb)
    writing: list[Thread] = []

    def apart(work: Callable[[], None]) -> None:
        writing.append(Thread(target=work))
        writing[-1].start()

    at = Position(tenant=tenant, session_id="ses_1", run_id="run_1", generation=1, turn=1, first=1)
    with bound_to(tenant):
        listen = RunningText(partials, CLOCK, timedelta(0), apart).listener(at, "k")
        reader = Thread(target=listen, args=("Once upon a time",))
        reader.start()
        reader.join()
        for thread in writing:
            thread.join()
        found = partials.get(tenant, "ses_1")
    assert found is not None
    assert found.text == "Once upon a time"


class Status(NamedTuple):
    function: Function
    handler: Callable[[dict[str, Any], Any], dict[str, Any]]

    def of(self, tenant: str) -> Gateway:
        return Gateway(self.handler, claims(tenant=tenant))


@pytest.fixture
def status(function: Function) -> Status:
    app = App(
        Settings(env="test", table=function.table, bucket=function.bucket),
        log=function.log,
        blobs=function.blobs,
        session_index=DynamoIndex(function.table, CLOCK, function.dynamodb),
        partials=DynamoPartials(function.table, function.dynamodb),
        long_poll_limit=LongPollLimit(DynamoLongPolls(function.table, function.dynamodb), CLOCK),
        clock=CLOCK,
        audit=None,
        limiter=None,
    )
    return Status(function, api_of("status", app).handler)


def store_session(function: Function, tenant: str) -> None:
    with bound_to(tenant):
        listing = IndexEntry(tenant, "ses_1", "default", "idle")
        function.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(listing))


def test_the_token_binds_a_request_to_its_tenant(status: Status, account: Account, tenant: str) -> None:
    store_session(status.function, tenant)
    account.signed.clear()

    answer = status.of(tenant).request("GET", "/v1/sessions/ses_1")
    listing = status.of(tenant).request("GET", "/v1/sessions")
    other = status.of(f"victim-of-{tenant}").request("GET", "/v1/sessions/ses_1")

    assert (answer.status, other.status) == (200, 404)
    assert [one["session_id"] for one in listing.data["items"]] == ["ses_1"]
    assert {role for role, _ in account.signed} == {NARROWED}


@pytest.mark.parametrize("answer", [(503, "ServiceUnavailable"), (403, "AccessDenied")])
def test_without_keys_a_request_is_told_to_come_again(
    status: Status, account: Account, moto_account: Aws, tenant: str, answer: tuple[int, str]
) -> None:
    store_session(function_in(moto_account), tenant)
    account.sts_answers = [answer]
    refused = status.of(tenant).request("GET", "/v1/sessions/ses_1")
    assert (refused.status, refused.error["code"], refused.headers["Retry-After"]) == (
        503,
        "UNAVAILABLE",
        "1",
    )
    assert status.of(tenant).request("GET", "/v1/sessions/ses_1").status == 200


def any_of(characters: str, count: int, seed: int) -> str:
    """Nothing in it repeats, so that packing makes it as little shorter as possible. The same each time."""
    return "".join(Random(seed).choices(characters, k=count))


NAME, BUCKET = f"{ascii_letters}{digits}-._~", f"{ascii_lowercase}{digits}"
LONGEST = [
    *(any_of(NAME, length, length) for length in (MAX_TENANT_BYTES, MAX_TENANT_BYTES + 1, MAX_CHARS, 500)),
    "t" * MAX_CHARS,
    "a" + "@" * (MAX_CHARS - 1),
    any_of(punctuation, MAX_TENANT_BYTES // 3, 1),
    any_of(NAME + punctuation, MAX_TENANT_BYTES, 2),
    any_of("".join(map(chr, range(0x4E00, 0x9FA5))), 22, 3),
]
PACKED_BYTES = 420
"""What 100 % of STS's limit is taken for."""


@pytest.mark.parametrize("tenant", LONGEST, ids=map(str, range(len(LONGEST))))
def test_the_longest_tenants_and_buckets_fit_into_a_session_policy_as_sts_packs_it(tenant: str) -> None:
    """The packed size is a model and no measurement: AWS publishes neither the format nor the limit. DEFLATE to 420
    bytes as 100 % agrees with the few sizes that others have reported. What a deployment really meets is its metric
    `PackedPolicySize`.
    """
    one, other = (any_of(BUCKET, 63, seed) for seed in (4, 5))
    root = tenant_prefix(FILES, tenant)
    policies = [
        session_policy(tenant, "aws-us-gov", one, other),
        secrets_policy(tenant, "aws-us-gov", any_of(BUCKET, 64, 6)),
        shared_files_policy("aws-us-gov", one, root, "write"),
        private_files_policy("aws-us-gov", one, f"{root}{private_folder('u')}/", "write"),
    ]
    for policy in policies:
        packed = zlib.compressobj(9, wbits=-15)
        size = len(packed.compress(policy.encode()) + packed.flush())
        assert (policy.isascii(), len(policy) <= 2_048) == (True, True)
        assert size / PACKED_BYTES <= 0.95
    assert 2 <= len(session_name(tenant)) <= 64
