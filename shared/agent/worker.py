"""What a model turn needs of the world, put together once per function."""

from collections.abc import Mapping
from typing import NamedTuple

from shared.agent.agents import Agent
from shared.agent.attempts import Attempts
from shared.agent.journal import Journal
from shared.agent.people import Timeouts
from shared.domain.session import Head
from shared.domain.tool import ToolSpec
from shared.ports.clock import Clock
from shared.ports.model import Model
from shared.ports.tools import Registry


class Worker(NamedTuple):
    """`roll_over_events`: history entries after which the next generation is started (design §2)."""

    journal: Journal
    model: Model
    model_name: str
    agent: Agent
    registry: Registry
    timeouts: Timeouts
    roll_over_events: int
    attempts: Attempts

    @property
    def clock(self) -> Clock:
        return self.journal.clock

    def specs(self, head: Head) -> Mapping[str, ToolSpec]:
        return self.registry.specs(head.tenant, head.agent_id)
