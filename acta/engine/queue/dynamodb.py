"""Buckets and lines of providers on DynamoDB (ADR 106), in a partition of each provider's own.

pk               sk                                  attributes
D#{provider}#=A  A                                   t, r tokens and requests are paid for up to then; q until when a
                                                     line is taken to exist; all in milliseconds since 1970; n the
                                                     tenant that was admitted last; m, o tokens and requests of a
                                                     minute that answers have named, at l; d until when a
                                                     dispatcher shares the line out
D#{provider}#=A  Q#{tenant}#{number:010d}#{session}  a session of the line, by the second since when: e tenant, s id,
                                                     c tokens of its call, a since when, exactly; p when a
                                                     dispatcher first passed it over

To take from a bucket is one update that reads nothing. Which form of the update holds is guessed from what this process
saw last. If the guess is wrong, the item is read. If a line was seen last, it is read first.
"""

from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from acta.engine.aws.clients import Service, make_client
from acta.engine.aws.errors import AwsRefused
from acta.engine.errors import StoreThrottled
from acta.engine.queue.places import (
    BURST,
    PLACES_COUNTED,
    Grant,
    GrantPrice,
    ProviderBucket,
    ProviderLimits,
    QueuePlace,
    QueuePosition,
    in_milliseconds,
)
from acta.engine.store.dynamodb import DeploymentTable
from acta.engine.store.keys import key_part, tenant_part
from acta.engine.store.table_layout import Item

ATTEMPTS = 6
RETURN_ATTEMPTS = 2
"""Tries to give tokens back: another worker may change the bucket between the read and the write."""
ADMISSION = "=A"
"""Ends the partition keys (`acta/infra/lambdas/grants.py`)."""
BUCKET, _LINE = "A", "Q#"
_END = "$"
"""Comes after `#` and before every character of a part of a key."""
_NAMES = {"tokens": "t", "requests": "r", "line": "q", "learnt": "l", "shared": "d"}
_LIMITS = ("m", "o")
"""The attributes with the limits of tokens and of requests."""


