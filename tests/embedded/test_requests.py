"""The embedded table and objects answer and refuse as DynamoDB and S3 do, as far as stores depend on it."""

from typing import Any

import pytest

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from tests.stores.backends import Aws

pytestmark = pytest.mark.contract

KB = 1_024


class Table:
    def __init__(self, aws: Aws, pk: str) -> None:
        self.name, self.pk = aws.table, pk
        self._dynamodb = Service("dynamodb", aws.dynamodb)

    def key(self, sk: str) -> dict[str, Any]:
        return {"pk": {"S": self.pk}, "sk": {"S": sk}}

    def call(self, operation: str, **request: Any) -> Any:
        return self._dynamodb.call(operation, TableName=self.name, **request)

    def put(self, sk: str, **attributes: Any) -> None:
        self.call("put_item", Item={**self.key(sk), **attributes})

    def get(self, sk: str) -> dict[str, Any] | None:
        item: dict[str, Any] | None = self.call("get_item", Key=self.key(sk)).get("Item")
        return item

    def transact(self, *actions: dict[str, Any]) -> None:
        named = [{kind: {"TableName": self.name, **one} for kind, one in each.items()} for each in actions]
        self._dynamodb.call("transact_write_items", TransactItems=named)

    def refusal(self, operation: str, **request: Any) -> str:
        with pytest.raises(AwsRefused) as refused:
            self.call(operation, **request)
        return refused.value.code


@pytest.fixture
def table(account: Aws, tenant: str) -> Table:
    return Table(account, tenant)


@pytest.fixture
def embedded(sqlite_account: Aws, tenant: str) -> Table:
    """Where moto takes what DynamoDB refuses."""
    return Table(sqlite_account, tenant)


def test_an_item_comes_back_as_it_was_put(table: Table) -> None:
    attributes = {
        "s": {"S": "Grüße 🌍"}, "n": {"N": "42"}, "b": {"B": b"\x00\xff"}, "ss": {"SS": ["a"]}, "t": {"BOOL": True},
        "m": {"M": {"n": {"N": "1"}}},
    }  # fmt: skip
    table.put("a", **attributes)
    assert table.get("a") == {**table.key("a"), **attributes}
    assert table.get("b") is None


def test_an_item_has_at_most_400_kb(embedded: Table) -> None:
    table = embedded
    room = 400 * KB - len(f"pk{table.pk}sk" + "a" + "z")
    table.put("a", z={"B": b"x" * room})
    too_large = {**table.key("a"), "z": {"B": b"x" * (room + 1)}}
    assert table.refusal("put_item", Item=too_large) == "ValidationException"
    found = table.get("a")
    assert found is not None
    assert len(found["z"]["B"]) == room


@pytest.mark.parametrize(("pk", "sk"), [("", "a"), ("a", ""), ("p" * 2_049, "a"), ("p", "s" * 1_025)])
def test_keys_are_texts_of_bounded_length(table: Table, pk: str, sk: str) -> None:
    assert table.refusal("put_item", Item={"pk": {"S": pk}, "sk": {"S": sk}}) == "ValidationException"


def test_a_transaction_writes_all_or_nothing_and_says_which_conditions_failed(table: Table) -> None:
    table.put("a", n={"N": "1"})
    with pytest.raises(AwsRefused) as refused:
        table.transact(
            {"Put": {"Item": {**table.key("b")}}},
            {"Put": {"Item": table.key("a"), "ConditionExpression": "attribute_not_exists(pk)"}},
            {"Delete": {"Key": table.key("c"), "ConditionExpression": "attribute_not_exists(pk)"}},
        )
    assert refused.value.code == "TransactionCanceledException"
    assert refused.value.reasons == ("None", "ConditionalCheckFailed", "None")
    assert (table.get("a"), table.get("b")) == ({**table.key("a"), "n": {"N": "1"}}, None)


@pytest.mark.parametrize(
    "keys", [["a"] * 2, [f"a{number}" for number in range(101)]], ids=["the same twice", "more than 100"]
)
def test_a_transaction_is_refused_as_a_whole(table: Table, keys: list[str]) -> None:
    with pytest.raises(AwsRefused) as refused:
        table.transact(*({"Put": {"Item": table.key(each)}} for each in keys))
    assert refused.value.code in ("ValidationException", "TransactionCanceledException")
    assert table.get(keys[0]) is None


