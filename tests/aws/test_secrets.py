"""Secrets by name: kept for minutes by a clock of the test's own, never named in an error."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from acta.engine.aws.clients import Service, make_client
from acta.engine.aws.secrets import CACHE_SECONDS, CachedSecrets, SecretUnreadable
from acta.engine.errors import AwsDenied

NAME = "acta/test/anthropic"


class Time:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def stored() -> Iterator[Any]:
    """Secrets Manager with one secret in it."""
    where: dict[str, Any] = {
        "region_name": "us-east-1",
        "aws_access_key_id": "test",
        "aws_secret_access_key": "test",
    }
    with mock_aws():
        client = make_client("secretsmanager", **where)
        client.create_secret(Name=NAME, SecretString="first")
        yield client


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def secrets(stored: Any, time: Time) -> CachedSecrets:
    return CachedSecrets(Service("secretsmanager", stored), time)


def test_a_secret_is_kept_for_five_minutes_and_then_read_again(
    stored: Any, time: Time, secrets: CachedSecrets
) -> None:
    assert secrets(NAME) == "first"
    stored.put_secret_value(SecretId=NAME, SecretString="second")

    time.now += CACHE_SECONDS - 1
    assert secrets(NAME) == "first"
    time.now += 1
    assert secrets(NAME) == "second"


def test_a_secret_stored_as_a_file_is_its_text_and_one_that_is_no_text_is_unreadable(
    stored: Any, secrets: CachedSecrets
) -> None:
    stored.put_secret_value(SecretId=NAME, SecretBinary=b"from a file")
    assert secrets(NAME) == "from a file"

    stored.put_secret_value(SecretId=NAME, SecretBinary=b"\xff\xfe")
    with pytest.raises(SecretUnreadable) as caught:
        secrets(NAME, refresh=True)
    assert NAME not in str(caught.value)


def test_reading_anew_drops_what_is_kept_for_everyone(stored: Any, secrets: CachedSecrets) -> None:
    secrets(NAME)
    stored.put_secret_value(SecretId=NAME, SecretString="second")

    assert secrets(NAME, refresh=True) == "second"
    assert secrets(NAME) == "second"


def test_a_secret_that_is_not_there_is_empty(secrets: CachedSecrets) -> None:
    assert secrets("acta/test/nothing") == ""


def test_a_secret_that_is_about_to_be_deleted_is_an_error_that_does_not_name_it(
    stored: Any, secrets: CachedSecrets
) -> None:
    stored.delete_secret(SecretId=NAME)

    with pytest.raises(SecretUnreadable) as refused:
        secrets(NAME)
    assert NAME not in repr(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


class Denying:
    """Stands for botocore's client that AWS refuses with a code."""

    def __init__(self, code: str) -> None:
        self.code = code

    def get_secret_value(self, **request: Any) -> dict[str, Any]:
        said = {"Code": self.code, "Message": f"not allowed to read {NAME}"}
        raise ClientError(
            {"Error": said, "ResponseMetadata": {"HTTPStatusCode": 400}},
            "GetSecretValue",
        )


@pytest.mark.parametrize(
    "code",
    [
        "AccessDeniedException",
        "KMSAccessDeniedException",
        "KMS.AccessDeniedException",
        "DecryptionFailure",
        "ExpiredTokenException",
    ],
)
def test_a_secret_that_may_not_be_read_or_decrypted_is_a_missing_permission_and_is_not_named(
    code: str,
) -> None:
    with pytest.raises(AwsDenied, match=code) as denied:
        CachedSecrets(Service("secretsmanager", Denying(code)))(NAME)
    assert NAME not in repr(denied.value)
    assert denied.value.__suppress_context__
