"""A tool that agents still name is not deleted without a word (design §3)."""

from shared.domain.errors import Conflict
from shared.ports.definitions import DefinitionStore, all_agents

NAMED = 20
"""Of the agents that name a tool an answer names so many."""


def check_not_named(tool: str, agents: DefinitionStore, tenant: str) -> None:
    """Raises Conflict where an agent of the tenant names the tool."""
    naming = [
        agent.agent_id
        for agent in all_agents(agents, tenant)
        if tool in agent.tools or tool in agent.high_stakes
    ]
    if not naming:
        return
    more = f" and {len(naming) - NAMED} more" if len(naming) > NAMED else ""
    raise Conflict(
        f"Agents name this tool: {', '.join(naming[:NAMED])}{more}. Change them first, or delete it with force=true: "
        "they go on without it.",
        {"agents": naming[:NAMED]},
    )
