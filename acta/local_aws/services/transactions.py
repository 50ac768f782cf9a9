"""A write that meets a transaction at the same item is refused while that transaction is under way.

Source: DynamoDB developer guide, "Managing complex workflows with DynamoDB transactions", section "Transaction conflict
handling": a PutItem, UpdateItem or DeleteItem is refused with TransactionConflictException, another transaction is
cancelled with the reason TransactionConflict for that item. API reference, TransactWriteItems: the same request with
the same client token at the same time is refused with TransactionInProgressException. ministack carries out one request
after the other, so no two ever meet. Here a transaction takes `TAKES_SECONDS` before it is carried out, and what comes
meanwhile is refused. Patches: `services.dynamodb.handle_request`.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from acta.local_aws.ministack import module
from acta.local_aws.settings import Settings

TAKES_SECONDS = 0.005
_WRITES = ("PutItem", "UpdateItem", "DeleteItem")

_Item = tuple[str, str]
"""A table's name and the item's key as JSON."""


def refuse_conflicts(settings: Settings) -> None:
    tables = module("services.dynamodb")
    handle = tables.handle_request
    items_under_way: set[_Item] = set()
    tokens_under_way: set[str] = set()

    async def handle_and_refuse(
        method: str, path: str, headers: dict[str, str], body: bytes, query_params: Any
    ) -> Any:
        action = headers.get("x-amz-target", "").rpartition(".")[2]
        if action == "TransactWriteItems":
            request = json.loads(body)
            touched = [
                _item(tables, next(iter(each.values()), {})) for each in request.get("TransactItems", [])
            ]
            token = request.get("ClientRequestToken", "")
            if token and token in tokens_under_way:
                return _in_progress(tables)
            met = [each in items_under_way for each in touched]
            if any(met):
                return _cancelled(tables, met)
            claimed = {each for each in touched if each is not None}
            items_under_way.update(claimed)
            tokens_under_way.add(token)
            try:
                await asyncio.sleep(TAKES_SECONDS)
                return await handle(method, path, headers, body, query_params)
            finally:
                items_under_way.difference_update(claimed)
                tokens_under_way.discard(token)
        if action in _WRITES and items_under_way and _item(tables, json.loads(body)) in items_under_way:
            why = "Transaction is ongoing for the item"
            return tables.error_response_json("TransactionConflictException", why, 400)
        return await handle(method, path, headers, body, query_params)

    tables.handle_request = handle_and_refuse


def _item(tables: Any, write: dict[str, Any]) -> _Item | None:
    """The item that a write is about. None: its table is not there, which the write itself is refused for."""
    name = tables._normalize_table_name(write.get("TableName"))
    table = tables._tables.get(name)
    if table is None:
        return None
    attributes = write.get("Key") or write.get("Item") or {}
    key = [attributes.get(part) for part in (table["pk_name"], table["sk_name"]) if part]
    return name, json.dumps(key, sort_keys=True)


def _in_progress(tables: Any) -> Any:
    return tables.error_response_json(
        "TransactionInProgressException",
        "Transaction is already in progress for the provided token.",
        400,
    )


def _cancelled(tables: Any, met: list[bool]) -> Any:
    codes = ["TransactionConflict" if each else "None" for each in met]
    reasons = [
        {"Code": code, "Message": "Transaction is ongoing for the item"} if code != "None" else {"Code": code}
        for code in codes
    ]
    message = (
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{', '.join(codes)}]"
    )
    extra = {"CancellationReasons": reasons}
    return tables.error_response_json("TransactionCanceledException", message, 400, extra)
