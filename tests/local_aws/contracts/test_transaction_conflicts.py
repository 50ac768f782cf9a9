"""Writes that meet a transaction at the same item while it is under way."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.local_aws.testing import Cloud

TOGETHER, MOST_ROUNDS = 4, 200
names = itertools.count(1)


class Table:
    def __init__(self, cloud: Cloud) -> None:
        self.name = f"met-{next(names)}"
        self.client = cloud.client("dynamodb")
        self.client.create_table(
            TableName=self.name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )

    def transact(self, *keys: str, **more: Any) -> None:
        puts = [{"Put": {"TableName": self.name, "Item": {"pk": {"S": key}}}} for key in keys]
        self.client.transact_write_items(TransactItems=puts, **more)

    def put(self, key: str) -> None:
        self.client.put_item(TableName=self.name, Item={"pk": {"S": key}})


@pytest.fixture(scope="module")
def table(cloud: Cloud) -> Table:
    return Table(cloud)


Write = Callable[[int], None]
"""Gets the number of the round."""


def refused(*writes: Write) -> list[dict[str, Any]]:
    """What was refused of writes that were made at once, as often as it takes until one meets another."""

    def answer(write: Write, number: int) -> dict[str, Any] | None:
        together.wait(30)
        try:
            write(number)
        except ClientError as error:
            return dict(error.response)
        return None

    together = Barrier(len(writes))
    with ThreadPoolExecutor(len(writes)) as threads:
        for number in range(MOST_ROUNDS):
            answers = list(threads.map(answer, writes, [number] * len(writes)))
            if any(answers):
                return [each for each in answers if each is not None]
    raise AssertionError("no write ever met another")


def transacts(table: Table, *keys: str) -> Write:
    return lambda _: table.transact(*keys)


def test_a_transaction_that_meets_another_is_cancelled_with_the_item_that_they_share(table: Table) -> None:
    for error in refused(*(transacts(table, f"own-{n}", "shared") for n in range(TOGETHER))):
        assert error["Error"]["Code"] == "TransactionCanceledException"
        assert [reason["Code"] for reason in error["CancellationReasons"]] == ["None", "TransactionConflict"]


def test_a_single_write_that_meets_a_transaction_is_refused(table: Table) -> None:
    puts: list[Write] = [lambda _: table.put("single")] * TOGETHER
    codes = {error["Error"]["Code"] for error in refused(transacts(table, "single"), *puts)}
    assert codes == {"TransactionConflictException"}


def test_the_same_transaction_sent_again_while_it_is_under_way_is_in_progress(table: Table) -> None:
    def send(number: int) -> None:
        table.transact("same", ClientRequestToken=f"token-{number}")

    codes = {error["Error"]["Code"] for error in refused(*[send] * TOGETHER)}
    assert codes == {"TransactionInProgressException"}


def test_transactions_that_share_no_item_do_not_meet(table: Table) -> None:
    with ThreadPoolExecutor(TOGETHER) as threads:
        for done in [threads.submit(table.transact, f"a-{n}", f"b-{n}") for n in range(20)]:
            done.result()
