"""Where tenants and sessions are told, on DynamoDB (ADR 68). No item has a secret.

pk                        sk     attributes
T#{tenant}                O      v version, t the tenant's name, n URL of its webhook, if it has one, c created at,
                                 u updated at, b who wrote it last
T#{tenant}#S#{session}    O      v version, n URL of the session's webhook; written with its first commit
"""

from datetime import datetime
from typing import NamedTuple

from acta.engine.notifications.receiver import TenantReceiver
from acta.engine.store.dynamodb import OneTable
from acta.engine.store.keys import key_part, tenant_pk
from acta.engine.store.schema import check_version
from acta.engine.store.table_layout import ATTRIBUTES_VERSION, LISTING, Item, receiver_key


class DynamoTenantReceivers(OneTable):
    """TenantReceivers."""

    def get(self, tenant: str) -> TenantReceiver | None:
        item = self._get(receiver_key(tenant_pk(tenant)))
        return None if item is None else _receiver(item)

    def put(self, receiver: TenantReceiver) -> None:
        item = {
            **receiver_key(tenant_pk(receiver.tenant)),
            "v": {"N": str(ATTRIBUTES_VERSION)},
            "t": {"S": receiver.tenant},
            "c": {"S": receiver.created_at.isoformat()},
            "u": {"S": receiver.updated_at.isoformat()},
            "b": {"S": receiver.updated_by},
            **({"n": {"S": receiver.url}} if receiver.url is not None else {}),
        }
        self._dynamodb.call("put_item", TableName=self._table, Item=item)

    def delete(self, tenant: str) -> None:
        self._dynamodb.call("delete_item", TableName=self._table, Key=receiver_key(tenant_pk(tenant)))


class StoredReceivers(NamedTuple):
    """`session_url`: of the session's own webhook. Without a `tenant` there is no secret to sign with."""

    tenant: TenantReceiver | None
    session_url: str | None


class ReceiversByPartition(OneTable):
    """What `notify` asks: it has the keys of what changed."""

    def __call__(self, partition: str, session_id: str) -> StoredReceivers:
        """`partition`: the key of the tenant's items. Most tenants have none, and then the session is not looked at."""
        item = self._get(receiver_key(partition))
        if item is None:
            return StoredReceivers(None, None)
        session = self._get(receiver_key(f"{partition}#{LISTING}{key_part(session_id)}"))
        return StoredReceivers(_receiver(item), None if session is None else session["n"]["S"])


def _receiver(item: Item) -> TenantReceiver:
    check_version("receiver of notifications", int(item["v"]["N"]))
    return TenantReceiver(
        tenant=item["t"]["S"],
        url=item["n"]["S"] if "n" in item else None,
        created_at=datetime.fromisoformat(item["c"]["S"]),
        updated_at=datetime.fromisoformat(item["u"]["S"]),
        updated_by=item["b"]["S"],
    )
