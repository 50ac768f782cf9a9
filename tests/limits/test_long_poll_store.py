"""The limit on long polls: one for the deployment, and it ends by itself. And the load, as AWS tells it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.engine.aws.clients import make_client
from acta.engine.errors import StoreThrottled
from acta.engine.limits.dynamodb import DynamoLongPolls
from acta.engine.limits.lambda_concurrency import LambdaConcurrency
from acta.engine.limits.store import LIMIT_LIFE, LongPolls, LongPollStore
from tests.stores.backends import Aws
from tests.stores.documents import NOW

pytestmark = pytest.mark.contract


@pytest.fixture
def store(account: Aws) -> LongPollStore:
    account.dynamodb.delete_item(TableName=account.table, Key={"pk": {"S": "D"}, "sk": {"S": "W"}})
    return DynamoLongPolls(account.table, account.dynamodb)


def test_there_is_no_limit_until_one_is_put_and_the_last_one_holds(store: LongPollStore) -> None:
    assert store.get(NOW) == LongPolls()
    for share in (0.5, 0.0125, 0.0, 1.0):
        store.put(LongPolls(share), NOW)
        assert store.get(NOW) == LongPolls(share)


def test_a_limit_that_is_not_renewed_ends(store: LongPollStore) -> None:
    store.put(LongPolls(0.25), NOW)
    assert store.get(NOW + LIMIT_LIFE - timedelta(seconds=1)) == LongPolls(0.25)
    assert store.get(NOW + LIMIT_LIFE) == LongPolls()


class Lambdas:
    def __init__(self, quota: int, reserved: int = 0) -> None:
        self._limit = {"ConcurrentExecutions": quota, "UnreservedConcurrentExecutions": quota - reserved}

    def get_account_settings(self) -> Mapping[str, Any]:
        return {"AccountLimit": self._limit}


def measured(clock_watch: Any, name: str, value: float, minutes_ago: float, function: str = "") -> None:
    clock_watch.put_metric_data(
        Namespace="AWS/Lambda",
        MetricData=[
            {
                "MetricName": name,
                "Dimensions": [{"Name": "FunctionName", "Value": function}] if function else [],
                "Timestamp": NOW - timedelta(minutes=minutes_ago),
                "Value": value,
            }
        ],
    )


@pytest.fixture
def cloudwatch(moto_account: Aws) -> Any:
    return make_client(
        "cloudwatch", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
    )


def test_the_load_is_what_is_used_of_what_no_function_has_reserved(cloudwatch: Any) -> None:
    measured(cloudwatch, "UnreservedConcurrentExecutions", 100, minutes_ago=2.5)
    measured(cloudwatch, "UnreservedConcurrentExecutions", 300, minutes_ago=1.5)
    measured(cloudwatch, "UnreservedConcurrentExecutions", 450, minutes_ago=1.4)
    meter = LambdaConcurrency("acta-prod-status", 0, Lambdas(1_000, 400), cloudwatch)
    assert meter.load(NOW) == 450 / 600


def test_polls_with_concurrency_of_their_own_are_measured_against_that(cloudwatch: Any) -> None:
    measured(cloudwatch, "ConcurrentExecutions", 45, minutes_ago=1.5, function="acta-prod-status")
    assert LambdaConcurrency("acta-prod-status", 50, Lambdas(1_000), cloudwatch).load(NOW) == 0.9


def test_what_was_long_ago_says_nothing(cloudwatch: Any) -> None:
    measured(cloudwatch, "ConcurrentExecutions", 45, minutes_ago=9, function="acta-old-status")
    assert LambdaConcurrency("acta-old-status", 50, Lambdas(1_000), cloudwatch).load(NOW) is None


def test_a_throttled_measure_says_so(cloudwatch: Any) -> None:
    class Throttled:
        def get_account_settings(self) -> None:
            raise ClientError({"Error": {"Code": "ThrottlingException", "Message": ""}}, "GetAccountSettings")

    with pytest.raises(StoreThrottled):
        LambdaConcurrency("", 0, Throttled(), cloudwatch).load(NOW)
