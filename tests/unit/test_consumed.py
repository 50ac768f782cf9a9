"""What a request is billed, told from itself and its answer; the same rules as the bench counts on the wire."""

import base64
import json
from typing import Any

import pytest

from shared.adapters.aws.consumed import consumed, item_size
from tests.bench.stand.capacity import capacity

SMALL = {"pk": {"S": "a"}, "sk": {"S": "b"}}
LARGE = {**SMALL, "z": {"B": b"x" * 3_000}, "n": {"N": "-12.50"}, "i": {"SS": ["one", "two"]}}


def on_the_wire(value: Any) -> Any:
    """As JSON has it: bytes in base64."""
    return json.loads(json.dumps(value, default=lambda raw: base64.b64encode(raw).decode()))


@pytest.mark.parametrize(
    ("operation", "wire", "request_", "answer"),
    [
        ("put_item", "PutItem", {"Item": LARGE}, {}),
        ("transact_write_items", "TransactWriteItems",
         {"TransactItems": [{"Put": {"Item": LARGE}}, {"Put": {"Item": SMALL}}]}, {}),
        ("query", "Query", {"ConsistentRead": True}, {"Items": [LARGE, LARGE, SMALL]}),
        ("query", "Query", {}, {"Items": []}),
        ("get_item", "GetItem", {"ConsistentRead": True}, {"Item": LARGE}),
        ("get_item", "GetItem", {}, {}),
        ("batch_get_item", "BatchGetItem", {"RequestItems": {"t": {"ConsistentRead": True}}},
         {"Responses": {"t": [LARGE, SMALL]}}),
        ("batch_get_item", "BatchGetItem", {"RequestItems": {"t": {}}}, {"Responses": {}}),
    ],
)  # fmt: skip
def test_units_are_those_that_are_told_from_the_wire(
    operation: str, wire: str, request_: dict[str, Any], answer: dict[str, Any]
) -> None:
    seen = capacity(wire, on_the_wire(request_), on_the_wire(answer))

    told = consumed("dynamodb", operation, request_, answer, 1)

    assert (told.get("wcu", 0), told.get("half_rru", 0) / 2) == (seen.wcu, seen.rru)
    assert told.get("writes", 0) + told.get("reads", 0) == 1


def test_each_attempt_of_the_sdk_is_a_request() -> None:
    assert consumed("dynamodb", "put_item", {"Item": SMALL}, None, 3) == {"writes": 3, "wcu": 1}
    assert consumed("s3", "get_object", {}, {}, 2) == {"gets": 2}
    assert consumed("s3", "put_object", {}, {}, 1) == {"puts": 1}
    assert consumed("s3", "list_objects_v2", {}, {}, 1) == {"puts": 1}


def test_what_is_free_or_not_counted_is_nothing() -> None:
    assert consumed("s3", "delete_objects", {}, {}, 1) == {}
    assert consumed("stepfunctions", "start_execution", {}, {}, 1) == {}


def test_an_item_is_its_names_and_values() -> None:
    assert item_size({"pk": {"S": "é"}, "b": {"BOOL": True}, "m": {"M": {"k": {"L": [{"N": "100"}]}}}}) == (
        (2 + 2) + (1 + 1) + (1 + 3 + 1 + 1 + 3 + 1 + 2)
    )
