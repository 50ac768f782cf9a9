"""A table of DynamoDB in SQLite, for all of Acta in one process. The stores use it as their `client`, unchanged.

It takes the requests that Acta's stores make of a botocore client, with the same limits and the same refusals, and
raises AwsRefused itself. A parameter or an expression that the stores do not use raises NotImplementedError. Any name
of a table will do: it need not be created. Reads are always consistent, and so are the indexes.

Where AWS calls functions with the table's stream, the process reads `changes` instead.
"""

import json
import time
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from threading import Event
from typing import Any, NamedTuple
from zlib import crc32

from acta.embedded.database import Database, Request, check_understood
from acta.embedded.expressions import Compiled, Invalid, condition, key_condition, projection, update
from acta.engine.aws.errors import AwsRefused
from acta.engine.clock import Clock, SystemClock
from acta.engine.store.table_layout import LIVE_INDEX, OPEN_INDEX, Item, item_key

MOST_ITEM_BYTES, MOST_BYTES = 400 * 1_024, 4 * 1_024 * 1_024
MOST_ACTIONS, MOST_WRITES, MOST_READS = 100, 25, 100
"""Of a transaction, of BatchWriteItem and of BatchGetItem. Source of all limits: Amazon DynamoDB Developer Guide,
"Quotas in Amazon DynamoDB", and the API Reference."""
MOST_KEY_BYTES = {"pk": 2_048, "sk": 1_024, "live": 2_048, "live_at": 1_024, "op": 2_048}
KEYS_OF = {"": ("sk",), LIVE_INDEX: ("live_at", "pk", "sk"), OPEN_INDEX: ("sk", "pk")}
"""By the index, in which order its items come. The empty name: the table itself."""
COLUMNS_OF = {LIVE_INDEX: ("pk", "sk", "live", "live_at"), OPEN_INDEX: ("pk", "sk", "op")}
UNDERSTOOD = frozenset({
    "TableName", "Key", "Item", "IndexName", "Limit", "Select", "ScanIndexForward", "ConsistentRead", "Segment",
    "TotalSegments", "ExclusiveStartKey", "ReturnValues", "RequestItems", "TransactItems", "ConditionExpression",
    "UpdateExpression", "KeyConditionExpression", "FilterExpression", "ProjectionExpression",
    "ExpressionAttributeNames", "ExpressionAttributeValues",
})  # fmt: skip
VALUES_UNDERSTOOD = {
    "Select": ("COUNT",), "ReturnValues": ("ALL_NEW",), "IndexName": (LIVE_INDEX, OPEN_INDEX),
}  # fmt: skip

_ENCODER = json.JSONEncoder(default=lambda held: b64encode(held).decode(), separators=(",", ":"))

Answer = dict[str, Any]


class _Write(NamedTuple):
    """One item as it was and as it is to be; None: there is none. `holds`: whether the condition does."""

    table: str
    key: Item
    old: Item | None
    new: Item | None
    holds: bool = True


