"""The index `open`: a tenant's pending interventions and its sessions that are not over, by key (ADR 107).

Every item that this release writes has its place in it. Those of the release before get it here, each on the condition
that nobody has written it meanwhile. How far that is stands in an item of the deployment:

pk    sk    attributes
D     I     t when it began, c cursor or nothing, d whether it is done
"""

import json
from datetime import datetime
from typing import Any

from shared.adapters.aws.clients import Service
from shared.adapters.aws.errors import AwsRefused
from shared.adapters.dynamodb import table_layout as items
from shared.adapters.storage.cursors import from_cursor, to_cursor
from shared.domain.errors import StoreThrottled
from shared.ports.clock import Clock
from shared.ports.log import Filled, Filling

LOOK_AGAIN_SECONDS = 60.0
ATTEMPTS = 8
PAUSE_SECONDS = 0.05
MAX_KEYS_BYTES = 8_192
TENANTS = "T#"
_KEY = {"pk": {"S": "D"}, "sk": {"S": "I"}}
_SCOPE = "filled"


class DynamoOpenIndex:
    """`client`: a botocore DynamoDB client, where it is not this process's own."""

    def __init__(self, table: str, clock: Clock, client: Any = None) -> None:
        self._table = table
        self._clock = clock
        self._dynamodb = Service("dynamodb", client)
        self._deployment = Service("dynamodb", client, of_deployment=True)
        self._is_complete = False
        self._looked_at: datetime | None = None

    def is_complete(self) -> bool:
        """Asks the table at most once a minute, and no more once it is."""
        now, before = self._clock.now(), self._looked_at
        if not self._is_complete and (before is None or (now - before).total_seconds() >= LOOK_AGAIN_SECONDS):
            filling = self.filling()
            self._is_complete, self._looked_at = filling is not None and filling.complete, now
        return self._is_complete

    def filling(self) -> Filling | None:
        item = self._deployment.call("get_item", TableName=self._table, Key=_KEY).get("Item")
        if item is None:
            return None
        return Filling(datetime.fromisoformat(item["t"]["S"]), item["c"]["S"] or None, item["d"]["BOOL"])

    def note(self, filling: Filling) -> None:
        item: items.Item = {
            **_KEY,
            "t": {"S": filling.since.isoformat()},
            "c": {"S": filling.cursor or ""},
            "d": {"BOOL": filling.complete},
        }
        self._deployment.call("put_item", TableName=self._table, Item=item)

    def fill(self, limit: int, cursor: str | None) -> Filled:
        request: dict[str, Any] = {
            "TableName": self._table,
            "Limit": max(limit, 1),
            "FilterExpression": "begins_with(pk, :tenants)",
            "ProjectionExpression": "pk, sk, st, op",
            "ExpressionAttributeValues": {":tenants": {"S": TENANTS}},
        }
        if cursor is not None:
            request["ExclusiveStartKey"] = json.loads(from_cursor(_SCOPE, cursor, MAX_KEYS_BYTES))
        answer = self._dynamodb.call("scan", **request)
        put = sum(self._put(item) for item in answer["Items"] if "op" not in item)
        last = answer.get("LastEvaluatedKey")
        following = None if last is None else to_cursor(_SCOPE, json.dumps(last, separators=(",", ":")))
        return Filled(put, len(answer["Items"]), following)

    def _put(self, item: items.Item) -> bool:
        """Whether it was put there: it belongs there, and nobody has written it since it was read."""
        placed = items.found_by_key(item)
        if "op" not in placed:
            return False
        for attempt in range(ATTEMPTS):
            try:
                self._dynamodb.call(
                    "update_item",
                    TableName=self._table,
                    Key={"pk": item["pk"], "sk": item["sk"]},
                    UpdateExpression="SET op = :place",
                    ConditionExpression="st = :state AND attribute_not_exists(op)",
                    ExpressionAttributeValues={":place": placed["op"], ":state": item["st"]},
                )
            except AwsRefused as refused:
                if refused.code == "ConditionalCheckFailedException":
                    return False
                if refused.code != "TransactionConflictException":
                    raise
                self._clock.back_off(PAUSE_SECONDS * (attempt + 1))
            else:
                return True
        raise StoreThrottled("update_item: other transactions were in the way")
