"""The floor: a log and nothing else. What a durable loop stores of a turn is the model's reply and the tool's result,
and each is one put that holds only if its number is free. No marker, no head, no lease, no plan, nothing read back.

Bytes are packed as well as zlib can; where a text is cheaper in S3 than in write units, it goes there and its commit
says where. A second time through, the log is read as a worker that starts in mid-session would.
"""

import json
import zlib
from collections.abc import Sequence
from typing import Any

from tests.bench.beside.prices import S3_PUT, WRITE_UNIT
from tests.bench.stand.script import Reply, note, reading

CHEAPER_IN_S3 = int(S3_PUT / WRITE_UNIT) * 1_024
"""Bytes."""


class BareLog:
    """One session's. `dynamodb`, `s3`: clients of boto3."""

    def __init__(self, dynamodb: Any, s3: Any, table: str, bucket: str, session: str) -> None:
        self._dynamodb, self._s3, self._table, self._bucket = dynamodb, s3, table, bucket
        self._session = session
        self._number = 0

    def run(self, size: str, turns: int) -> None:
        said: Sequence[Reply] = reading(size, turns)[1:-1]
        for turn, reply in enumerate(said):
            calls = [{"id": f"toolu_{turn:024d}", **call._asdict()} for call in reply.calls]
            self._put({"text": reply.text, "calls": calls, "usage": [1_000, 60]})
            path, _ = note(size, turn)
            text = self._s3.get_object(Bucket=self._bucket, Key=path)["Body"].read().decode()
            self._put({"of": calls[0]["id"], "text": text})

    def read(self) -> int:
        """How many commits there are."""
        found = 0
        more: dict[str, Any] = {}
        while True:
            page = self._dynamodb.query(
                TableName=self._table,
                KeyConditionExpression="PK = :pk",
                ExpressionAttributeValues={":pk": {"S": self._session}},
                ConsistentRead=True,
                **more,
            )
            for item in page["Items"]:
                if "at" in item:
                    self._s3.get_object(Bucket=self._bucket, Key=item["at"]["S"])["Body"].read()
            found += len(page["Items"])
            if "LastEvaluatedKey" not in page:
                return found
            more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def _put(self, entry: dict[str, Any]) -> None:
        packed = zlib.compress(json.dumps(entry, separators=(",", ":")).encode(), 9)
        self._number += 1
        item: dict[str, Any] = {"PK": {"S": self._session}, "SK": {"S": f"{self._number:06d}"}}
        if len(packed) > CHEAPER_IN_S3:
            place = f"log/{self._session}/{self._number}"
            self._s3.put_object(Bucket=self._bucket, Key=place, Body=packed)
            item["at"] = {"S": place}
        else:
            item["d"] = {"B": packed}
        self._dynamodb.put_item(
            TableName=self._table, Item=item, ConditionExpression="attribute_not_exists(PK)"
        )
