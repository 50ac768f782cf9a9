"""What DynamoDB bills for a request, computed from the request and its answer.

Source: DynamoDB developer guide, "DynamoDB item sizes and formats" and "DynamoDB read and write operations":
an item is its attributes' names and values; a write unit is 1 KB, twice in a transaction, and a refused
condition is billed too; a read unit is 4 KB read strongly, half of it read eventually; a query rounds the sum
of its items up, once. Binary counts as its raw bytes (the wire's base64 does not).
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

WRITE_UNIT, READ_UNIT = 1_024, 4_096
WRITES = frozenset(("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"))

Item = Mapping[str, Mapping[str, Any]]


class Capacity(NamedTuple):
    """Units, and the items' bytes they were computed from."""

    wcu: float = 0
    rru: float = 0
    item_bytes: int = 0


def capacity(operation: str, request: Mapping[str, Any], answer: Mapping[str, Any]) -> Capacity:
    """Raises ValueError for an operation whose units cannot be told from the wire."""
    match operation:
        case "PutItem":
            return _written([item_size(request["Item"])])
        case "UpdateItem":
            # The item is not on the wire. What Acta updates in place are counters, smaller than a unit.
            return _written([1])
        case "BatchWriteItem":
            requests = [each for table in request["RequestItems"].values() for each in table]
            return _written([_put_size(each.get("PutRequest", {})) for each in requests])
        case "TransactWriteItems":
            written = _written([_put_size(each.get("Put", {})) for each in request["TransactItems"]])
            return written._replace(wcu=written.wcu * 2)
        case "Query":
            return _read([sum(map(item_size, answer.get("Items", ())))], request.get("ConsistentRead", False))
        case "GetItem":
            return _read([item_size(answer.get("Item", {}))], request.get("ConsistentRead", False))
        case "BatchGetItem":
            found = [item_size(item) for items in answer.get("Responses", {}).values() for item in items]
            consistent = any(table.get("ConsistentRead", False) for table in request["RequestItems"].values())
            return _read(found or [0], consistent)
    raise ValueError(f"no rule for the capacity of {operation}")


def item_size(item: Item) -> int:
    return sum(len(name.encode()) + _size(value) for name, value in item.items())


def write_units(item: Item) -> int:
    return max(1, math.ceil(item_size(item) / WRITE_UNIT))


def _put_size(put: Mapping[str, Any]) -> int:
    return item_size(put["Item"]) if "Item" in put else 0


def _written(sizes: list[int]) -> Capacity:
    return Capacity(wcu=sum(max(1, math.ceil(size / WRITE_UNIT)) for size in sizes), item_bytes=sum(sizes))


def _read(sizes: list[int], consistent: bool) -> Capacity:
    """Nothing found is one unit too."""
    units = sum(max(1, math.ceil(size / READ_UNIT)) for size in sizes)
    return Capacity(rru=units if consistent else units / 2, item_bytes=sum(sizes))


def _size(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "B":
            return _raw_length(content)
        case "N":
            return _number(content)
        case "SS":
            return sum(len(each.encode()) for each in content)
        case "BS":
            return sum(map(_raw_length, content))
        case "NS":
            return sum(map(_number, content))
        case "L":
            return 3 + sum(1 + _size(each) for each in content)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _size(each) for name, each in content.items())
    return 1  # BOOL and NULL


def _raw_length(encoded: str | bytes) -> int:
    """On the wire binary is base64; what botocore is given are the bytes themselves."""
    if isinstance(encoded, bytes):
        return len(encoded)
    return len(encoded) * 3 // 4 - encoded[-2:].count("=")


def _number(text: str) -> int:
    """Two digits a byte, one byte more, another for a sign; zeros at either end are not stored."""
    digits = text.lstrip("-").partition("e")[0].replace(".", "").strip("0")
    return (len(digits) + 1) // 2 + 1 + text.startswith("-")
