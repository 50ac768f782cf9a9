"""Tenants' tools on DynamoDB, beside their agents and under the same revision (`definition_items`)."""

from typing import Any

from shared.adapters.aws.clients import Service
from shared.adapters.dynamodb.definition_items import change_definition
from shared.adapters.dynamodb.query import query
from shared.adapters.dynamodb.table_layout import Item, stored, tenant_pk
from shared.adapters.dynamodb.transaction import FREE, Action, delete, put
from shared.adapters.storage.documents import dump, load
from shared.adapters.storage.keys import key_part
from shared.domain.definitions.tool import ToolDefinition
from shared.ports.clock import Clock
from shared.ports.definitions import DefinitionChanged, ToolChanged, ToolExists
from shared.ports.log import IdempotencyRecord

TOOL_VERSION = 1


def from_tool(tool: ToolDefinition) -> bytes:
    return dump(tool)


def to_tool(version: int, data: bytes) -> ToolDefinition:
    return load("tool", ToolDefinition, version, TOOL_VERSION, data)


TOOL = "F#"
AS_READ = "n = :n AND c = :c"
"""Both: versions begin anew where a tool was deleted and made again under its name."""


class DynamoToolStore:
    """`client`: a botocore DynamoDB client, where it is not this process's own."""

    def __init__(self, table: str, clock: Clock, client: Any = None) -> None:
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
            self._change(tenant, put(self._table, _item(tenant, tool), FREE), record)
        except DefinitionChanged:
            raise ToolExists from None

    def replace(self, tenant: str, old: ToolDefinition, new: ToolDefinition) -> None:
        self._change_as_read(tenant, put(self._table, _item(tenant, new), AS_READ, **_as_stored(old)))

    def delete(self, tenant: str, old: ToolDefinition) -> None:
        self._change_as_read(tenant, delete(self._table, _key(tenant, old.name), AS_READ, **_as_stored(old)))

    def _change_as_read(self, tenant: str, decisive: Action) -> None:
        try:
            self._change(tenant, decisive)
        except DefinitionChanged:
            raise ToolChanged from None

    def _change(self, tenant: str, decisive: Action, record: IdempotencyRecord | None = None) -> None:
        change_definition(self._dynamodb, self._table, self._clock, tenant, decisive, record)


def _key(tenant: str, name: str) -> Item:
    return {"pk": {"S": tenant_pk(tenant)}, "sk": {"S": TOOL + key_part(name)}}


def _item(tenant: str, tool: ToolDefinition) -> Item:
    body: Item = {"v": {"N": str(TOOL_VERSION)}, "z": {"B": from_tool(tool)}}
    return {**_key(tenant, tool.name), **_as_stored(tool), **body}


def _tool(item: Item) -> ToolDefinition:
    return to_tool(*stored(item))


def _as_stored(tool: ToolDefinition) -> dict[str, dict[str, str]]:
    return {"n": {"N": str(tool.version)}, "c": {"S": tool.created_at.isoformat()}}
