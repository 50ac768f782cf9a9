"""`dynamodb:LeadingKeys`: which partitions a request of DynamoDB is about, as its body says.

Source: DynamoDB developer guide, "Using IAM policy conditions for fine-grained access control". A request that names no
partition, such as a scan, has no such key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from acta.local_aws.ministack import module

Json = Mapping[str, Any]


def leading_keys(request: Json) -> dict[str, list[str]]:
    """A table's name -> the values of partition keys that the request names in it or in one of its indexes.

    A table is left out where the request does not say of each of its parts which partition that is about.
    """
    tables = module("services.dynamodb")
    found: dict[str, list[str | None]] = {}
    for name, part in _parts(request):
        name = tables._normalize_table_name(name)
        found.setdefault(name, []).extend(_partitions(tables, name, part))
    return {
        name: [key for key in keys if key is not None] for name, keys in found.items() if None not in keys
    }


def _parts(request: Json) -> Iterator[tuple[str, Json]]:
    """Of a transaction or a batch: each of its actions; else the request itself. With the table that it is about."""
    for item in request.get("TransactItems") or ():
        for action in item.values():
            yield action["TableName"], action
    for name, wanted in (request.get("RequestItems") or {}).items():
        if isinstance(wanted, Mapping):
            yield from ((name, {"Key": key}) for key in wanted["Keys"])
        else:
            yield from ((name, action) for write in wanted for action in write.values())
    if request.get("TableName"):
        yield request["TableName"], request


def _partitions(tables: Any, name: str, part: Json) -> Iterator[str | None]:
    """Of whatever the part may be read as. None: no partition is named there."""
    table = tables._tables.get(name)
    if table is None:
        yield None
        return
    attribute = tables._resolve_index_keys(table, part.get("IndexName"))[0]
    places = 0
    for attributes in (part.get("Key"), part.get("Item")):
        if attributes is not None:
            places += 1
            yield str(tables._extract_key_val(attributes[attribute])) if attribute in attributes else None
    if part.get("KeyConditionExpression"):
        places += 1
        values, names = (
            part.get("ExpressionAttributeValues") or {},
            part.get("ExpressionAttributeNames") or {},
        )
        yield tables._extract_pk_from_condition(part["KeyConditionExpression"], values, names, attribute)
    if part.get("KeyConditions"):
        places += 1
        yield tables._extract_pk_from_key_conditions(part["KeyConditions"], attribute)
    if not places:
        yield None