def test_a_batch_has_at_most_25_writes(embedded: Table) -> None:
    table = embedded
    puts = [{"PutRequest": {"Item": table.key(f"a{number}")}} for number in range(26)]
    with pytest.raises(AwsRefused, match="ValidationException"):
        table._dynamodb.call("batch_write_item", RequestItems={table.name: puts})
    assert table.get("a0") is None


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("attribute_exists(n)", True),
        ("attribute_not_exists(n)", False),
        ("n = :one", False),
        ("n > :one", True),
        ("n BETWEEN :one AND :ten", True),
        ("n < :one OR (n <= :ten AND n >= :ten)", True),
        ("n IN (:one, :ten)", True),
        ("begins_with(t, :text)", True),
        ("contains(t, :text)", True),
        ("contains(ss, :text)", False),
    ],
)
def test_conditions_hold_as_dynamodb_says(table: Table, condition: str, holds: bool) -> None:
    table.put("a", n={"N": "10.0"}, t={"S": "text of it"}, ss={"SS": ["text of it", "b"]})
    values = {":one": {"N": "1"}, ":ten": {"N": "10"}, ":text": {"S": "text"}}
    used = {name: value for name, value in values.items() if name in condition}
    given = {"ExpressionAttributeValues": used} if used else {}
    request = {"Key": table.key("a"), "ConditionExpression": condition, **given}
    if holds:
        table.call("delete_item", **request)
        assert table.get("a") is None
    else:
        assert table.refusal("delete_item", **request) == "ConditionalCheckFailedException"


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ("SET n = n + :one, m = if_not_exists(m, :one) - :one", {"n": {"N": "11"}, "m": {"N": "0"}}),
        ("SET #ttl = :one REMOVE n", {"ttl": {"N": "1"}}),
        ("ADD n :one, k :one", {"n": {"N": "11"}, "k": {"N": "1"}}),
    ],
)
def test_updates_change_an_item_as_dynamodb_says(table: Table, update: str, expected: dict[str, Any]) -> None:
    table.put("a", n={"N": "10"})
    names = {"ExpressionAttributeNames": {"#ttl": "ttl"}} if "#ttl" in update else {}
    answer = table.call(
        "update_item",
        Key=table.key("a"),
        UpdateExpression=update,
        ExpressionAttributeValues={":one": {"N": "1"}},
        ReturnValues="ALL_NEW",
        **names,
    )
    assert answer["Attributes"] == table.get("a") == {**table.key("a"), **expected}


@pytest.mark.parametrize("condition", ["missing < :one", "t > :one"])
def test_what_cannot_be_compared_does_not_hold(embedded: Table, condition: str) -> None:
    embedded.put("a", t={"S": "text"})
    request = {"ConditionExpression": condition, "ExpressionAttributeValues": {":one": {"N": "1"}}}
    assert (
        embedded.refusal("delete_item", Key=embedded.key("a"), **request) == "ConditionalCheckFailedException"
    )


@pytest.mark.parametrize("update", ["SET n = missing + :n", "SET n = t + :n", "ADD t :n"])
def test_an_update_that_cannot_be_made_is_refused(table: Table, update: str) -> None:
    table.put("a", n={"N": "1"}, t={"S": "text"})
    request = {"UpdateExpression": update, "ExpressionAttributeValues": {":n": {"N": "1"}}}
    assert table.refusal("update_item", Key=table.key("a"), **request) == "ValidationException"
    assert table.get("a") == {**table.key("a"), "n": {"N": "1"}, "t": {"S": "text"}}


def test_a_number_has_at_most_38_digits(embedded: Table) -> None:
    """moto keeps any number of them."""
    embedded.put("a", n={"N": "9" * 38})
    request = {"UpdateExpression": "ADD n :n", "ExpressionAttributeValues": {":n": {"N": "-9"}}}
    embedded.call("update_item", Key=embedded.key("a"), **request)
    request["ExpressionAttributeValues"] = {":n": {"N": "999"}}
    assert embedded.refusal("update_item", Key=embedded.key("a"), **request) == "ValidationException"
    assert embedded.get("a") == {**embedded.key("a"), "n": {"N": "9" * 37 + "0"}}


def test_a_transaction_has_at_most_4_mb(embedded: Table) -> None:
    puts = [{"Put": {"Item": {**embedded.key(f"a{n:02d}"), "z": {"B": b"x" * 399 * KB}}}} for n in range(11)]
    embedded.transact(*puts[:10])
    with pytest.raises(AwsRefused, match="ValidationException"):
        embedded.transact(*puts)
    assert embedded.get("a10") is None


def test_a_value_that_no_expression_uses_is_refused(embedded: Table) -> None:
    table = embedded
    condition = {"ConditionExpression": "attribute_not_exists(pk)"}
    values = {"ExpressionAttributeValues": {":n": {"N": "1"}}}
    assert table.refusal("put_item", Item=table.key("a"), **condition, **values) == "ValidationException"


def test_a_query_is_cut_by_what_it_looks_at_and_goes_on_after_it(table: Table) -> None:
    for number in range(5):
        table.put(f"a{number}", n={"N": str(number % 2)})
    request = {
        "KeyConditionExpression": "pk = :pk AND begins_with(sk, :a)",
        "FilterExpression": "n = :odd",
        "ExpressionAttributeValues": {":pk": {"S": table.pk}, ":a": {"S": "a"}, ":odd": {"N": "1"}},
        "ScanIndexForward": False,
        "Limit": 2,
    }
    found: list[list[str]] = []
    start: dict[str, Any] = {}
    for _ in range(3):
        answer = table.call("query", **request, **start)
        found.append([item["sk"]["S"] for item in answer["Items"]])
        start = {"ExclusiveStartKey": answer.get("LastEvaluatedKey")}
    assert found == [["a3"], ["a1"], []]


def test_an_object_is_replaced_only_on_the_condition_that_is_named(account: Aws, tenant: str) -> None:
    s3 = Service("s3", account.s3)
    place = {"Bucket": account.bucket, "Key": f"{tenant}/a"}
    etag = s3.call("put_object", **place, Body=b"one", IfNoneMatch="*", Metadata={"by": "me"})["ETag"]
    for condition in ({"IfNoneMatch": "*"}, {"IfMatch": '"another"'}):
        with pytest.raises(AwsRefused) as refused:
            s3.call("put_object", **place, Body=b"two", **condition)
        assert refused.value.code == "PreconditionFailed"
    head = s3.call("head_object", **place)
    assert (head["ETag"], head["Metadata"], head["ContentLength"]) == (etag, {"by": "me"}, 3)
    s3.call("put_object", **place, Body=b"two", IfMatch=etag)
    assert s3.call("get_object", **place)["Body"].read() == b"two"
