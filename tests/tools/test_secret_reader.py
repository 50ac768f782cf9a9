"""Values of tenants' secrets in Secrets Manager: whose they are is IAM's to say, and no error says what they are."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from acta.engine.aws import clients
from acta.engine.aws.errors import AwsRefused
from acta.engine.aws.secrets import CachedSecrets
from acta.engine.bound_tenant import bound_to
from acta.engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta.engine.settings import settings
from acta.engine.store.keys import tool_secrets_prefix
from acta.engine.tools.dynamodb import DynamoToolSecretNames
from acta.engine.tools.secret_reader import (
    CACHE_SECONDS,
    SecretUnusable,
    ToolSecretReader,
    ToolSecretStore,
)
from tests.doubles.iam.account import Account, Role

pytestmark = pytest.mark.contract

BASE, NARROWED = "arn:aws:iam::123456789012:role/tool", "arn:aws:iam::123456789012:role/tool-tenant"
SECRETS = "arn:aws:secretsmanager:*:*:secret:acta/test/tools/*"
VALUE, NEWER = "Bearer sk-first-1234", "Bearer sk-second-567"


class Time:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def allowing(*actions: str, resource: str) -> list[dict[str, Any]]:
    return [{"Statement": [{"Effect": "Allow", "Action": list(actions), "Resource": resource}]}]


class Worker:
    """Both sides in an account that enforces IAM."""

    def __init__(self) -> None:
        self.account = Account(
            Role(BASE, allowing("sts:AssumeRole", resource=NARROWED)),
            Role(NARROWED, allowing("secretsmanager:*", resource=SECRETS), trusts=BASE),
        )
        own = self.account.running_as(BASE)
        credentials = self.account.credentials_for_secrets(NARROWED, own, "test")
        self.client = self.account.client("secretsmanager", credentials)
        self.time = Time()
        self.store = ToolSecretStore("test", client=self.client)
        self.read = ToolSecretReader("test", self.client, self.time)

    def put(self, tenant: str, value: str, name: str = "stripe") -> None:
        with bound_to(tenant):
            self.store.put(tenant, name, value)

    def delete(self, tenant: str) -> None:
        with bound_to(tenant):
            self.store.delete(tenant, "stripe")

    def value(self, tenant: str, of: str = "", name: str = "stripe") -> str | None:
        with bound_to(tenant):
            return self.read(of or tenant, name)


@pytest.fixture
def worker() -> Iterator[Worker]:
    with mock_aws():
        yield Worker()


def test_a_value_is_read_as_it_was_set_and_another_one_within_a_minute(worker: Worker) -> None:
    assert worker.value("acme") is None
    worker.put("acme", VALUE)
    assert worker.value("acme") == VALUE
    worker.put("acme", NEWER)
    worker.time.now += CACHE_SECONDS - 1
    assert worker.value("acme") == VALUE
    worker.time.now += 1
    assert worker.value("acme") == NEWER


def test_a_value_of_before_it_was_set_is_not_used_once_that_is_known(worker: Worker) -> None:
    """Its hosts may be others: an admin may set a value of theirs, for a host of theirs."""
    worker.put("acme", VALUE)
    with bound_to("acme"):
        assert worker.read("acme", "stripe", "1") == VALUE
        worker.put("acme", NEWER)
        assert worker.read("acme", "stripe", "1") == VALUE
        assert worker.read("acme", "stripe", "2") == NEWER


def test_a_deleted_one_is_gone_and_can_be_set_again_at_once(worker: Worker) -> None:
    worker.put("acme", VALUE)
    worker.delete("acme")
    worker.delete("acme")
    assert worker.value("acme") is None
    worker.put("acme", NEWER)
    assert worker.value("acme") == NEWER


def test_code_that_names_another_tenant_s_secret_meets_a_refusal_also_where_it_was_read_before(
    worker: Worker,
) -> None:
    worker.put("acme", VALUE)
    assert worker.value("acme") == VALUE
    with pytest.raises(AwsDenied) as denied:
        worker.value("other", of="acme")
    assert "stripe" not in str(denied.value)
    with bound_to("other"):
        with pytest.raises(AwsDenied):
            worker.store.put("acme", "stripe", NEWER)
        with pytest.raises(AwsDenied):
            worker.store.delete("acme", "stripe")
    with pytest.raises(AwsDenied):
        worker.read("acme", "stripe")
    worker.time.now += CACHE_SECONDS
    assert worker.value("acme") == VALUE
    assert worker.value("other") is None


def test_requests_are_signed_by_the_role_that_is_narrowed_to_the_tenant(worker: Worker) -> None:
    worker.put("acme", VALUE)
    assert {role for role, _ in worker.account.signed} == {NARROWED}
    assert "acta/test/tools/acme/*" in worker.account.assumed[0]["Policy"]


def test_keys_that_an_operator_has_withdrawn_are_replaced_by_the_next_attempt(worker: Worker) -> None:
    worker.put("acme", VALUE)
    worker.account.withdraw()
    with pytest.raises(AwsDenied):
        worker.value("acme")
    assert worker.value("acme") == VALUE


@pytest.mark.parametrize("answer", [(503, "ServiceUnavailable"), (403, "AccessDenied")])
def test_without_keys_nothing_is_asked(worker: Worker, answer: tuple[int, str]) -> None:
    worker.account.sts_answers = [answer]
    with pytest.raises((StoreUnavailable, AwsDenied)):
        worker.value("acme")
    assert worker.account.signed == []


def test_no_two_tenants_have_a_prefix_in_common() -> None:
    tenants = [
        "acme",
        "Acme",
        "ACME",
        "a",
        "a/b",
        "a%2Fb",
        "=a",
        "é",
        "e",
        "a" * 64,
        "a" * 65,
        "a b",
        "*",
        "acme/",
    ]
    prefixes = [tool_secrets_prefix("test", tenant) for tenant in tenants]
    assert len({prefix.lower() for prefix in prefixes}) == len(tenants)
    hashed = prefixes[1].removeprefix("acta/test/tools/").removesuffix("/")
    assert tool_secrets_prefix("test", hashed) not in prefixes
    assert all(one == other or not one.startswith(other) for one in prefixes for other in prefixes)
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789_.-=/")
    assert all(allowed.issuperset(prefix) and prefix.count("/") == 4 for prefix in prefixes)
    with pytest.raises(ValueError, match="tenant"):
        tool_secrets_prefix("test", "")


class Answering:
    """Stands for botocore's client whose answer is this error."""

    def __init__(self, code: str, status: int = 400) -> None:
        said = {"Code": code, "Message": f"acta/test/tools/acme/stripe {VALUE}"}
        self._response: Any = {"Error": said, "ResponseMetadata": {"HTTPStatusCode": status}}

    def __getattr__(self, operation: str) -> Any:
        def refuse(**_: Any) -> None:
            raise ClientError(self._response, operation)

        return refuse


