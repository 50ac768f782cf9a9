"""The audit trail on DynamoDB, in a table of its own, whose items the functions may put and not change (ADR 54).

    pk            sk                    attributes
    T#{tenant}    U#{record}#0          a action, w pseudonym, s session id, v version, j the record as JSON, ttl:
                                        before the action
    T#{tenant}    U#{record}#1          the same, after it: the same record with how it ended
    D             U#{record}#0, #1      the same, of what operators do to the whole environment

Records are not encoded, so that an auditor can read them without Acta. Their ids order by time. People stand in them,
and in logs of refusals, as a keyed hash of tenant and subject: whoever has the key and knows a person's subject finds
that person's records. Nobody finds the person from a record.
"""

import hmac
import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from acta.engine.audit.record import Audit, AuditFilter, AuditPage, AuditRecord, RecordExists
from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.aws.secrets import SecretUnreadable, secret_text
from acta.engine.clock import AUDIT, Clock, make_id
from acta.engine.errors import StoreUnavailable
from acta.engine.settings import Settings
from acta.engine.store.dynamodb import query
from acta.engine.store.keys import from_cursor, tenant_pk, to_cursor
from acta.engine.store.schema import read_json, to_json
from acta.engine.store.table_layout import Item

RECORD_VERSION = 1
RECORD = "U#"
FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
NO_RANDOMNESS = bytes(10)
QUERIES = 5
FILTERED_LIMIT = 200
"""A page looks at no more than QUERIES × FILTERED_LIMIT items: with a filter it may come back short, with a cursor."""

_NEW = "attribute_not_exists(pk) OR j = :j"
"""The same again changes nothing: the SDK repeats a request whose answer was lost."""


class DynamoTrail:
    """Writes and reads with the role of the tenant who is bound (ADR 48).

    `table`: empty while a deployment brings this release's code before its variables; then nothing can be recorded.
    `retention_days`: after which a record is deleted; 0: never. `client`: a botocore DynamoDB client, where it is not
    this process's own.
    """

    def __init__(self, table: str, retention_days: int = 0, client: Any = None) -> None:
        self._table = table
        self._kept = timedelta(days=retention_days)
        self._dynamodb = Service("dynamodb", client)

    def put(self, tenant: str | None, record: AuditRecord) -> None:
        item = record_item(tenant, record, self._kept)
        try:
            self._check_table()
            self._dynamodb.call(
                "put_item",
                TableName=self._table,
                Item=item,
                ConditionExpression=_NEW,
                ExpressionAttributeValues={":j": item["j"]},
            )
        except AwsRefused as refused:
            if refused.code != "ConditionalCheckFailedException":
                raise
            raise RecordExists from None

    def find(self, tenant: str, wanted: AuditFilter, *, limit: int, cursor: str | None) -> AuditPage:
        scope, limit = f"{RECORD}{tenant}", max(limit, 1)
        before = None if cursor is None else from_cursor(scope, cursor)
        found: list[AuditRecord] = []
        last = ""
        for number, answer in enumerate(self._newest_first(tenant, wanted, before, limit), start=1):
            for item in answer["Items"]:
                record_id = _id_of(item)
                if record_id == last:  # its beginning, after its end
                    continue
                if len(found) == limit:
                    return AuditPage(tuple(found), to_cursor(scope, found[-1].audit_id))
                found.append(item_record(item))
                last = record_id
            if "LastEvaluatedKey" in answer and number == QUERIES:
                return AuditPage(tuple(found), to_cursor(scope, _id_of(answer["LastEvaluatedKey"])))
        return AuditPage(tuple(found), None)

    def _newest_first(
        self, tenant: str, wanted: AuditFilter, before: str | None, limit: int
    ) -> Iterator[Any]:
        """Makes one Query after another while the caller goes on. `before`: only records older than this id come."""
        lowest = _first_id(wanted.since or FIRST)
        highest = min(each for each in (before, _first_id(wanted.until or LAST)) if each is not None)
        if lowest > highest:
            return
        named = {"a": wanted.action, "w": wanted.who, "s": wanted.session_id}
        asked = {name: {"S": value} for name, value in named.items() if value is not None}
        request: dict[str, Any] = {
            "TableName": self._table,
            "ConsistentRead": True,
            "ScanIndexForward": False,
            # both items of each record, and of one more, which tells that there is more
            "Limit": max(2 * limit + 2, FILTERED_LIMIT if asked else 0),
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :lowest AND :highest",
            "ExpressionAttributeValues": {
                ":pk": {"S": tenant_pk(tenant)},
                ":lowest": {"S": RECORD + lowest},
                ":highest": {"S": RECORD + highest},
                **{f":{name}": value for name, value in asked.items()},
            },
        }
        if asked:
            request["FilterExpression"] = " AND ".join(f"{name} = :{name}" for name in asked)
        self._check_table()
        yield from query(self._dynamodb, **request)

    def _check_table(self) -> None:
        if not self._table:
            raise StoreUnavailable("the audit table is not known yet")


