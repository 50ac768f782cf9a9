"""The last scans of recovery on DynamoDB, and where its housekeeping goes on: one item for the whole deployment.

pk    sk    attributes
D     R     for each round (`ROUNDS`) a map: t when it ended, and a number for each of `NUMBERS`
            p a map: e cursor of the erasures, m minute whose part of the ended sessions comes next, c cursor in it
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from acta_engine.recovery.store import EndedPlace, HousekeepingPlace, Round, RoundCounts, RoundResult
from acta_engine.store.dynamodb import DeploymentTable

_KEY = {"pk": {"S": "D"}, "sk": {"S": "R"}}
ROUNDS: Mapping[Round, str] = MappingProxyType({"due": "d", "woken": "w", "housekeeping": "h"})
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
"""By the number's name in `RoundCounts`, its attribute."""


class DynamoRecoveryScans(DeploymentTable):
    def last(self) -> Mapping[Round, RoundResult]:
        item = self._item()
        return {round: _scan(item[short]["M"]) for round, short in ROUNDS.items() if short in item}

    def put(self, round: Round, scan: RoundResult) -> None:
        numbers = {NUMBERS[name]: {"N": str(number)} for name, number in scan.tally._asdict().items()}
        self._set(ROUNDS[round], {"t": {"S": scan.ended_at.isoformat()}, **numbers})

    def place(self) -> HousekeepingPlace:
        found = self._item().get("p", {"M": {}})["M"]
        erasures, cursor = (found[name]["S"] if name in found else None for name in ("e", "c"))
        return HousekeepingPlace(erasures, EndedPlace(int(found["m"]["N"]), cursor) if "m" in found else None)

    def put_place(self, place: HousekeepingPlace) -> None:
        stored = {} if place.ended is None else {"m": {"N": str(place.ended.minute)}}
        cursors = {"e": place.erasures, "c": place.ended.cursor if place.ended is not None else None}
        stored |= {name: {"S": cursor} for name, cursor in cursors.items() if cursor is not None}
        self._set("p", stored)

    def _item(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._dynamodb.call("get_item", TableName=self._table, Key=_KEY)
        item: Mapping[str, Any] = found.get("Item", {})
        return item

    def _set(self, name: str, value: Mapping[str, Any]) -> None:
        """Leaves the others as they are: the rounds end at the same time."""
        self._dynamodb.call(
            "update_item",
            TableName=self._table,
            Key=_KEY,
            UpdateExpression="SET #name = :value",
            ExpressionAttributeNames={"#name": name},
            ExpressionAttributeValues={":value": {"M": value}},
        )


def _scan(stored: Mapping[str, Any]) -> RoundResult:
    numbers = {name: int(stored[short]["N"]) for name, short in NUMBERS.items() if short in stored}
    return RoundResult(datetime.fromisoformat(stored["t"]["S"]), RoundCounts(**numbers))
