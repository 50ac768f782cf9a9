"""What is deleted that agents still name: not without a word (design §3)."""

from collections.abc import Callable, Iterator

from shared.domain.definitions.agent import AgentDefinition
from shared.domain.errors import Conflict
from shared.ports.definitions import DefinitionStore

PAGE = 100
NAMED = 20
"""Of the agents that name a tool an answer names so many."""


def check_not_named(what: str, is_meant: Callable[[str], bool], agents: DefinitionStore, tenant: str) -> None:
    """`what` is deleted: "this tool". `is_meant`: whether the name in an agent's definition is one that goes with it.

    Raises Conflict where an agent names such a tool.
    """
    naming = [
        agent.agent_id
        for agent in _all(agents, tenant)
        if any(map(is_meant, (*agent.tools, *agent.high_stakes)))
    ]
    if not naming:
        return
    more = f" and {len(naming) - NAMED} more" if len(naming) > NAMED else ""
    raise Conflict(
        f"Agents name {what}: {', '.join(naming[:NAMED])}{more}. Change them first, or delete it with force=true: they "
        "go on without it.",
        {"agents": naming[:NAMED]},
    )


def _all(agents: DefinitionStore, tenant: str) -> Iterator[AgentDefinition]:
    cursor: str | None = None
    while True:
        found = agents.agents(tenant, limit=PAGE, cursor=cursor)
        yield from found.agents
        cursor = found.cursor
        if cursor is None:
            return
