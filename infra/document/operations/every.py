"""Every operation, by method and path as the document has them."""

from collections.abc import Mapping
from types import MappingProxyType

from infra.document.operations.definitions import AGENTS, MEMORIES, NOTIFICATIONS, PROMPTS, TOOLS
from infra.document.operations.deployment import DEPLOYMENT
from infra.document.operations.files import FILES
from infra.document.operations.interventions import INTERVENTIONS
from infra.document.operations.mcp import MCP
from infra.document.operations.operation import Operation
from infra.document.operations.sessions import SESSIONS

OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        **SESSIONS,
        **INTERVENTIONS,
        **FILES,
        **AGENTS,
        **TOOLS,
        **NOTIFICATIONS,
        **MEMORIES,
        **PROMPTS,
        **MCP,
        **DEPLOYMENT,
    }
)
