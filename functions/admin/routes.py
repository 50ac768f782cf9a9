"""The routes of `admin`: files, tools, secrets, notifications, agents, prompts, memories, the audit trail, health."""

from functions.admin.agents import add_agents
from functions.admin.dependencies import Dependencies
from functions.admin.files import add_files
from functions.admin.mcp_servers import Servers, add_mcp_servers
from functions.admin.memories import add_memories
from functions.admin.notifications import add_notifications
from functions.admin.operation.audit import add_audit
from functions.admin.operation.health import add_health
from functions.admin.prompts import add_prompts
from functions.admin.tool_secrets import add_tool_secrets
from functions.admin.tools import Allowed, add_tools, registered
from shared.adapters.egress.address import FOR_NOTIFICATIONS, AddressGuard
from shared.adapters.tools.tenant.definition import Reachable
from shared.adapters.tools.tenant.functions import FunctionGuard
from shared.api.app import Api


def build(deps: Dependencies) -> Api:
    api = Api("admin", deps.settings, audit=deps.audit, limiter=deps.limiter)
    add_files(api, deps.files, deps.settings)
    settings = deps.settings
    reachable = Reachable(AddressGuard(settings), FunctionGuard(settings))
    allowed = Allowed(
        reachable,
        settings.longest_tool_seconds,
        settings.weather,
        settings.tool_approvers,
        deps.own_tools,
    )
    add_tools(
        api,
        deps.tools,
        deps.secret_names,
        deps.idempotency,
        deps.clock,
        allowed,
        deps.tool_function,
        deps.mcp_servers,
        deps.definitions,
    )
    add_tool_secrets(api, deps.secret_names, deps.secret_values, deps.tools, deps.mcp_servers, deps.clock)
    servers = Servers(
        deps.mcp_servers,
        deps.definitions,
        deps.secret_names,
        deps.tool_function,
        reachable.addresses,
        settings.longest_tool_seconds,
        deps.clock,
    )
    add_mcp_servers(api, servers)
    hosts = AddressGuard(settings, lists=FOR_NOTIFICATIONS)
    add_notifications(api, deps.receivers, deps.receiver_secrets, hosts, deps.clock)
    add_agents(
        api,
        deps.definitions,
        deps.idempotency,
        deps.clock,
        lambda tenant: registered(
            deps.tools, tenant, deps.mcp_servers, weather=settings.weather, own_tools=deps.own_tools
        ),
        settings,
    )
    add_prompts(api, deps.definitions, deps.idempotency, deps.clock)
    add_memories(api, deps.memories, deps.definitions, deps.idempotency, deps.clock)
    add_audit(api, deps.audit)
    add_health(api, settings, deps.scans, deps.clock)
    return api