@pytest.mark.parametrize(
    ("code", "status", "raised"),
    [
        ("ThrottlingException", 400, StoreThrottled),
        ("InternalServiceError", 500, StoreUnavailable),
        ("AccessDeniedException", 400, AwsDenied),
        ("DecryptionFailure", 400, AwsDenied),
        ("EncryptionFailure", 400, AwsDenied),
        ("InvalidParameterException", 400, AwsDenied),
    ],
)
def test_what_is_in_the_way_is_an_outage_and_names_neither_secret_nor_value(
    code: str, status: int, raised: type[Exception]
) -> None:
    client = Answering(code, status)
    attempts: tuple[Callable[[], object], ...] = (
        lambda: ToolSecretReader("test", client)("acme", "stripe"),
        lambda: ToolSecretStore("test", client=client).put("acme", "stripe", VALUE),
        lambda: ToolSecretStore("test", client=client).delete("acme", "stripe"),
    )
    for ask in attempts:
        with pytest.raises(raised) as caught:
            ask()
        assert "stripe" not in str(caught.value)
        assert VALUE not in str(caught.value)
        assert caught.value.__suppress_context__ or raised in (StoreThrottled, StoreUnavailable)


def test_a_secret_that_is_still_being_deleted_is_there_for_nobody_and_can_be_set_a_moment_later() -> None:
    client = Answering("InvalidRequestException")
    assert ToolSecretReader("test", client)("acme", "stripe") is None
    with pytest.raises(StoreUnavailable):
        ToolSecretStore("test", client=client).put("acme", "stripe", VALUE)


@pytest.mark.parametrize("stored", ["short", "two\nlines of text", "Grüße, Grüße", " \n"])
def test_what_somebody_else_stored_is_used_only_where_it_may_be_a_header(worker: Worker, stored: str) -> None:
    worker.put("acme", stored)
    with pytest.raises(SecretUnusable):
        worker.value("acme")


def test_a_line_break_that_a_console_added_is_no_part_of_the_value(worker: Worker) -> None:
    worker.put("acme", f"{VALUE}\n")
    assert worker.value("acme") == VALUE


def test_a_new_secret_is_encrypted_with_the_deployment_s_key_where_it_has_one(worker: Worker) -> None:
    key = "arn:aws:kms:us-east-1:123456789012:key/acta"
    with bound_to("acme"):
        ToolSecretStore("test", key, worker.client).put("acme", "new", VALUE)
        made = worker.client.describe_secret(SecretId="acta/test/tools/acme/new")
        worker.store.put("acme", "plain", VALUE)
        plain = worker.client.describe_secret(SecretId="acta/test/tools/acme/plain")
    assert made["KmsKeyId"] == key
    assert "KmsKeyId" not in plain


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As a function with two roles begins."""
    for name, value in {"ENV": "test", "TABLE": "t", "BUCKET": "b", "TENANT_ROLE": NARROWED}.items():
        monkeypatch.setenv(f"ACTA_{name}", value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    made: tuple[Any, ...] = (
        settings,
        clients.aws_client,
        clients.credentials_for_data,
        clients.credentials_for_secrets,
    )
    for each in made:
        each.cache_clear()
    with mock_aws():
        yield
    for each in made:
        each.cache_clear()


def test_a_process_asks_for_tools_secrets_as_the_tenant_and_for_the_deployment_s_as_itself(
    process: None,
) -> None:
    signed: list[str] = []

    def note(request: Any, **_: Any) -> None:
        header = request.headers["Authorization"]
        signed.append((header.decode() if isinstance(header, bytes) else header).split("/")[0])

    for service in ("secretsmanager", "dynamodb"):
        clients.aws_client(service).meta.events.register_first("before-send", note)
    with bound_to("acme"):
        assert CachedSecrets()("acta/test/audit") == ""
        assert ToolSecretReader("test")("acme", "stripe") is None
        with pytest.raises(AwsRefused):
            DynamoToolSecretNames("t").all("acme")
    itself, for_secrets, for_data = signed
    assert len({itself, for_secrets, for_data}) == 3
    assert clients.tenant_credentials("lambda") is None