class DynamoAdmission(DeploymentTable):
    def __init__(self, table: str, client: Any = None) -> None:
        super().__init__(table, client)
        self._given_client = client
        self._seen: dict[str, ProviderBucket] = {}

    def take(self, provider: str, price: GrantPrice, now: datetime) -> Grant:
        return self._take(provider, price, in_milliseconds(now))

    def take_for(self, tenant: str, provider: str, price: GrantPrice, now: datetime) -> Grant:
        return self._take(provider, price, in_milliseconds(now), tenant=tenant)

    def share_out(
        self, last: str, provider: str, price: GrantPrice, now: datetime, until: datetime, mine: int = 0
    ) -> Grant:
        share = _Share(in_milliseconds(until), mine)
        return self._take(provider, price, in_milliseconds(now), tenant=last, share=share)

    def _take(
        self,
        provider: str,
        price: GrantPrice,
        now: int,
        *,
        tenant: str = "",
        share: "_Share | None" = None,
    ) -> Grant:
        seen = self._seen.get(provider, ProviderBucket())
        if not tenant and seen.has_line(now):  # a read costs less than an update that is refused
            self._seen[provider] = seen = self.bucket(provider)
            if seen.has_line(now):
                return Grant(False, seen)
        for _ in range(ATTEMPTS):
            sets, conditions, values = _update(seen, price, now)
            if tenant:
                sets, values = [*sets, "n = :n"], {**values, ":n": {"S": tenant}}
            else:
                conditions = [*conditions, "(attribute_not_exists(q) OR q <= :now)"]
            if share is not None:
                sets = [*sets, "d = :d"]
                conditions = [*conditions, "(attribute_not_exists(d) OR d <= :now OR d = :mine)"]
                values = {**values, ":d": _n(share.until), ":mine": _n(share.mine)}
            values = (
                {**values, ":now": _n(now)}
                if any(":now" in each for each in (*sets, *conditions))
                else values
            )
            found, done = self._updated(provider, sets or ["n = if_not_exists(n, :none)"], conditions, values)
            self._seen[provider] = seen = found
            if done:
                return Grant(True, found)
            stopped = not tenant and found.has_line(now)
            stopped = stopped or (share is not None and found.is_shared(now, share.mine))
            if stopped or found.after(price, now) is None:
                return Grant(False, found)
        raise StoreThrottled("update_item: other workers were faster")

    def _updated(
        self, provider: str, sets: list[str], conditions: list[str], values: dict[str, Any]
    ) -> tuple[ProviderBucket, bool]:
        """Updates the bucket. Returns it as it is now, and whether it was changed."""
        if any(":none" in each for each in sets):
            values = {**values, ":none": {"S": ""}}
        request: dict[str, Any] = {
            "Key": _bucket_key(provider),
            "UpdateExpression": f"SET {', '.join(sets)}",
            "ExpressionAttributeValues": values,
            "ReturnValues": "ALL_NEW",
        }
        if conditions:
            request["ConditionExpression"] = " AND ".join(conditions)
        answer = self._call_if("update_item", **request)
        return (self.bucket(provider), False) if answer is None else (_bucket(answer["Attributes"]), True)

    def give_back(self, provider: str, tokens: int, now: datetime) -> None:
        at = in_milliseconds(now)
        # Read first: mostly nothing is owed any more when the model has answered, and a read costs less than a write.
        for _ in range(RETURN_ATTEMPTS):
            seen = self.bucket(provider)
            if seen.tokens <= at:
                return
            if seen.tokens - tokens >= at:
                change, condition = "SET t = t - :t", "t >= :least"
                values = {":t": _n(tokens), ":least": _n(at + tokens)}
            else:
                change, condition = "SET t = :now", "t BETWEEN :now AND :most"
                values = {":now": _n(at), ":most": _n(at + tokens)}
            client = self._given_client or client_that_repeats_nothing()
            try:
                Service("dynamodb", client, of_deployment=True).call(
                    "update_item",
                    TableName=self._table,
                    Key=_bucket_key(provider),
                    UpdateExpression=change,
                    ConditionExpression=condition,
                    ExpressionAttributeValues=values,
                )
            except AwsRefused as refused:
                if refused.code != "ConditionalCheckFailedException":
                    raise
            else:
                return

    def learn(self, provider: str, limits: ProviderLimits, now: datetime) -> None:
        values = {":l": _n(in_milliseconds(now))}
        sets, gone = ["l = :l"], []
        for short, most in zip(_LIMITS, limits, strict=True):
            if most is None:
                gone.append(short)
            else:
                sets.append(f"{short} = :{short}")
                values[f":{short}"] = _n(most)
        remove = f" REMOVE {', '.join(gone)}" if gone else ""
        self._dynamodb.call(
            "update_item",
            TableName=self._table,
            Key=_bucket_key(provider),
            UpdateExpression=f"SET {', '.join(sets)}{remove}",
            ExpressionAttributeValues=values,
        )

    def bucket(self, provider: str) -> ProviderBucket:
        return _bucket(self._get(_bucket_key(provider)) or {})

    def join(self, one: QueuePlace, now: datetime, line_until: datetime) -> QueuePosition:
        self._dynamodb.call("put_item", TableName=self._table, Item=_item(one))
        begun = self._call_if(
            "update_item",
            Key=_bucket_key(one.provider),
            UpdateExpression="SET q = :q",
            ConditionExpression="attribute_not_exists(q) OR q <= :now",
            ExpressionAttributeValues={
                ":q": _n(in_milliseconds(line_until)),
                ":now": _n(in_milliseconds(now)),
            },
        )
        answer = self._query(
            one.provider,
            "sk BETWEEN :a AND :b",
            {":a": line_prefix(one.tenant), ":b": _sk(one)},
            PLACES_COUNTED + 1,
            count=True,
        )
        return QueuePosition(max(0, int(answer["Count"]) - 1), begins_line=begun is not None)

    def first_after(self, provider: str, tenant: str) -> QueuePlace | None:
        return next(iter(self.page_after(provider, tenant, 1)), None)

    def next_of(self, one: QueuePlace) -> QueuePlace | None:
        return next(iter(self.page_behind(one, 1)), None)

    def page_after(self, provider: str, tenant: str, most: int) -> list[QueuePlace]:
        after = f"{_LINE}{tenant_part(tenant)}{_END}" if tenant else _LINE
        return self._page(provider, after, f"{_LINE[0]}{_END}", most)

    def page_behind(self, one: QueuePlace, most: int) -> list[QueuePlace]:
        return self._page(one.provider, f"{_sk(one)}{_END}", f"{_LINE}{tenant_part(one.tenant)}{_END}", most)

    def _page(self, provider: str, start: str, end: str, most: int) -> list[QueuePlace]:
        found = self._query(provider, "sk BETWEEN :a AND :b", {":a": start, ":b": end}, most)
        return [_in_line(provider, item) for item in found["Items"]]

    def _query(
        self, provider: str, condition: str, values: dict[str, str], limit: int, *, count: bool = False
    ) -> dict[str, Any]:
        answer: dict[str, Any] = self._dynamodb.call(
            "query",
            TableName=self._table,
            KeyConditionExpression=f"pk = :pk AND {condition}",
            ExpressionAttributeValues={
                ":pk": _bucket_key(provider)["pk"],
                **{name: {"S": value} for name, value in values.items()},
            },
            ConsistentRead=True,
            Limit=limit,
            **({"Select": "COUNT"} if count else {}),
        )
        return answer

    def pass_over(self, one: QueuePlace, now: datetime) -> datetime:
        item = _item(one)
        answer = self._call_if(
            "update_item",
            Key={"pk": item["pk"], "sk": item["sk"]},
            UpdateExpression="SET p = if_not_exists(p, :now)",
            ConditionExpression="attribute_exists(pk)",
            ExpressionAttributeValues={":now": {"S": now.isoformat()}},
            ReturnValues="ALL_NEW",
        )
        if answer is None:
            return now  # the session has left the line meanwhile
        return datetime.fromisoformat(answer["Attributes"]["p"]["S"])

    def leave(self, one: QueuePlace) -> None:
        item = _item(one)
        self._dynamodb.call("delete_item", TableName=self._table, Key={"pk": item["pk"], "sk": item["sk"]})

    def keep_line(self, provider: str, seen: ProviderBucket, until: datetime | None) -> bool:
        values = {":seen": _n(seen.line), ":q": _n(in_milliseconds(until) if until is not None else 0)}
        condition = "q = :seen" if seen.line else "(attribute_not_exists(q) OR q = :seen)"
        return self._updated(provider, ["q = :q"], [condition], values)[1]


