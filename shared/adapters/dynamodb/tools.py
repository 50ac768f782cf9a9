"""Tenants' tools and MCP servers on DynamoDB, beside their agents and under the same revision (`definition_items`). A
release that does not know MCP servers leaves them as they are.
"""

from typing import Any

from shared.adapters.aws.clients import Service
from shared.adapters.dynamodb.definition_items import change_definition
from shared.adapters.dynamodb.query import query
from shared.adapters.dynamodb.table_layout import Item, record_key, stored
from shared.adapters.dynamodb.transaction import (
    FREE,
    Action,
    ConditionFailed,
    delete,
    put,
    put_record,
    transact,
)
from shared.adapters.storage.documents import dump, load
from shared.adapters.storage.keys import key_part, tenant_pk
from shared.domain.definitions.mcp_server import McpServer
from shared.domain.definitions.tool import ToolDefinition
from shared.domain.schema.versions import CURRENT
from shared.ports.clock import Clock
from shared.ports.definitions import DefinitionChanged, ServerChanged, ToolChanged, ToolExists
from shared.ports.log import IdempotencyRecord, KeyTaken


def from_tool(tool: ToolDefinition, version: int) -> bytes:
    return dump(tool, version)


def to_tool(version: int, data: bytes) -> ToolDefinition:
    return load("tool", ToolDefinition, version, data)


def from_server(server: McpServer, version: int) -> bytes:
    return dump(server, version)


def to_server(version: int, data: bytes) -> McpServer:
    return load("MCP server", McpServer, version, data)


TOOL, SERVER = "F#", "MCP#"
AS_READ = "n = :n AND c = :c"
"""Both: versions begin anew where a tool, or a server, was deleted and made again under its name."""


class DynamoToolStore:
    """`client`: a botocore DynamoDB client, where it is not this process's own. `write_version`: of what is stored."""

    def __init__(self, table: str, clock: Clock, client: Any = None, *, write_version: int = CURRENT) -> None:
        self._write_version = write_version
        self._table = table
        self._clock = clock
        self._dynamodb = Service("dynamodb", client)

    def all(self, tenant: str) -> tuple[ToolDefinition, ...]:
        answers = query(
            self._dynamodb,
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :tool)",
            ExpressionAttributeValues={":pk": {"S": tenant_pk(tenant)}, ":tool": {"S": TOOL}},
        )
        return tuple(_tool(item) for answer in answers for item in answer["Items"])

    def get(self, tenant: str, name: str) -> ToolDefinition | None:
        answer = self._dynamodb.call(
            "get_item", TableName=self._table, Key=_key(tenant, name), ConsistentRead=True
        )
        return _tool(answer["Item"]) if "Item" in answer else None

    def create(self, tenant: str, tool: ToolDefinition, record: IdempotencyRecord | None = None) -> None:
        try:
            self._change(tenant, put(self._table, self._item(tenant, tool), FREE), record)
        except DefinitionChanged:
            raise ToolExists from None

    def replace(self, tenant: str, old: ToolDefinition, new: ToolDefinition) -> None:
        self._change_as_read(tenant, put(self._table, self._item(tenant, new), AS_READ, **_as_stored(old)))

    def delete(self, tenant: str, old: ToolDefinition) -> None:
        self._change_as_read(tenant, delete(self._table, _key(tenant, old.name), AS_READ, **_as_stored(old)))

    def take_key(self, record: IdempotencyRecord) -> None:
        try:
            transact(self._dynamodb, self._clock, [put_record(self._table, record, self._clock)])
        except ConditionFailed:
            raise KeyTaken from None

    def leave_key(self, record: IdempotencyRecord) -> None:
        key = record_key(record.tenant, record.route, record.key)
        self._dynamodb.call("delete_item", TableName=self._table, Key=key)

    def _change_as_read(self, tenant: str, decisive: Action) -> None:
        try:
            self._change(tenant, decisive)
        except DefinitionChanged:
            raise ToolChanged from None

    def _change(self, tenant: str, decisive: Action, record: IdempotencyRecord | None = None) -> None:
        change_definition(self._dynamodb, self._table, self._clock, tenant, decisive, record)

    def _item(self, tenant: str, tool: ToolDefinition) -> Item:
        version = self._write_version
        body: Item = {"v": {"N": str(version)}, "z": {"B": from_tool(tool, version)}}
        return {**_key(tenant, tool.name), **_as_stored(tool), **body}


class DynamoMcpServerStore:
    """`client`: a botocore DynamoDB client, where it is not this process's own. `write_version`: of what is stored."""

    def __init__(self, table: str, clock: Clock, client: Any = None, *, write_version: int = CURRENT) -> None:
        self._write_version = write_version
        self._table = table
        self._clock = clock
        self._dynamodb = Service("dynamodb", client)

    def all(self, tenant: str) -> tuple[McpServer, ...]:
        answers = query(
            self._dynamodb,
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :server)",
            ExpressionAttributeValues={":pk": {"S": tenant_pk(tenant)}, ":server": {"S": SERVER}},
        )
        return tuple(_server(item) for answer in answers for item in answer["Items"])

    def get(self, tenant: str, name: str) -> McpServer | None:
        answer = self._dynamodb.call(
            "get_item", TableName=self._table, Key=_server_key(tenant, name), ConsistentRead=True
        )
        return _server(answer["Item"]) if "Item" in answer else None

    def write(self, tenant: str, old: McpServer | None, new: McpServer) -> None:
        item = self._item(tenant, new)
        if old is None:
            self._change(tenant, put(self._table, item, FREE))
        else:
            self._change(tenant, put(self._table, item, AS_READ, **_as_stored(old)))

    def delete(self, tenant: str, old: McpServer) -> None:
        self._change(tenant, delete(self._table, _server_key(tenant, old.name), AS_READ, **_as_stored(old)))

    def _change(self, tenant: str, decisive: Action) -> None:
        try:
            change_definition(self._dynamodb, self._table, self._clock, tenant, decisive)
        except DefinitionChanged:
            raise ServerChanged from None

    def _item(self, tenant: str, server: McpServer) -> Item:
        version = self._write_version
        body: Item = {"v": {"N": str(version)}, "z": {"B": from_server(server, version)}}
        return {**_server_key(tenant, server.name), **_as_stored(server), **body}


def _key(tenant: str, name: str) -> Item:
    return {"pk": {"S": tenant_pk(tenant)}, "sk": {"S": TOOL + key_part(name)}}


def _tool(item: Item) -> ToolDefinition:
    return to_tool(*stored(item))


def _as_stored(tool: ToolDefinition | McpServer) -> dict[str, dict[str, str]]:
    return {"n": {"N": str(tool.version)}, "c": {"S": tool.created_at.isoformat()}}


def _server_key(tenant: str, name: str) -> Item:
    return {"pk": {"S": tenant_pk(tenant)}, "sk": {"S": SERVER + key_part(name)}}


def _server(item: Item) -> McpServer:
    return to_server(*stored(item))
