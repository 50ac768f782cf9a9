"""Everything `tool` needs, put together once per process."""

from functools import cache
from typing import TYPE_CHECKING

from acta_engine.agents.agent import AgentDefinition
from acta_engine.agents.dynamodb import DynamoDefinitions
from acta_engine.egress.address import AddressGuard
from acta_engine.files.credentials import FileCredentials
from acta_engine.files.s3 import S3Files
from acta_engine.log.dynamodb import DynamoLog
from acta_engine.log.repository import SessionRepository
from acta_engine.log.s3_blobs import S3Blobs
from acta_engine.memories.dynamodb import DynamoMemories
from acta_engine.settings import settings
from acta_engine.system_clock import SystemClock
from acta_engine.tools.builtin.files import BuiltinTools
from acta_engine.tools.builtin.memory import MemoryTools
from acta_engine.tools.dynamodb_secrets import DynamoToolSecretNames
from acta_engine.tools.python.run import PythonTools
from acta_engine.tools.registry import TenantRegistry
from acta_engine.tools.runtime import ToolRuntime
from acta_engine.tools.secret_reader import ToolSecretReader
from acta_engine.tools.tenant.functions import FunctionGuard
from acta_engine.tools.tenant.http import HttpTool
from acta_engine.tools.tenant.invoke import LambdaTool
from acta_engine.tools.tenant.toolbox import TenantTools

if TYPE_CHECKING:
    from acta_engine.tools.mcp.servers import McpServers


@cache
def mcp_servers() -> "McpServers":
    # What speaks HTTP is imported here: most workers meet no server.
    from acta_engine.tools.mcp.listing import schema_problem
    from acta_engine.tools.mcp.servers import McpServers

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
