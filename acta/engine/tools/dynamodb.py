"""The names of tenants' tool secrets on DynamoDB. No item has the value of a secret: values are in Secrets Manager.

pk             sk             attributes
T#{tenant}     X#{secret}     v version, c created at, u updated at, b who set its value last, h where it
                              may be sent
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from acta.engine.store.dynamodb import OneTable
from acta.engine.store.keys import key_part, tenant_pk
from acta.engine.store.schema import check_version
from acta.engine.store.table_layout import ATTRIBUTES_VERSION, Item, item_key

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.tools.tool import ToolSecret

KEPT_APART = "X#"


class DynamoToolSecretNames(OneTable):
    def all(self, tenant: str) -> tuple[ToolSecret, ...]:
        return tuple(map(_secret, self._items(tenant_pk(tenant), KEPT_APART)))

    def put(self, tenant: str, secret: ToolSecret) -> None:
        item = {
            **_key(tenant, secret.name),
            "v": {"N": str(ATTRIBUTES_VERSION)},
            "c": {"S": secret.created_at.isoformat()},
            "u": {"S": secret.updated_at.isoformat()},
            "b": {"S": secret.updated_by},
            **({"h": {"S": " ".join(secret.hosts)}} if secret.hosts else {}),
        }
        self._dynamodb.call("put_item", TableName=self._table, Item=item)

    def delete(self, tenant: str, name: str) -> None:
        self._dynamodb.call("delete_item", TableName=self._table, Key=_key(tenant, name))


def _key(tenant: str, name: str) -> Item:
    return item_key(tenant_pk(tenant), KEPT_APART + key_part(name))


def _secret(item: Item) -> ToolSecret:
    check_version("tool secret", int(item["v"]["N"]))
    from acta.engine.tools.tool import ToolSecret

    return ToolSecret(
        name=item["sk"]["S"].removeprefix(KEPT_APART),
        created_at=datetime.fromisoformat(item["c"]["S"]),
        updated_at=datetime.fromisoformat(item["u"]["S"]),
        updated_by=item["b"]["S"],
        hosts=tuple(item["h"]["S"].split()) if "h" in item else (),
    )