class SqliteTable:
    def __init__(
        self, path: Path | None, *, streamed: Collection[str] = (), clock: Clock | None = None
    ) -> None:
        """`path`: of SQLite's file; None: in memory. Items whose `ttl` has passed are removed when the file is opened.
        `streamed`: the tables whose changes are kept until `forget_changes`.
        """
        self.database = Database(path)
        self.clock = clock or SystemClock()
        self.changed = Event()
        """Set at the beginning and after each change that was kept. Whoever waits for changes clears it, then reads."""
        self.changed.set()
        self._streamed = frozenset(streamed)
        with self.database.writing() as connection:
            connection.create_function("segment", 2, _segment, deterministic=True)
            connection.execute("DELETE FROM items WHERE ttl <= ?", [int(time.time())])

    def get_item(self, **request: Any) -> Answer:
        with self._reading("get_item", request) as connection:
            found = self._item(connection, request["TableName"], request["Key"])
        return {} if found is None else {"Item": found}

    def batch_get_item(self, **request: Any) -> Answer:
        answers: dict[str, list[Item]] = {}
        with self._reading("batch_get_item", request) as connection:
            for table, asked in request["RequestItems"].items():
                _check_several([(table, key) for key in asked["Keys"]], MOST_READS)
                shown = _shown(asked)
                found = [self._item(connection, table, key) for key in asked["Keys"]]
                answers[table] = [shown(item) for item in found if item is not None]
        return {"Responses": answers, "UnprocessedKeys": {}}

    def query(self, **request: Any) -> Answer:
        index, backwards = request.get("IndexName", ""), request.get("ScanIndexForward") is False
        with self._reading("query", request) as connection:
            keys, way = key_condition(request["KeyConditionExpression"]), " DESC" if backwards else ""
            given = _given(request, keys, *_filters(request))
            parameters = {name.removeprefix(":"): given[name]["S"] for name in keys.placeholders}
            order = [f"{name}{way}" for name in KEYS_OF[index]]
            after = _after(request, KEYS_OF[index], "<" if backwards else ">", parameters)
            columns = COLUMNS_OF.get(index, ("item",))
            rows = connection.execute(
                f"SELECT {', '.join(columns)} FROM items WHERE store = :_store AND {keys.run}{after}"
                f" ORDER BY {', '.join(order)} LIMIT :_limit",
                {**parameters, "_store": request["TableName"], "_limit": request.get("Limit", -1)},
            ).fetchall()
        if index:
            found = [{name: {"S": held} for name, held in zip(columns, row, strict=True)} for row in rows]
        else:
            found = [_decoded(text) for (text,) in rows]
        return _page(request, found, COLUMNS_OF.get(index, ("pk", "sk")))

    def scan(self, **request: Any) -> Answer:
        parameters = {"_store": request["TableName"], "_limit": request.get("Limit", -1)}
        with self._reading("scan", request) as connection:
            _given(request, *_filters(request))
            after = _after(request, ("pk", "sk"), ">", parameters)
            if "TotalSegments" in request:
                after += " AND segment(pk, :_parts) = :_part"
                parameters |= {"_parts": request["TotalSegments"], "_part": request["Segment"]}
            rows = connection.execute(
                f"SELECT item FROM items WHERE store = :_store{after} ORDER BY pk, sk LIMIT :_limit",
                parameters,
            ).fetchall()
        return _page(request, [_decoded(text) for (text,) in rows], ("pk", "sk"))

    def put_item(self, **request: Any) -> Answer:
        self._write("put_item", [("Put", request)])
        return {}

    def delete_item(self, **request: Any) -> Answer:
        self._write("delete_item", [("Delete", request)])
        return {}

    def update_item(self, **request: Any) -> Answer:
        [written] = self._write("update_item", [("Update", request)])
        return {"Attributes": written.new} if "ReturnValues" in request else {}

    def transact_write_items(self, **request: Any) -> Answer:
        _check_understood(request)
        self._write(
            "transact_write_items", [one for each in request["TransactItems"] for one in each.items()]
        )
        return {}

    def batch_write_item(self, **request: Any) -> Answer:
        _check_understood(request)
        kinds = {"PutRequest": "Put", "DeleteRequest": "Delete"}
        self._write(
            "batch_write_item",
            [
                (kinds[kind], {"TableName": table, **what})
                for table, several in request["RequestItems"].items()
                for one in several
                for kind, what in one.items()
            ],
        )
        return {"UnprocessedItems": {}}

    def changes(self, most: int) -> list[Answer]:
        """The oldest changes of the streamed tables, as the records that the stream brings: with the keys of the
        item and no content. A put that changes nothing is no change.
        """
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT position, record FROM changes ORDER BY position LIMIT ?", [most]
            ).fetchall()
        records = [(str(position), json.loads(text)) for position, text in rows]
        return [
            {**record, "dynamodb": {**record["dynamodb"], "SequenceNumber": position}}
            for position, record in records
        ]

    def forget_changes(self, until: int) -> None:
        """Those up to this `SequenceNumber`, which have been worked on."""
        with self.database.writing() as connection:
            connection.execute("DELETE FROM changes WHERE position <= ?", [until])

    def close(self) -> None:
        self.database.close()

    @contextmanager
    def _reading(self, operation: str, request: Request) -> Iterator[Connection]:
        _check_understood(request)
        try:
            with self.database.reading() as connection:
                yield connection
        except Invalid as invalid:
            raise AwsRefused(operation, "ValidationException", str(invalid)) from None

    def _write(self, operation: str, actions: Sequence[tuple[str, Request]]) -> list[_Write]:
        """Writes all or none. Raises AwsRefused."""
        try:
            with self.database.writing() as connection:
                writes = [self._prepared(connection, kind, request) for kind, request in actions]
                _check_several(
                    [(each.table, each.key) for each in writes],
                    MOST_WRITES if operation == "batch_write_item" else MOST_ACTIONS,
                )
                if not all(each.holds for each in writes):
                    raise _refusal(operation, writes)
                most = sum([self._store(connection, each) for each in writes])
                if most > MOST_BYTES and sum(_size({"M": each.new or {}}) for each in writes) > MOST_BYTES:
                    raise Invalid("the items of a request have at most 4 MB")
        except Invalid as invalid:
            raise AwsRefused(operation, "ValidationException", str(invalid)) from None
        if any(each.table in self._streamed for each in writes):
            self.changed.set()
        return writes

    def _prepared(self, connection: Connection, kind: str, request: Request) -> _Write:
        _check_understood(request)
        item = request["Item"] if kind == "Put" else request["Key"]
        _check_keys(item)
        table, key = request["TableName"], item_key(item["pk"]["S"], item["sk"]["S"])
        old = self._item(connection, table, key)
        compiled: list[Compiled[Any]] = []
        if "ConditionExpression" in request:
            compiled.append(condition(request["ConditionExpression"]))
        if kind == "Update":
            compiled.append(update(request["UpdateExpression"]))
        given = _given(request, *compiled)
        holds = "ConditionExpression" not in request or compiled[0].run(old or {}, given)
        match kind:
            case "Put":
                return _Write(table, key, old, item, holds)
            case "Delete":
                return _Write(table, key, old, None, holds)
            case "Update":
                return _Write(table, key, old, compiled[-1].run(old or key, given) if holds else old, holds)
        raise NotImplementedError(f"the embedded table does not know the action {kind}")

    def _store(self, connection: Connection, write: _Write) -> int:
        """Returns how many characters were stored: not fewer than the bytes that DynamoDB counts."""
        table, key, old, new, _ = write
        pk, sk = key["pk"]["S"], key["sk"]["S"]
        text = ""
        if new is None:
            connection.execute("DELETE FROM items WHERE store = ? AND pk = ? AND sk = ?", (table, pk, sk))
        else:
            _check_keys(new)
            text = _ENCODER.encode(new)
            if len(text) > MOST_ITEM_BYTES and _size({"M": new}) > MOST_ITEM_BYTES:
                raise Invalid("the item is larger than 400 KB")
            indexed = (new[name]["S"] if name in new else None for name in ("live", "live_at", "op"))
            ttl = int(new["ttl"]["N"]) if "ttl" in new else None
            connection.execute(
                "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (table, pk, sk, text, *indexed, ttl),
            )
        if table in self._streamed and old != new:
            name = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
            told = {"Keys": key, "ApproximateCreationDateTime": self.clock.now().timestamp()}
            record = {"eventSource": "aws:dynamodb", "eventName": name, "dynamodb": told}
            connection.execute("INSERT INTO changes (record) VALUES (?)", [json.dumps(record)])
        return len(text)

    def _item(self, connection: Connection, table: str, key: Item) -> Item | None:
        row = connection.execute(
            "SELECT item FROM items WHERE store = ? AND pk = ? AND sk = ?",
            (table, key["pk"]["S"], key["sk"]["S"]),
        ).fetchone()
        return None if row is None else _decoded(row[0])


