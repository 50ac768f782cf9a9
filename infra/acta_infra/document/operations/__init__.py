"""Every operation, by its tag and then by method and path as the document has them."""

from collections.abc import Mapping
from types import MappingProxyType

from acta_infra.document.operations.definitions import AGENTS, MEMORIES, NOTIFICATIONS, PROMPTS, TOOLS
from acta_infra.document.operations.deployment import DEPLOYMENT
from acta_infra.document.operations.files import FILES
from acta_infra.document.operations.mcp import MCP
from acta_infra.document.operations.operation import Operation
from acta_infra.document.operations.sessions import INTERVENTIONS, SESSIONS

BY_TAG: Mapping[str, Mapping[str, Operation]] = MappingProxyType(
    {
        "Sessions": SESSIONS,
        "Interventions": INTERVENTIONS,
        "Files": FILES,
        "Agents": AGENTS,
        "Tools": TOOLS,
        "Notifications": NOTIFICATIONS,
        "Memories": MEMORIES,
        "Prompts": PROMPTS,
        "MCP": MCP,
        "Operation": DEPLOYMENT,
    }
)
OPERATIONS = MappingProxyType({key: each for part in BY_TAG.values() for key, each in part.items()})
TAGS = MappingProxyType({key: tag for tag, part in BY_TAG.items() for key in part})
