"""What one request to AWS is billed, told from the request and its answer, without asking AWS for more.

Sources: DynamoDB developer guide, "DynamoDB item sizes and formats" and "DynamoDB read and write operations":
an item is its attributes' names and values; a write unit is 1 KB, twice in a transaction, and a refused
condition is billed, too; a read unit is 4 KB read strongly, half of it read eventually; a query rounds the sum
of its items up, once. Amazon S3 pricing: two prices of requests. Not seen here: what an index of the table is
written for an item, and requests whose size only DynamoDB knows (an update, a deletion), which count as one
unit.
"""

from collections.abc import Iterable, Mapping
from typing import Any

WRITE_UNIT, READ_UNIT = 1_024, 4_096

Item = Mapping[str, Mapping[str, Any]]
Json = Mapping[str, Any]


def consumed(
    service: str, operation: str, request: Json, answer: Json | None, attempts: int
) -> dict[str, int]:
    """By the names of `Used`. `answer` None: it was refused or failed. `attempts`: the SDK's own repeats included."""
    if service == "s3":
        if operation.startswith("delete_"):  # these are free
            return {}
        return {"gets" if operation in ("get_object", "head_object") else "puts": attempts}
    if service != "dynamodb":
        return {}
    written = _written(operation, request)
    if written is not None:
        return {"writes": attempts, "wcu": written}
    return {"reads": attempts, "half_rru": _read(operation, request, answer or {})}


def write_units(item: Item) -> int:
    return max(1, -(-item_size(item) // WRITE_UNIT))


def item_size(item: Item) -> int:
    return sum(len(name.encode()) + _size(value) for name, value in item.items())


def _written(operation: str, request: Json) -> int | None:
    """Write units; None: it is no write."""
    match operation:
        case "put_item":
            return write_units(request["Item"])
        case "transact_write_items":
            return 2 * sum(_put_units(each.get("Put", {})) for each in request["TransactItems"])
        case "batch_write_item":
            requests = (each for table in request["RequestItems"].values() for each in table)
            return sum(_put_units(each.get("PutRequest", {})) for each in requests)
        case "update_item" | "delete_item":
            return 1
    return None


def _put_units(put: Json) -> int:
    return write_units(put["Item"]) if "Item" in put else 1


def _read(operation: str, request: Json, answer: Json) -> int:
    """Halves of read units."""
    match operation:
        case "batch_get_item":
            consistent = any(table.get("ConsistentRead") for table in request["RequestItems"].values())
            found = [item for items in answer.get("Responses", {}).values() for item in items]
            return sum(map(_units, map(item_size, found or [{}]))) * (2 if consistent else 1)
        case "get_item":
            items: Iterable[Item] = (answer.get("Item", {}),)
        case _:
            items = answer.get("Items", ())
    return _units(sum(map(item_size, items))) * (2 if request.get("ConsistentRead") else 1)


def _units(size: int) -> int:
    return max(1, -(-size // READ_UNIT))


def _size(value: Mapping[str, Any]) -> int:
    """Of a value as botocore has it: bytes are raw."""
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "B":
            return len(content)
        case "N":
            return _number(content)
        case "SS":
            return sum(len(each.encode()) for each in content)
        case "BS":
            return sum(map(len, content))
        case "NS":
            return sum(map(_number, content))
        case "L":
            return 3 + sum(1 + _size(each) for each in content)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _size(each) for name, each in content.items())
    return 1  # BOOL and NULL


def _number(text: str) -> int:
    """Two digits a byte, one byte more, another for a sign; zeros at either end are not stored."""
    digits = text.lstrip("-").partition("e")[0].replace(".", "").strip("0")
    return (len(digits) + 1) // 2 + 1 + text.startswith("-")
