"""Tenants' tools, MCP servers and the names of their secrets on DynamoDB.

Tools and MCP servers stand beside the tenant's agents and under the same revision (`agents/dynamodb_items.py`). A
release that does not know MCP servers leaves them as they are. No item has the value of a secret: values are in Secrets
Manager.

pk             sk             attributes
T#{tenant}     X#{secret}     v version, c created at, u updated at, b who set its value last, h where it
                              may be sent
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from acta_engine.agents.dynamodb_items import change_definition
from acta_engine.agents.store import DefinitionChanged, ServerChanged, ToolChanged, ToolExists
from acta_engine.log.commit import IdempotencyRecord
from acta_engine.log.store import KeyTaken
from acta_engine.store.dynamodb import (
    FREE,
    Action,
    ClockedTable,
    ConditionFailed,
    OneTable,
    delete,
    get_item,
    put,
    put_record,
    query,
    transact,
)
from acta_engine.store.keys import key_part, tenant_pk
from acta_engine.store.schema import check_version
from acta_engine.store.table_layout import ATTRIBUTES_VERSION, Item, dump, item_key, load, record_key, stored

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta_engine.tools.mcp.server import McpServer
    from acta_engine.tools.tool import ToolDefinition, ToolSecret


def from_tool(tool: ToolDefinition, version: int) -> bytes:
    return dump(tool, version)


def to_tool(version: int, data: bytes) -> ToolDefinition:
    from acta_engine.tools.tool import ToolDefinition

    return load("tool", ToolDefinition, version, data)


def from_server(server: McpServer, version: int) -> bytes:
    return dump(server, version)


def to_server(version: int, data: bytes) -> McpServer:
    from acta_engine.tools.mcp.server import McpServer  # few tenants have one

    return load("MCP server", McpServer, version, data)


TOOL, SERVER = "F#", "MCP#"
AS_READ = "n = :n AND c = :c"
"""Both: versions begin anew where a tool, or a server, was deleted and made again under its name."""

Definition = TypeVar("Definition", "ToolDefinition", "McpServer")


class _Items(ClockedTable, Generic[Definition]):
    """What a tenant has few of, by name, each as one item."""

    first: str
    """How its sort keys begin."""
    stale: type[Exception]
    """What is raised where an item is not as it was read."""
    read: Callable[[int, bytes], Definition]

    def all(self, tenant: str) -> tuple[Definition, ...]:
        answers = query(
            self._dynamodb,
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :first)",
            ExpressionAttributeValues={":pk": {"S": tenant_pk(tenant)}, ":first": {"S": self.first}},
        )
        return tuple(self.read(*stored(item)) for answer in answers for item in answer["Items"])

    def get(self, tenant: str, name: str) -> Definition | None:
        item = get_item(self._dynamodb, self._table, self._key(tenant, name))
        return None if item is None else self.read(*stored(item))

    def delete(self, tenant: str, old: Definition) -> None:
        key = self._key(tenant, old.name)
        self._change(tenant, delete(self._table, key, AS_READ, **_as_stored(old)), self.stale)

    def _put_new(self, tenant: str, new: Definition) -> Action:
        return put(self._table, self._item(tenant, new), FREE)

    def _put_over(self, tenant: str, old: Definition, new: Definition) -> Action:
        return put(self._table, self._item(tenant, new), AS_READ, **_as_stored(old))

    def _change(
        self,
        tenant: str,
        decisive: Action,
        otherwise: type[Exception],
        record: IdempotencyRecord | None = None,
    ) -> None:
        """`otherwise`: is raised where the condition of `decisive` does not hold."""
        try:
            change_definition(self._dynamodb, self._table, self._clock, tenant, decisive, record)
        except DefinitionChanged:
            raise otherwise from None

    def _key(self, tenant: str, name: str) -> Item:
        return {"pk": {"S": tenant_pk(tenant)}, "sk": {"S": self.first + key_part(name)}}

    def _item(self, tenant: str, one: Definition) -> Item:
        version = self._write_version
        body: Item = {"v": {"N": str(version)}, "z": {"B": dump(one, version)}}
        return {**self._key(tenant, one.name), **_as_stored(one), **body}


class DynamoToolStore(_Items["ToolDefinition"]):
    first, stale, read = TOOL, ToolChanged, staticmethod(to_tool)

    def create(self, tenant: str, tool: ToolDefinition, record: IdempotencyRecord | None = None) -> None:
        self._change(tenant, self._put_new(tenant, tool), ToolExists, record)

    def replace(self, tenant: str, old: ToolDefinition, new: ToolDefinition) -> None:
        self._change(tenant, self._put_over(tenant, old, new), ToolChanged)

    def take_key(self, record: IdempotencyRecord) -> None:
        try:
            transact(self._dynamodb, self._clock, [put_record(self._table, record, self._clock)])
        except ConditionFailed:
            raise KeyTaken from None

    def leave_key(self, record: IdempotencyRecord) -> None:
        key = record_key(record.tenant, record.route, record.key)
        self._dynamodb.call("delete_item", TableName=self._table, Key=key)


class DynamoMcpServerStore(_Items["McpServer"]):
    first, stale, read = SERVER, ServerChanged, staticmethod(to_server)

    def write(self, tenant: str, old: McpServer | None, new: McpServer) -> None:
        decisive = self._put_new(tenant, new) if old is None else self._put_over(tenant, old, new)
        self._change(tenant, decisive, ServerChanged)


def _as_stored(one: ToolDefinition | McpServer) -> dict[str, dict[str, str]]:
    return {"n": {"N": str(one.version)}, "c": {"S": one.created_at.isoformat()}}


KEPT_APART = "X#"


class DynamoToolSecretNames(OneTable):
    def all(self, tenant: str) -> tuple[ToolSecret, ...]:
        answers = query(
            self._dynamodb,
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :secret)",
            ExpressionAttributeValues={":pk": {"S": tenant_pk(tenant)}, ":secret": {"S": KEPT_APART}},
        )
        return tuple(_secret(item) for answer in answers for item in answer["Items"])

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
    from acta_engine.tools.tool import ToolSecret

    return ToolSecret(
        name=item["sk"]["S"].removeprefix(KEPT_APART),
        created_at=datetime.fromisoformat(item["c"]["S"]),
        updated_at=datetime.fromisoformat(item["u"]["S"]),
        updated_by=item["b"]["S"],
        hosts=tuple(item["h"]["S"].split()) if "h" in item else (),
    )