@cache
def client_that_repeats_nothing() -> Any:
    """A client without retries: a give-back that is repeated after its answer was lost would count twice."""
    return make_client("dynamodb", attempts=1)


class _Share(NamedTuple):
    """`until` and `mine` of `share_out`, in milliseconds."""

    until: int
    mine: int


def _update(seen: ProviderBucket, price: GrantPrice, now: int) -> tuple[list[str], list[str], dict[str, Any]]:
    """The update of a bucket, guessed from what was seen last: what to set, on which conditions, and the values."""
    sets, conditions, values = [], [], {}
    for name, cost in (("tokens", price.tokens), ("requests", price.requests)):
        if not cost:
            continue
        short, paid = _NAMES[name], getattr(seen, name)
        if paid <= now:
            sets.append(f"{short} = :{short}")
            conditions.append(f"(attribute_not_exists({short}) OR {short} <= :now)")
            values[f":{short}"] = _n(now + cost)
        else:
            sets.append(f"{short} = {short} + :{short}")
            values[f":{short}"] = _n(cost)
            conditions.append(f"{short} BETWEEN :now AND :{short}m")
            values[f":{short}m"] = _n(max(now, now + BURST - cost))
    return sets, conditions, values


def _n(number: int) -> dict[str, str]:
    return {"N": str(number)}


def _bucket_key(provider: str) -> Item:
    return {"pk": {"S": f"D#{key_part(provider)}#{ADMISSION}"}, "sk": {"S": BUCKET}}


def _bucket(item: Item) -> ProviderBucket:
    numbers = {name: int(item[short]["N"]) for name, short in _NAMES.items() if short in item}
    limits = ProviderLimits(*(int(item[short]["N"]) if short in item else None for short in _LIMITS))
    return ProviderBucket(**numbers, last=item["n"]["S"] if "n" in item else "", limits=limits)


def line_prefix(tenant: str) -> str:
    """How the sort keys of all the tenant's sessions in lines begin."""
    return f"{_LINE}{tenant_part(tenant)}#"


def _sk(one: QueuePlace) -> str:
    return f"{line_prefix(one.tenant)}{int(one.since.timestamp()):010d}#{key_part(one.session_id)}"


def _item(one: QueuePlace) -> Item:
    return {
        **_bucket_key(one.provider),
        "sk": {"S": _sk(one)},
        "e": {"S": one.tenant},
        "s": {"S": one.session_id},
        "c": _n(one.tokens),
        "a": {"S": one.since.isoformat()},
    }


def _in_line(provider: str, item: Item) -> QueuePlace:
    return QueuePlace(
        provider, item["e"]["S"], item["s"]["S"], datetime.fromisoformat(item["a"]["S"]), int(item["c"]["N"])
    )
