"""What agents still name is not deleted without a word (design §3)."""

from collections.abc import Collection

from shared.domain.errors import Conflict
from shared.ports.definitions import DefinitionStore, all_agents

NAMED = 20
"""Of the agents that name a tool an answer names so many."""


def check_not_named(
    tools: Collection[str], agents: DefinitionStore, tenant: str, *, as_what: str = "this tool"
) -> None:
    """Raises Conflict where an agent of the tenant names one of the tools. `as_what`: how the answer calls them."""
    naming = [
        agent.agent_id
        for agent in all_agents(agents, tenant)
        if not {*agent.tools, *agent.high_stakes}.isdisjoint(tools)
    ]
    if not naming:
        return
    more = f" and {len(naming) - NAMED} more" if len(naming) > NAMED else ""
    raise Conflict(
        f"Agents name {as_what}: {', '.join(naming[:NAMED])}{more}. Change them first, or delete it with force=true: "
        "they go on without it.",
        {"agents": naming[:NAMED]},
    )
