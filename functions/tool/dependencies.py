"""Everything `tool` needs, put together once per process."""

from functools import cache
from typing import TYPE_CHECKING

from shared.adapters.aws.file_credentials import FileCredentials
from shared.adapters.aws.tool_secrets import ToolSecretReader
from shared.adapters.dynamodb.definitions import DynamoDefinitions
from shared.adapters.dynamodb.memories import DynamoMemories
from shared.adapters.dynamodb.session_log import DynamoLog
from shared.adapters.dynamodb.tool_secrets import DynamoToolSecretNames
from shared.adapters.egress.address import AddressGuard
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.s3.files import S3Files
from shared.adapters.system_clock import SystemClock
from shared.adapters.tools.builtin.files import BuiltinTools
from shared.adapters.tools.builtin.memory import MemoryTools
from shared.adapters.tools.python.run import PythonTools
from shared.adapters.tools.registry import TenantRegistry
from shared.adapters.tools.tenant.functions import FunctionGuard
from shared.adapters.tools.tenant.http import HttpTool
from shared.adapters.tools.tenant.invoke import LambdaTool
from shared.adapters.tools.tenant.toolbox import TenantTools
from shared.agent.session.repository import SessionRepository
from shared.agent.tools.runtime import ToolRuntime
from shared.domain.definitions.agent import AgentDefinition
from shared.settings import settings

if TYPE_CHECKING:
    from shared.adapters.tools.mcp.servers import McpServers


@cache
def mcp_servers() -> "McpServers":
    # What speaks HTTP is imported here: most workers meet no server.
    from shared.adapters.tools.mcp.listing import schema_problem
    from shared.adapters.tools.mcp.servers import McpServers

    chosen = settings()
    known = DynamoToolSecretNames(chosen.table).all
    return McpServers(AddressGuard(chosen), ToolSecretReader(chosen.env), known, schema_problem)


@cache
def runtime() -> ToolRuntime:
    chosen = settings()
    clock = SystemClock()
    definitions = DynamoDefinitions(chosen.table, clock)

    def agent(tenant: str, agent_id: str) -> AgentDefinition | None:
        return definitions.snapshot(tenant).agent(agent_id)

    return ToolRuntime(
        repository=SessionRepository(
            DynamoLog(chosen.table, clock),
            S3Blobs(chosen.session_bucket),
            clock,
            write_version=chosen.write_version,
            limits=chosen.limits,
        ),
        registry=TenantRegistry(
            definitions.snapshot, weather=chosen.weather, approvers=chosen.tool_approvers
        ),
        agent=agent,
        outage_limits=chosen.outage_limits,
        server_tasks=mcp_servers,
        toolbox=TenantTools(
            MemoryTools(
                BuiltinTools(S3Files(chosen.bucket), chosen),
                DynamoMemories(chosen.table, clock, write_version=chosen.write_version),
                clock,
            ),
            HttpTool(
                AddressGuard(chosen), ToolSecretReader(chosen.env), DynamoToolSecretNames(chosen.table).all
            ),
            LambdaTool(FunctionGuard(chosen)),
            PythonTools(
                chosen.tool_versions,
                clock,
                FileCredentials(chosen.tenant_role, chosen.bucket, chosen.max_file_bytes).for_call,
            ),
            mcp_servers,
        ),
    )
