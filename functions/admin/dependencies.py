"""Everything `admin` needs, put together once per process."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from shared.adapters.audit.trail import audit
from shared.adapters.aws.tool_function import LambdaToolFunction
from shared.adapters.aws.tool_secrets import ToolSecretStore
from shared.adapters.dynamodb.definitions import DynamoDefinitions
from shared.adapters.dynamodb.deployment.recovery_scans import DynamoRecoveryScans
from shared.adapters.dynamodb.limits.rate_leases import DynamoRateLeases
from shared.adapters.dynamodb.memories import DynamoMemories
from shared.adapters.dynamodb.receivers import DynamoTenantReceivers
from shared.adapters.dynamodb.session_index import DynamoIndex
from shared.adapters.dynamodb.tool_secrets import DynamoToolSecretNames
from shared.adapters.dynamodb.tools import DynamoMcpServerStore, DynamoToolStore
from shared.adapters.s3.files import S3Files
from shared.adapters.storage.keys import notification_secrets_prefix
from shared.adapters.system_clock import SystemClock
from shared.adapters.tools.python.catalogue import python_tools
from shared.api.limiter import Limiter, limiter_of
from shared.api.request.idempotency import IdempotencyGuard
from shared.domain.definitions.tool import ToolSpec
from shared.ports.audit import Audit
from shared.ports.clock import Clock
from shared.ports.definitions import (
    DefinitionStore,
    McpServerStore,
    ToolSecretNames,
    ToolSecretValues,
    ToolStore,
)
from shared.ports.deployment.recovery_scans import RecoveryScans
from shared.ports.files import FileStore
from shared.ports.memories import MemoryStore
from shared.ports.notifier import TenantReceivers
from shared.ports.tools import ToolFunction
from shared.settings import Settings, settings


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