def record_item(tenant: str | None, record: AuditRecord, kept: timedelta) -> Item:
    """`tenant` None: an operator's work on the whole environment, which no function records."""
    session_id = record.details.get("session_id")
    end = 0 if record.outcome == "begun" else 1
    return {
        "pk": {"S": "D" if tenant is None else tenant_pk(tenant)},
        "sk": {"S": f"{RECORD}{record.audit_id}#{end}"},
        "a": {"S": record.action},
        "w": {"S": record.who},
        "v": {"N": str(RECORD_VERSION)},
        "j": {"S": to_json(record, RECORD_VERSION).decode()},
        **({"s": {"S": session_id}} if session_id else {}),
        **({"ttl": {"N": str(math.ceil((record.at + kept).timestamp()))}} if kept else {}),
    }


def item_record(item: Item) -> AuditRecord:
    return read_json("audit record", AuditRecord, int(item["v"]["N"]), item["j"]["S"])


def _id_of(item: Item) -> str:
    """From `sk`."""
    return str(item["sk"]["S"]).removeprefix(RECORD).partition("#")[0]


def _first_id(at: datetime) -> str:
    """The smallest id of that time. An item's key is longer than its id, so as an upper bound this leaves out what was
    made at that time.
    """
    milliseconds = max(math.ceil(at.timestamp() * 1_000), 0)
    return make_id(AUDIT, milliseconds, NO_RANDOMNESS)


LOCAL_KEY = "a local stack keeps nothing of people"
"""The key of a local stack, which has no Secrets Manager."""
CHARS = 32


class KeyedPseudonyms:
    """`secret`: the name of the secret with the key; empty: `local_key` is the key. A process reads it once, at its
    first use: it does not change, except where an operator destroys it.
    """

    def __init__(self, secret: str, local_key: str = "", secrets: Callable[[str], str] = secret_text) -> None:
        self._secret = secret
        self._key = "" if secret else local_key
        self._secrets = secrets

    def of(self, tenant: str, user: str) -> str:
        if not self._key:
            self._key = self._read()
        said = f"{tenant}\0{user}".encode("utf-8", "surrogatepass")
        return f"p_{hmac.new(self._key.encode(), said, sha256).hexdigest()[:CHARS]}"

    def _read(self) -> str:
        if not self._secret:
            raise StoreUnavailable("the audit key is not known yet")
        try:
            key = self._secrets(self._secret)
        except SecretUnreadable as unreadable:
            raise StoreUnavailable(f"the audit key cannot be read: {unreadable}") from None
        if not key:
            raise StoreUnavailable("there is no audit key")
        return key


def audit(settings: Settings, clock: Clock, client: Any = None) -> Audit:
    """`client`: as in `DynamoTrail`."""
    local_key = LOCAL_KEY if settings.is_local else ""
    return Audit(
        DynamoTrail(settings.audit_table, settings.audit_retention_days, client),
        KeyedPseudonyms(settings.audit_secret, local_key),
        clock,
    )
