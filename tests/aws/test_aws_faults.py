"""What AWS and the network do to a request, and what the rest of the house sees of it."""

import socket
import subprocess
import sys
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from botocore.parsers import ResponseParserError

from acta.engine.aws.clients import Service, make_client
from acta.engine.errors import AwsDenied, PoisonedSession, StoreThrottled, StoreUnavailable
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.store import IndexEntry, KeyTaken, NumberTaken, TransactionItems
from acta.testing.clock import FakeClock
from tests.stores.backends import Aws, aws_stores
from tests.stores.documents import make_commit, record_for

pytestmark = pytest.mark.contract


class Failing:
    """A DynamoDB client whose every call ends in the same error."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def put_item(self, **_: Any) -> None:
        raise self._error

    def transact_write_items(self, **_: Any) -> None:
        raise self._error


def refusal(code: str, status: int = 400, reasons: tuple[str, ...] = ()) -> ClientError:
    return ClientError(
        {
            "Error": {"Code": code, "Message": "m"},
            "ResponseMetadata": {"HTTPStatusCode": status},
            "CancellationReasons": [{"Code": reason} for reason in reasons],
        },
        "PutItem",
    )


def cancelled(*reasons: str) -> ClientError:
    return refusal("TransactionCanceledException", reasons=reasons)


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (refusal("ConditionalCheckFailedException"), NumberTaken),
        (refusal("TransactionConflictException"), NumberTaken),
        (refusal("ProvisionedThroughputExceededException"), StoreThrottled),
        (refusal("ThrottlingException"), StoreThrottled),
        (refusal("Whatever", status=429), StoreThrottled),
        (refusal("SlowDown", status=503), StoreThrottled),
        (refusal("InternalServerError", status=500), StoreUnavailable),
        (refusal("Whatever", status=503), StoreUnavailable),
        (ReadTimeoutError(endpoint_url="http://x"), StoreUnavailable),
        (ResponseParserError("invalid XML received"), StoreUnavailable),
        (refusal("ValidationException"), PoisonedSession),
        (refusal("AccessDeniedException", status=400), AwsDenied),
        (refusal("AccessDenied", status=403), AwsDenied),
        (refusal("KMSAccessDeniedException", status=400), AwsDenied),
        (ZeroDivisionError(), ZeroDivisionError),
    ],
)
def test_a_put_s_error_says_who_is_to_react(error: Exception, seen: type[Exception]) -> None:
    with pytest.raises(seen):
        DynamoLog("t", FakeClock(), Failing(error)).append(make_commit("t", "ses_1", 1))


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (cancelled("ConditionalCheckFailed", "None", "None"), NumberTaken),
        (cancelled("None", "ConditionalCheckFailed", "None"), KeyTaken),
        (cancelled("ConditionalCheckFailed", "ConditionalCheckFailed", "None"), NumberTaken),
        (cancelled("TransactionConflict", "None", "None"), NumberTaken),
        (cancelled("None", "TransactionConflict", "None"), NumberTaken),
        (cancelled("None", "ThrottlingError", "None"), StoreThrottled),
        (cancelled("ThrottlingError", "ConditionalCheckFailed", "None"), KeyTaken),
        (cancelled("None", "ValidationError", "None"), PoisonedSession),
        (refusal("TransactionInProgressException"), NumberTaken),
        (refusal("InternalServerError", status=500), StoreUnavailable),
    ],
)
def test_a_cancelled_transaction_says_whose_condition_failed(error: Exception, seen: type[Exception]) -> None:
    log, clock = DynamoLog("t", FakeClock(), Failing(error)), FakeClock()
    record = record_for(clock, "t")
    with pytest.raises(seen):
        log.append(
            make_commit("t", "ses_1", 1), TransactionItems(IndexEntry("t", "ses_1", "a", "idle"), (), record)
        )


def test_nobody_listening_is_a_reason_to_try_again() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, never listening: connections are refused
        client = make_client(
            "dynamodb",
            region_name="us-east-1",
            endpoint_url=f"http://127.0.0.1:{taken.getsockname()[1]}",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        with pytest.raises(StoreUnavailable):
            DynamoLog("t", FakeClock(), client).latest("t", "ses_1")


@pytest.mark.parametrize("with_extra_items", [False, True])
def test_when_the_sdk_repeats_a_write_whose_answer_was_lost_the_commit_is_there_once(
    aws: Aws, tenant: str, with_extra_items: bool
) -> None:
    stores = aws_stores(aws)
    lost: list[int] = []

    def lose_one_answer(**_: Any) -> float | None:
        """botocore asks after each answer whether to send the request again; a number means yes."""
        if lost:
            return None
        lost.append(1)
        return 0

    operation = "TransactWriteItems" if with_extra_items else "PutItem"
    event = f"needs-retry.dynamodb.{operation}"
    commit = make_commit(tenant, "ses_1", 1, "mine")
    extra_items = TransactionItems(
        IndexEntry(tenant, "ses_1", "a", "active"), (), record_for(stores.clock, tenant)
    )
    aws.dynamodb.meta.events.register_first(event, lose_one_answer)
    try:
        stores.log.append(commit, extra_items if with_extra_items else TransactionItems())
    except NumberTaken:
        pass  # legal: the writer reads again
    finally:
        aws.dynamodb.meta.events.unregister(event, lose_one_answer)

    assert lost
    assert stores.log.read(tenant, "ses_1", 1).commits == (commit,)


def test_the_sdk_is_not_imported_before_a_client_is_needed() -> None:
    program = (
        "import sys\n"
        "import acta.engine.aws.errors, acta.engine.clock, acta.engine.log.dynamodb_index\n"
        "import acta.engine.log.dynamodb, acta.engine.log.s3, acta.engine.files.s3\n"
        "from acta.engine.aws.step_functions import StepFunctionsWorkflow\n"
        "StepFunctionsWorkflow('arn')\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('boto3', 'botocore', 'urllib3')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_an_error_that_is_not_the_store_s_keeps_its_name() -> None:
    with pytest.raises(AttributeError):
        Service("dynamodb", object()).call("put_item")
