"""What a turn works with: what the process gives every turn (`TurnDeps`), and the turn of one session (`Turn`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from acta.engine.agents.agent import AgentDefinition, Purpose, policies_of
from acta.engine.agents.store import Definitions
from acta.engine.clock import Clock
from acta.engine.files.store import FileStore
from acta.engine.limits.tenant_hour import TenantHour
from acta.engine.log.beside import AttemptStore
from acta.engine.log.commit import Position
from acta.engine.log.head import Ending
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.memories.memory import Notes, RelevantMemories
from acta.engine.models.model import Model
from acta.engine.models.providers import NamedModel
from acta.engine.people.opening import AskingRules
from acta.engine.recovery.wait_out import OutageRules
from acta.engine.settings import Settings
from acta.engine.tools.port import Registry
from acta.engine.tools.tool import ToolSpec
from acta.engine.turn.engine import Timeouts
from acta.engine.turn.final_answer import AnswerCheck
from acta.engine.turn.running_text import RunningText

if TYPE_CHECKING:  # few deployments know a limit
    from acta.engine.queue.admission import Admission
    from acta.engine.subagents.family import Family


ChooseModel = Callable[[AgentDefinition, Purpose], tuple[Model, str]]
"""Gives the model for an agent and a purpose, and the name to ask it by."""
TurnKind = Literal["plan", "think"]
"""The engine's state, and the last part of the turn's commit key."""


@dataclass(frozen=True, eq=False, repr=False)
class TurnDeps:
    """What turns need from the process. It is made once per function."""

    settings: Settings
    repository: SessionRepository
    clock: Clock
    choose_model: ChooseModel
    definitions: Definitions
    memories_of_run: RelevantMemories
    registry: Registry
    timeouts: Timeouts
    tenant_hour: TenantHour
    attempts: AttemptStore
    context_tokens: Callable[[AgentDefinition, str, str], int]
    """For an agent, a provider and its model: the tokens that a request and its answer may have together before the
    conversation is shortened; 0: there is no limit.
    """
    check_answer: AnswerCheck
    """Checks a final answer against the session's schema."""
    running_text: RunningText | None = None
    """Where people read a reply while it is written. None: nowhere."""
    on_key_refused: Callable[[Position, str], None] = lambda at, code: None
    """Tells an operator that a provider refused the key or its quota. Gets the position and the error's code."""
    on_turn: Callable[[Position, Mapping[str, object]], None] = lambda at, counts: None
    """Tells an operator how a turn went: its position, and ids and counts. Never content."""
    files: FileStore | None = None
    """Where a turn looks what a call would replace or delete, before a person is asked about it."""
    admission: "Admission | None" = None
    """Asks whether a provider takes one more call. None: no provider's limit is known."""
    family: "Callable[[], Family] | None" = None
    """What a session needs that has a parent or children. None: sessions have neither here."""

    @property
    def outage_rules(self) -> OutageRules:
        return OutageRules(self.settings.outage_limits, self.timeouts, self.settings.roll_over_events)


@dataclass(frozen=True, eq=False, repr=False)
class Turn:
    """One turn of one session. Agent, model, prompt and tools are read once, so that all of the turn sees one version
    of them.
    """

    deps: TurnDeps
    session: Session
    kind: TurnKind
    at: Position
    """Where the engine stands."""
    attempt: int
    """How often the engine has tried this turn before."""
    deadline: datetime
    """When every model that the turn asks must be done."""
    agent: AgentDefinition
    model: Model
    """The model that is asked first. The agent's fallbacks may answer in its place."""
    model_name: str
    system: str
    """The system prompt. From turn to turn it changes only when somebody edits the agent or the prompt."""
    specs: Mapping[str, ToolSpec]
    """The agent's tools by name."""
    offered: Mapping[str, ToolSpec]
    """Those of them that each request of the session offers. The model finds the others."""
    notes: Notes
    """Memories of earlier sessions that fit the run."""
    timeouts: Timeouts
    max_output_tokens: int
    final: str = ""
    """Why the run ends with this turn's text, if the agent's model for final answers is asked for it. Empty: it is not.
    """
    judging: Ending | None = None
    """The ending that the agent's judge is asked about. None: the agent itself is asked."""
    is_fused: bool = False
    """Whether the worker has made another turn before, in the same state of the engine."""

    @property
    def key(self) -> str:
        """The key of the turn's own commit."""
        return self.at.key(self.kind)

    @property
    def call_key(self) -> str:
        """The key of the turn's call. A judge's reply that was kept is never taken for one of the agent's."""
        return self.key if self.judging is None else self.at.key("judge")

    @property
    def seconds_left(self) -> float:
        """The seconds that models may still take, never fewer than a call needs."""
        return max(1.0, (self.deadline - self.deps.clock.now()).total_seconds())

    @property
    def rules(self) -> AskingRules:
        """How this agent asks the people of this session."""
        policies, chosen = policies_of(self.agent, self.session.head), self.deps.settings
        return AskingRules(self.deps.clock, policies, chosen.high_stakes_approver)

    @property
    def first_model(self) -> NamedModel:
        return NamedModel(self.model.provider, self.model_name)

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """The models that may answer: the first, and the agent's fallbacks."""
        first = self.first_model
        fallbacks = self.agent.fallbacks if self.judging is None else ()
        others = (NamedModel(one.provider or first.provider, one.model) for one in fallbacks)
        return (first, *others)

    @property
    def waits_for_tokens(self) -> bool:
        """Whether a run out of tokens waits until its budget renews. Otherwise a person is asked."""
        has_windows = self.deps.settings.token_window_seconds > 0 and self.session.head.budget.renews
        return has_windows and self.agent.limits.at_token_limit != "ask"

    def seconds_for(self, max_tokens: int) -> float:
        """The seconds that a call with so many output tokens may take, its fallbacks included."""
        return self.deps.settings.answer_time.of_call(self.agent.asked_in_turn(self.model_name), max_tokens)
