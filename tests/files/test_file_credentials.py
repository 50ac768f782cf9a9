"""What the credentials of a Python tool's call reach: the tenant's files, and of private ones those of the session."""

from collections.abc import Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.engine.aws.clients import make_client
from acta.engine.files.tool_credentials import FileCredentials
from acta.engine.store.keys import tenant_prefix
from acta.engine.tools.tool import FileAccess
from acta.engine.untrusted.path import private_folder
from acta.tools.call import File, FileRefused
from acta.tools.files import S3Files
from tests.aws.test_tenant_credentials import BASE, NARROWED, allowing
from tests.doubles.iam.account import Account, Role
from tests.stores.backends import Aws

pytestmark = pytest.mark.contract


@pytest.fixture
def account(moto_account: Aws) -> Account:
    """The second role of `tool`, which reaches every tenant's files."""
    return Account(
        Role(BASE, allowing("sts:AssumeRole", resource=NARROWED)),
        Role(NARROWED, allowing("s3:*"), trusts=BASE),
    )


def files(
    account: Account, aws: Aws, tenant: str, person: str | None = None, access: FileAccess = "write"
) -> S3Files:
    """As the tool has them in its own process."""
    credentials = FileCredentials(NARROWED, aws.bucket, 100, account._sts(account.running_as(BASE)))

    def client(keys: Mapping[str, str]) -> Any:
        where: dict[str, Any] = {"region_name": "us-east-1", **keys}
        return account.watched(make_client("s3", **where))

    return S3Files(credentials.for_call(tenant, person, access), "e-1", client)


def put(aws: Aws, key: str) -> None:
    aws.s3.put_object(Bucket=aws.bucket, Key=key, Body=b"x")


def test_a_call_reads_lists_and_writes_the_tenants_files(
    account: Account, moto_account: Aws, tenant: str
) -> None:
    root = tenant_prefix("files", tenant)
    put(moto_account, f"{root}reports/may.md")
    put(moto_account, f"{root}éa.md")
    put(moto_account, f"{root}{private_folder('bob')}/hidden.md")
    mine = files(account, moto_account, tenant)

    mine.write_text("new.md", "new")

    assert mine.read_text("new.md") == "new"
    assert mine.list() == [File("new.md", 3), File("reports/may.md", 1), File("éa.md", 1)]
    with pytest.raises(FileRefused, match="there is no file"):
        mine.read_text("gone.md")


def test_a_tool_that_reads_cannot_write_whatever_its_code_tries(
    account: Account, moto_account: Aws, tenant: str
) -> None:
    root = tenant_prefix("files", tenant)
    put(moto_account, f"{root}a.md")
    mine = files(account, moto_account, tenant, access="read")
    s3 = mine._place("a.md")[1]

    assert mine.read_bytes("a.md") == b"x"
    for attempt in (s3.put_object, s3.delete_object):
        with pytest.raises(ClientError, match="AccessDenied"):
            attempt(Bucket=moto_account.bucket, Key=f"{root}a.md")


def test_no_key_of_another_tenant_and_no_private_file_is_reached_whatever_the_code_tries(
    account: Account, moto_account: Aws, tenant: str
) -> None:
    root, bucket = tenant_prefix("files", tenant), moto_account.bucket
    bob = f"{root}{private_folder('bob')}/"
    for key in (f"{bob}a.md", "files/victim/a.md", f"sessions/{tenant}/s/t"):
        put(moto_account, key)
    mine = files(account, moto_account, tenant, person="ann")
    shared, private = (mine._place(path)[1] for path in ("a.md", "~/a.md"))

    for s3 in (shared, private):
        for key in (f"{bob}a.md", "files/victim/a.md", f"sessions/{tenant}/s/t"):
            with pytest.raises(ClientError, match="AccessDenied"):
                s3.get_object(Bucket=bucket, Key=key)
            with pytest.raises(ClientError, match="AccessDenied"):
                s3.put_object(Bucket=bucket, Key=key, Body=b"y")
        for prefix in ("", "files/", root, f"{root}~", bob, "files/victim/", f"sessions/{tenant}/"):
            with pytest.raises(ClientError, match="AccessDenied"):
                s3.list_objects_v2(Bucket=bucket, Prefix=prefix)
    with pytest.raises(ClientError, match="AccessDenied"):
        shared.delete_object(Bucket=bucket, Key=f"{root}a.md")


def test_a_private_sessions_call_reaches_that_persons_private_files(
    account: Account, moto_account: Aws, tenant: str
) -> None:
    mine = files(account, moto_account, tenant, person="ann")

    mine.write_text("~/plan/a.md", "mine")

    assert mine.list("~/") == [File("~/plan/a.md", 4)]
    assert mine.list() == []
    assert files(account, moto_account, tenant, person="bob").list("~/") == []
    with pytest.raises(FileRefused, match="visibility private"):
        files(account, moto_account, tenant).list("~/")
