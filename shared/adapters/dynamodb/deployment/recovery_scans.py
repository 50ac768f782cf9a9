"""The last scan of recovery on DynamoDB: one item for the whole deployment.

pk    sk    attributes
D     R     t when it ended, and a number for each of `NUMBERS`
"""

from datetime import datetime
from types import MappingProxyType
from typing import Any

from shared.adapters.aws.clients import Service
from shared.ports.deployment.recovery_scans import RecoveryScan, Tally

_KEY = {"pk": {"S": "D"}, "sk": {"S": "R"}}
NUMBERS = MappingProxyType(
    {
        "looked": "lo",
        "started": "st",
        "restarted": "re",
        "woken": "wo",
        "unreadable": "un",
        "put_off": "po",
        "left": "le",
        "unread": "ur",
        "unanswered": "ua",
    }
)
"""By the number's name in `Tally`, its attribute."""


class DynamoRecoveryScans:
    """`client`: a botocore DynamoDB client, where it is not this process's own."""

    def __init__(self, table: str, client: Any = None) -> None:
        self._table = table
        self._dynamodb = Service("dynamodb", client, of_deployment=True)

    def last(self) -> RecoveryScan | None:
        item = self._dynamodb.call("get_item", TableName=self._table, Key=_KEY).get("Item")
        if item is None:
            return None
        numbers = {name: int(item[short]["N"]) for name, short in NUMBERS.items() if short in item}
        return RecoveryScan(datetime.fromisoformat(item["t"]["S"]), Tally(**numbers))

    def put(self, scan: RecoveryScan) -> None:
        numbers = {NUMBERS[name]: {"N": str(number)} for name, number in scan.tally._asdict().items()}
        item = {**_KEY, "t": {"S": scan.ended_at.isoformat()}, **numbers}
        self._dynamodb.call("put_item", TableName=self._table, Item=item)
