"""A house with agents that call each other. Each agent says what its script has for its next reply in that session."""

from collections.abc import Mapping, Sequence
from typing import Any

from acta.engine.agents.agent import AgentDefinition
from acta.engine.log.conversation import AssistantEntry, ToolEntry, UserEntry
from acta.engine.log.head import Head
from acta.engine.models.model import ModelReply, ModelRequest
from tests.in_process.house import TENANT
from tests.in_process.scripted import Turn
from tests.runs.fragile import FragileHouse

Scripts = Mapping[str, Sequence[Turn]]
"""Agent's id -> what it says. The n-th reply of a session is the n-th of the script, the last one again and again."""


class Family:
    """The model of all agents. It knows whom it speaks for by the system prompt."""

    provider = "scripted"

    def __init__(self, scripts: Scripts) -> None:
        self.scripts = {agent: list(script) for agent, script in scripts.items()}
        self.requests: list[tuple[str, ModelRequest]] = []

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        agent = request.system.split(".")[0].removeprefix("You are ")
        self.requests.append((agent, request))
        said = sum(isinstance(entry, AssistantEntry) for entry in request.entries)
        script = self.scripts[agent]
        turn = script[min(said, len(script) - 1)]
        if isinstance(turn, Exception):
            raise turn
        return turn(request) if callable(turn) else turn

    def told(self, agent: str) -> list[str]:
        """The goals that sessions of the agent were given, in the order in which they were first asked."""
        goals = (
            next(e for e in asked.entries if isinstance(e, UserEntry))
            for a, asked in self.requests
            if a == agent
        )
        return list(dict.fromkeys(goal.content.text or "" for goal in goals))


class FamilyHouse(FragileHouse):
    """`agents`: fields of each agent's definition beside its script, such as `agents` or `limits`."""

    def __init__(self, scripts: Scripts, agents: Mapping[str, Mapping[str, Any]], **settings: Any) -> None:
        super().__init__([], **settings)
        self.family_model = Family(scripts)
        self.model = self.family_model
        self.park_after = 600
        self.runtime = self.app().tool_runtime  # with the workflow that can be lost
        now = self.clock.now()
        for agent_id in scripts:
            made = {"name": agent_id, "system_prompt": f"You are {agent_id}.", "planning": "when_needed"}
            fields = {**made, **agents.get(agent_id, {})}
            self.definitions.create_agent(
                TENANT,
                AgentDefinition.model_validate(
                    {"agent_id": agent_id, "version": 1, "created_at": now, "updated_at": now, **fields}
                ),
            )

    def begin(self, agent_id: str, goal: str = "Do it", **limits: Any) -> Head:
        return self.start(goal, agent_id=agent_id, agent_name=agent_id, **limits)

    def children(self, session_id: str) -> list[Head]:
        return [self.head(child) for child in self.log.children(TENANT, session_id)]

    def results(self, session_id: str) -> list[tuple[str, bool]]:
        """What the model was told of its calls, in their order."""
        entries, _ = self.history(session_id).messages(0, 200)
        found = [one.entry for one in entries if isinstance(one.entry, ToolEntry)]
        return [(one.content.text or "", one.ok) for one in found]
