"""A function may list the keys that it works with and nothing else. S3 then refuses the read of a missing key too."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.engine.errors import AwsDenied
from acta.engine.files.s3 import S3FileStore
from acta.engine.files.store import FileMissing
from acta.engine.log.beside import BlobMissing
from acta.engine.log.s3 import S3Blobs
from tests.stores.backends import Aws

pytestmark = pytest.mark.contract


def forbidden(operation: str, code: str) -> ClientError:
    return ClientError(
        {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": 403}}, operation_name=operation
    )


class Narrow:
    """S3 for a role that lists only under `prefix` and may not read `secret_keys`. A missing key is forbidden to it."""

    def __init__(self, client: Any, prefix: str, secret_keys: frozenset[str] = frozenset()) -> None:
        self._client = client
        self._prefix = prefix
        self._secret_keys = secret_keys
        self.listed = 0

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._client, operation)

    def get_object(self, **request: Any) -> Any:
        return self._read("get_object", "AccessDenied", request)

    def head_object(self, **request: Any) -> Any:
        return self._read("head_object", "403", request)

    def list_objects_v2(self, **request: Any) -> Any:
        self.listed += 1
        if not request.get("Prefix", "").startswith(self._prefix):
            raise forbidden("ListObjectsV2", "AccessDenied")
        return self._client.list_objects_v2(**request)

    def _read(self, operation: str, code: str, request: dict[str, Any]) -> Any:
        if request["Key"] in self._secret_keys:
            raise forbidden(operation, code)
        try:
            return getattr(self._client, operation)(**request)
        except ClientError:
            raise forbidden(operation, code) from None


@pytest.fixture
def narrow(aws: Aws) -> Narrow:
    return Narrow(aws.s3, "files/")


def test_a_file_that_is_not_there_is_missing_to_who_may_not_list_the_bucket(
    aws: Aws, narrow: Narrow, tenant: str
) -> None:
    files = S3FileStore(aws.bucket, narrow)
    files.write(tenant, "notes.md.old", b"begins with the other's name")
    with pytest.raises(FileMissing):
        files.read(tenant, "notes.md")
    with pytest.raises(FileMissing):
        files.delete(tenant, "notes.md")


def test_a_file_that_is_there_costs_no_listing(aws: Aws, narrow: Narrow, tenant: str) -> None:
    files = S3FileStore(aws.bucket, narrow)
    assert files.write(tenant, "notes.md", b"one")
    assert not files.write(tenant, "notes.md", b"two")
    assert files.read(tenant, "notes.md") == b"two"
    files.delete(tenant, "notes.md")
    assert narrow.listed == 0


@pytest.mark.parametrize("version", ["0", "3sL4kqtJlcpXroDTDmJ+rmSpXd3dIbrHY"])
def test_a_version_that_a_file_does_not_have_is_missing_to_who_may_not_list_the_bucket(
    aws: Aws, narrow: Narrow, tenant: str, version: str
) -> None:
    files = S3FileStore(aws.bucket, narrow)
    files.write(tenant, "notes.md", b"there")
    with pytest.raises(FileMissing):
        files.read_version(tenant, "notes.md", version)


def test_what_a_role_may_not_read_is_not_taken_for_missing(aws: Aws, tenant: str) -> None:
    S3FileStore(aws.bucket, aws.s3).write(tenant, "notes.md", b"there")
    files = S3FileStore(aws.bucket, Narrow(aws.s3, "files/", frozenset({f"files/{tenant}/notes.md"})))
    with pytest.raises(AwsDenied):
        files.read(tenant, "notes.md")
    with pytest.raises(AwsDenied):
        files.delete(tenant, "notes.md")


def test_who_may_not_even_list_the_key_is_told_of_the_missing_right(aws: Aws, tenant: str) -> None:
    with pytest.raises(AwsDenied):
        S3FileStore(aws.bucket, Narrow(aws.s3, "elsewhere/")).read(tenant, "notes.md")


def test_a_text_that_is_not_there_is_missing(aws: Aws, tenant: str) -> None:
    stored = S3Blobs(aws.bucket, aws.s3).put(tenant, "ses_1", "text")
    blobs = S3Blobs(aws.bucket, Narrow(aws.s3, "sessions/"))
    assert blobs.get(tenant, "ses_1", [stored]) == {stored: "text"}
    with pytest.raises(BlobMissing):
        blobs.get(tenant, "ses_1", ["0" * 64])
