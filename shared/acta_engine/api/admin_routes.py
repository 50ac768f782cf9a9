"""The routes of `admin`: files, tools, secrets, notifications, agents, prompts, memories, the audit trail, health."""

from acta_engine.agents.routes import add_agents
from acta_engine.api.admin_operation import add_audit, add_health
from acta_engine.api.app import Api
from acta_engine.app import App
from acta_engine.files.routes import add_files
from acta_engine.memories.routes import add_memories
from acta_engine.notifications.routes import add_notifications
from acta_engine.prompts.routes import add_prompts
from acta_engine.tools.mcp.routes import add_mcp_servers
from acta_engine.tools.routes import add_tools
from acta_engine.tools.secret_routes import add_tool_secrets


def build(deps: App) -> Api:
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