def _refusal(operation: str, writes: Sequence[_Write]) -> AwsRefused:
    if operation != "transact_write_items":
        return AwsRefused(operation, "ConditionalCheckFailedException", "The conditional request failed")
    reasons = tuple("None" if each.holds else "ConditionalCheckFailed" for each in writes)
    return AwsRefused(operation, "TransactionCanceledException", "a condition did not hold", reasons)


def _check_understood(request: Request) -> None:
    check_understood(request, UNDERSTOOD)
    for name, values in VALUES_UNDERSTOOD.items():
        if name in request and request[name] not in values:
            raise NotImplementedError(f"the embedded table does not know {name}={request[name]}")


def _check_keys(item: Item) -> None:
    for name, most in MOST_KEY_BYTES.items():
        held = item.get(name, {}).get("S") if name in item or name in ("pk", "sk") else "-"
        if not held or len(held.encode("utf-8", "surrogatepass")) > most:
            raise Invalid(f"the key {name} is a text of 1 to {most} bytes")


def _check_several(keys: Sequence[tuple[str, Item]], most: int) -> None:
    """`keys`: each with its table."""
    if len(keys) > most:
        raise Invalid(f"a request has at most {most} items")
    counted = Counter((table, key["pk"]["S"], key["sk"]["S"]) for table, key in keys)
    if len(counted) < len(keys):
        raise Invalid("a request cannot name an item twice")


