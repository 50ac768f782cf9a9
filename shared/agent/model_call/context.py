"""What a turn needs: from the process (`Worker`), and for one turn of one session (`Mind`)."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import NamedTuple, get_args

from shared.agent.budget.tenant_hour import HourlyLimit
from shared.agent.model_call.streaming import RunningText
from shared.agent.session.position import Timeouts
from shared.agent.session.repository import SessionRepository
from shared.domain.definitions.agent import AgentDefinition, Purpose
from shared.domain.definitions.memory import as_notes
from shared.domain.definitions.prompt import AGENT_PLANNING_SYSTEM
from shared.domain.definitions.tool import ToolSpec
from shared.domain.errors import AgentMissing, PriceUnknown
from shared.domain.rules.prices import is_priced
from shared.domain.session.head import Head
from shared.ports.clock import Clock
from shared.ports.definitions import Definitions
from shared.ports.memories import MemoryStore
from shared.ports.model import Model
from shared.ports.tools import Registry


class Attempts:
    """Which attempts of this process ended without an answer: a 429, say, costs nothing. The engine counts attempts
    across processes; those this one knows nothing of have vanished and may have been paid for.
    """

    def __init__(self) -> None:
        self._ended: dict[str, int] = {}

    def ended(self, key: str) -> None:
        self._ended[key] = self._ended.get(key, 0) + 1

    def vanished(self, key: str, attempt: int) -> int:
        return max(0, attempt - self._ended.pop(key, 0))


MEMORIES = 5
MAX_CHARS = 1_500
RUNS_KEPT = 64


class RelevantMemories:
    def __init__(self, memories: MemoryStore) -> None:
        self._memories = memories
        self._kept: OrderedDict[str, str] = OrderedDict()

    def notes(self, head: Head) -> str:
        """Memories of the agent that fit the run's goal, as data; empty where there are none."""
        if head.run is None:
            return ""
        known = self._kept.get(head.run.run_id)
        if known is None:
            found = self._memories.relevant(head.tenant, head.agent_id, head.goal, MEMORIES, MAX_CHARS)
            known = self._kept[head.run.run_id] = as_notes(found)
            while len(self._kept) > RUNS_KEPT:
                self._kept.popitem(last=False)
        return known


ChooseModel = Callable[[AgentDefinition, Purpose], tuple[Model, str]]
"""The model for an agent and a purpose, and the name to ask it by."""


class Mind(NamedTuple):
    """Resolved once per turn, so that all of a turn sees one version of agent and prompt.

    `system` and `specs` stay the same from turn to turn unless somebody edits the agent or the prompt; `notes` is
    what the run is reminded of.
    """

    worker: "Worker"
    agent: AgentDefinition
    model: Model
    model_name: str
    system: str
    specs: Mapping[str, ToolSpec]
    notes: str
    timeouts: Timeouts
    max_output_tokens: int

    @property
    def clock(self) -> Clock:
        return self.worker.repository.clock

    @property
    def registry(self) -> Registry:
        return self.worker.registry

    @property
    def context_window(self) -> int:
        """Tokens; 0: no limit."""
        return self.worker.context_window(self.model_name)


class Worker(NamedTuple):
    """Put together once per function. `roll_over_events`: history entries after which the next generation is
    started (design §2); `max_output_tokens`: for agents that name none; `context_window`: a model's, in tokens, 0: no
    limit; `running_text`: where a turn's text is told as it comes, None: nowhere.
    """

    repository: SessionRepository
    choose_model: ChooseModel
    definitions: Definitions
    memories_of_run: RelevantMemories
    registry: Registry
    timeouts: Timeouts
    hourly: HourlyLimit
    attempts: Attempts
    roll_over_events: int
    max_output_tokens: int
    context_window: Callable[[str], int]
    running_text: RunningText | None = None

    @property
    def clock(self) -> Clock:
        return self.repository.clock

    def mind(self, head: Head, purpose: Purpose) -> Mind:
        """Raises AgentMissing where the session's agent has been deleted, and PriceUnknown where a cost budget could
        not be kept.
        """
        definitions = self.definitions.at(head.tenant)
        agent = definitions.agent(head.agent_id)
        if agent is None:
            raise AgentMissing("The session's agent has been deleted.")
        if head.budget.cost_budget_usd is not None:
            self._check_prices(agent)
        model, model_name = self.choose_model(agent, purpose)
        approval = agent.limits.approval_timeout_seconds or self.timeouts.approval
        return Mind(
            worker=self,
            agent=agent,
            model=model,
            model_name=model_name,
            system=agent.system(definitions.prompt(AGENT_PLANNING_SYSTEM).content),
            specs=agent.toolset(self.registry.specs(head.tenant, head.agent_id)),
            notes=self.memories_of_run.notes(head),
            timeouts=self.timeouts._replace(approval=approval),
            max_output_tokens=agent.limits.max_output_tokens or self.max_output_tokens,
        )

    def _check_prices(self, agent: AgentDefinition) -> None:
        """Of every purpose's model, so that nothing is paid for on the way to one without a price. Fallbacks need
        none: they are charged at the first model's.
        """
        for purpose in get_args(Purpose):
            model, name = self.choose_model(agent, purpose)
            if not is_priced(model.provider, name):
                raise PriceUnknown(
                    "The session has a cost budget, and a model of its agent has no known price."
                )
