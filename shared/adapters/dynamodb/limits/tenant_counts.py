"""The counts of a tenant on DynamoDB: one item, changed in the transactions of the commits that it counts (ADR 65).

An update says what it adds, and is carried out only with its commit, whose number has to be free: so it is made once or
never. Nobody reads the item before. Whether a start is the first of its minute is guessed by what this process saw
last; where the guess is wrong, or a limit is reached, the condition fails and the item is read.
"""

from collections import OrderedDict

from shared.adapters.aws.clients import Service
from shared.adapters.dynamodb import table_layout as items
from shared.adapters.dynamodb.transaction import Action
from shared.domain.limits.tenant_limits import TenantCounts
from shared.ports.clock import Clock
from shared.ports.log import Places

TENANTS_KEPT = 200


class DynamoCounts:
    def __init__(self, table: str, clock: Clock, dynamodb: Service) -> None:
        self._table = table
        self._clock = clock
        self._dynamodb = dynamodb
        self._minutes: OrderedDict[str, int] = OrderedDict()
        """Tenant -> the newest minute that its item is known to have."""

    def get(self, tenant: str) -> TenantCounts:
        answer = self._dynamodb.call(
            "get_item", TableName=self._table, Key=items.counts_key(tenant), ConsistentRead=True
        )
        return items.item_counts(answer.get("Item", {}))

    def update(self, places: Places) -> Action:
        """An action of the commit's transaction."""
        start = places.start
        if start is None or start.most_starts is None:
            return self._action(places, [], [], {})
        if self._minutes.get(places.tenant, -1) >= start.minute:
            # A clock that is behind counts in the minute that the item has.
            values = {":m": start.minute, ":one": 1, ":starts": start.most_starts}
            return self._action(places, ["n = n + :one"], ["m >= :m", "n < :starts"], values)
        values = {":m": start.minute, ":one": 1}
        return self._action(places, ["m = :m", "n = :one"], ["(attribute_not_exists(m) OR m < :m)"], values)

    def check(self, places: Places) -> None:
        """After the update's condition has failed. Raises LimitReached where a limit is the reason; else the next
        update is right, unless others are faster.
        """
        counts = self.get(places.tenant)
        self._saw(places.tenant, counts.minute)
        refusal = (
            None if places.start is None else places.start.refusal(counts, places.opened, self._clock.now())
        )
        if refusal is not None:
            raise refusal

    def made(self, places: Places) -> None:
        """After the transaction succeeded."""
        if places.start is not None and places.start.most_starts is not None:
            self._saw(places.tenant, max(places.start.minute, self._minutes.get(places.tenant, 0)))

    def _saw(self, tenant: str, minute: int) -> None:
        self._minutes[tenant] = minute
        self._minutes.move_to_end(tenant)
        if len(self._minutes) > TENANTS_KEPT:
            self._minutes.popitem(last=False)

    def _action(
        self, places: Places, changes: list[str], conditions: list[str], values: dict[str, int]
    ) -> Action:
        values = dict(values)
        if places.opened:
            changes = [*changes, "o = if_not_exists(o, :zero) + :opened"]
            values |= {":zero": 0, ":opened": places.opened}
            most_open = None if places.start is None else places.start.most_open
            if most_open is not None and places.opened > 0:
                conditions = [*conditions, "(attribute_not_exists(o) OR o < :open)"]
                values[":open"] = most_open
        update = {
            "TableName": self._table,
            "Key": items.counts_key(places.tenant),
            "UpdateExpression": f"SET {', '.join(changes)}",
            "ExpressionAttributeValues": {name: {"N": str(value)} for name, value in values.items()},
        }
        if conditions:
            update["ConditionExpression"] = " AND ".join(conditions)
        return {"Update": update}