def _given(request: Request, *compiled: Compiled[Any]) -> Mapping[str, Any]:
    """The names and values of the request. Raises Invalid where one is missing or not used."""
    given = {
        **request.get("ExpressionAttributeNames", {}),
        **request.get("ExpressionAttributeValues", {}),
    }
    if given.keys() != {name for each in compiled for name in each.placeholders}:
        raise Invalid("an expression has other placeholders than the names and values that were given")
    return given


def _filters(request: Request) -> list[Compiled[Any]]:
    compilers: Mapping[str, Callable[[str], Compiled[Any]]]
    compilers = {"FilterExpression": condition, "ProjectionExpression": projection}
    return [compiled(request[name]) for name, compiled in compilers.items() if name in request]


def _shown(request: Request) -> Callable[[Item], Item]:
    """What is shown of an item."""
    if "ProjectionExpression" not in request:
        return lambda item: item
    project = projection(request["ProjectionExpression"])
    given = request.get("ExpressionAttributeNames", {})
    return lambda item: project.run(item, given)


def _after(request: Request, order: Sequence[str], sign: str, parameters: dict[str, Any]) -> str:
    """The condition for items after `ExclusiveStartKey`. Adds its values to the parameters."""
    start = request.get("ExclusiveStartKey")
    if start is None:
        return ""
    parameters |= {f"_{name}": start[name]["S"] for name in order}
    return f" AND ({', '.join(order)}) {sign} ({', '.join(f':_{name}' for name in order)})"


def _page(request: Request, found: list[Item], keys: Sequence[str]) -> Answer:
    """The answer with those items that pass the filter. `Limit` counts all that were looked at."""
    shown = _shown(request)
    given = {**request.get("ExpressionAttributeNames", {}), **request.get("ExpressionAttributeValues", {})}
    kept = found
    if "FilterExpression" in request:
        fits = condition(request["FilterExpression"]).run
        kept = [item for item in found if fits(item, given)]
    answer: Answer = {"Count": len(kept), "ScannedCount": len(found)}
    if "Select" not in request:
        answer["Items"] = [shown(item) for item in kept]
    if found and len(found) == request.get("Limit"):
        answer["LastEvaluatedKey"] = {name: found[-1][name] for name in keys}
    return answer


def _segment(pk: str, parts: int) -> int:
    return crc32(pk.encode()) % parts


def _decoded(text: str) -> Item:
    item: Item = json.loads(text)
    for attribute in item.values():
        if "B" in attribute:
            attribute["B"] = b64decode(attribute["B"])
    return item


def _size(attribute: Mapping[str, Any]) -> int:
    """As DynamoDB counts bytes. Source: Amazon DynamoDB Developer Guide, "DynamoDB item sizes and formats"."""
    [(kind, held)] = attribute.items()
    match kind:
        case "M":
            return sum(len(name.encode()) + _size(each) for name, each in held.items())
        case "SS":
            return sum(len(each.encode("utf-8", "surrogatepass")) for each in held)
        case "S":
            return len(held.encode("utf-8", "surrogatepass"))
        case "N":
            return len(held) // 2 + 2
        case "B":
            return len(held)
    return 1
