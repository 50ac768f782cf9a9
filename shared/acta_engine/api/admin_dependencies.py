"""Everything `admin` needs, put together once per process."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from acta_engine.agents.dynamodb import DynamoDefinitions
from acta_engine.agents.store import (
    DefinitionStore,
    McpServerStore,
    ToolSecretNames,
    ToolSecretValues,
    ToolStore,
)
from acta_engine.api.idempotency import IdempotencyGuard
from acta_engine.audit.store import Audit
from acta_engine.audit.trail import audit
from acta_engine.clock import Clock
from acta_engine.files.s3 import S3Files
from acta_engine.files.store import FileStore
from acta_engine.limits.dynamodb import DynamoRateLeases
from acta_engine.limits.limiter import Limiter, limiter_of
from acta_engine.log.dynamodb_index import DynamoIndex
from acta_engine.memories.dynamodb import DynamoMemories
from acta_engine.memories.store import MemoryStore
from acta_engine.notifications.dynamodb import DynamoTenantReceivers
from acta_engine.notifications.notifier import TenantReceivers
from acta_engine.recovery.dynamodb import DynamoRecoveryScans
from acta_engine.recovery.scans import RecoveryScans
from acta_engine.settings import Settings, settings
from acta_engine.store.keys import notification_secrets_prefix
from acta_engine.system_clock import SystemClock
from acta_engine.tools.dynamodb import DynamoMcpServerStore, DynamoToolStore
from acta_engine.tools.dynamodb_secrets import DynamoToolSecretNames
from acta_engine.tools.lambda_function import LambdaToolFunction
from acta_engine.tools.port import ToolFunction
from acta_engine.tools.python.catalogue import python_tools
from acta_engine.tools.secret_reader import ToolSecretStore
from acta_engine.tools.tool import ToolSpec


class Dependencies(NamedTuple):
    settings: Settings
    files: FileStore
    definitions: DefinitionStore
    tools: ToolStore
    mcp_servers: McpServerStore
    secret_names: ToolSecretNames
    secret_values: ToolSecretValues
    receivers: TenantReceivers
    receiver_secrets: ToolSecretValues
    memories: MemoryStore
    idempotency: IdempotencyGuard
    clock: Clock
    audit: Audit
    tool_function: ToolFunction
    scans: RecoveryScans
    limiter: Limiter | None = None
    own_tools: Callable[[str], Mapping[str, ToolSpec]] = python_tools
    """The environment's, that a tenant has."""


@cache
def dependencies() -> Dependencies:
    chosen = settings()
    clock = SystemClock()
    return Dependencies(
        settings=chosen,
        files=S3Files(chosen.bucket),
        definitions=DynamoDefinitions(chosen.table, clock, write_version=chosen.write_version),
        tools=DynamoToolStore(chosen.table, clock, write_version=chosen.write_version),
        mcp_servers=DynamoMcpServerStore(chosen.table, clock, write_version=chosen.write_version),
        secret_names=DynamoToolSecretNames(chosen.table),
        secret_values=ToolSecretStore(chosen.env, chosen.tool_secrets_key),
        receivers=DynamoTenantReceivers(chosen.table),
        receiver_secrets=ToolSecretStore(
            chosen.env, chosen.tool_secrets_key, prefix=notification_secrets_prefix
        ),
        memories=DynamoMemories(chosen.table, clock, write_version=chosen.write_version),
        idempotency=IdempotencyGuard(DynamoIndex(chosen.table, clock)),
        clock=clock,
        audit=audit(chosen, clock),
        tool_function=LambdaToolFunction(chosen.tool_function),
        scans=DynamoRecoveryScans(chosen.table),
        limiter=limiter_of(chosen.limits, DynamoRateLeases(chosen.table), clock),
    )
