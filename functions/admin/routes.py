"""The routes of `admin`: files, tools, secrets, notifications, agents, prompts, memories, the audit trail, health."""

from functions.admin.agents import add_agents
from functions.admin.dependencies import Dependencies
from functions.admin.files import add_files
from functions.admin.mcp_servers import add_mcp_servers
from functions.admin.memories import add_memories
from functions.admin.notifications import add_notifications
from functions.admin.operation import add_audit, add_health
from functions.admin.prompts import add_prompts
from functions.admin.tool_secrets import add_tool_secrets
from functions.admin.tools import add_tools
from shared.api.app import Api


def build(deps: Dependencies) -> Api:
    api = Api("admin", deps.settings, audit=deps.audit, limiter=deps.limiter)
    add_files(api, deps)
    add_tools(api, deps)
    add_tool_secrets(api, deps)
    add_mcp_servers(api, deps)
    add_notifications(api, deps)
    add_agents(api, deps)
    add_prompts(api, deps)
    add_memories(api, deps)
    add_audit(api, deps.audit)
    add_health(api, deps)
    return api
