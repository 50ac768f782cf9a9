"""The shares of a tenant's rate on DynamoDB: two items, each changed by one update, never read.

An update that is repeated after a lost answer takes a share that nobody spends: less is used, never more.
"""

from acta_engine.errors import StoreThrottled
from acta_engine.limits.store import Taken
from acta_engine.store import table_layout as items
from acta_engine.store.query import OneTable

ATTEMPTS = 4
_Change = tuple[str, str]
"""What an update sets, and on which condition."""
_TAKE: tuple[_Change, ...] = (
    ("SET g = g + :k", "w >= :w"),
    ("SET w = :w, g = :k", "attribute_not_exists(w) OR w < :w"),
)
_RENEW_HERE: _Change = ("SET c = c + :one", "w = :w AND c < t")
_HOLD_HERE: _Change = ("SET c = c + :one, t = t + :one", "w = :w AND t < :most")
_RENEW: tuple[_Change, ...] = (
    _RENEW_HERE,
    ("SET t = c, c = :one, w = :w", "w = :v AND c >= :one"),
    _RENEW_HERE,
)
_HOLD: tuple[_Change, ...] = (
    _HOLD_HERE,
    ("SET t = c + :one, c = :one, w = :w", "w = :v AND c < :most"),
    ("SET t = :one, c = :one, w = :w", "attribute_not_exists(w) OR w < :v"),
    _HOLD_HERE,
)
"""The most usual first; the last for who was overtaken by the first worker of a window."""


class DynamoRateLeases(OneTable):
    def take(self, tenant: str, window: int, size: int) -> Taken:
        key, values = items.rate_key(tenant), {"w": window, "k": size}
        for _ in range(ATTEMPTS):
            for change in _TAKE:
                item = self._update(key, *change, values)
                if item is not None:
                    return Taken(int(item["w"]["N"]), int(item["g"]["N"]) - size)
        raise StoreThrottled("update_item: other workers were faster")

    def hold(self, tenant: str, window: int, most: int, *, renews: bool) -> bool:
        key, values = items.polls_key(tenant), {"w": window, "v": window - 1, "one": 1, "most": most}
        changes = [*(_RENEW if renews else ()), *_HOLD]
        return any(self._update(key, *change, values) is not None for change in changes)

    def _update(
        self, key: items.Item, update: str, condition: str, values: dict[str, int]
    ) -> items.Item | None:
        """The item as it is now. None: the condition did not hold."""
        words = f"{update} {condition}".replace(",", " ").split()
        answer = self._call_if(
            "update_item",
            Key=key,
            UpdateExpression=update,
            ConditionExpression=condition,
            ExpressionAttributeValues={
                f":{name}": {"N": str(value)} for name, value in values.items() if f":{name}" in words
            },
            ReturnValues="ALL_NEW",
        )
        item: items.Item | None = None if answer is None else answer["Attributes"]
        return item
