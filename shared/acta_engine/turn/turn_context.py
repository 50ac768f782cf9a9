"""What a turn works with: from the process (`TurnDeps`), for its session (`TurnContext`), and the `Turn` itself."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from acta_engine.agents.agent import MAX_OUTPUT_TOKENS, AgentDefinition, Purpose
from acta_engine.agents.store import Definitions, Snapshot
from acta_engine.clock import Clock
from acta_engine.errors import AgentMissing, PriceUnknown
from acta_engine.limits.tenant_hour import TenantHour
from acta_engine.log.attempts import AttemptStore
from acta_engine.log.commit import Position
from acta_engine.log.head import Head
from acta_engine.log.repository import SessionRepository
from acta_engine.log.session import Session
from acta_engine.models.model import Model, ModelRequest
from acta_engine.models.prices import NamedModel, is_priced
from acta_engine.people.opening import AskingRules
from acta_engine.prompts.prompt import AGENT_PLANNING_SYSTEM
from acta_engine.recovery.outage import OutageLimits
from acta_engine.tools.port import Registry
from acta_engine.tools.tool import ToolSpec
from acta_engine.turn.answer_time import AnswerTime
from acta_engine.turn.engine_decision import Timeouts
from acta_engine.turn.running_text import RunningText
from acta_engine.turn.structured_answer import AnswerCheck, instruction

if TYPE_CHECKING:  # few deployments know a limit
    from acta_engine.queue.admission import Admission
from collections import OrderedDict

from acta_engine.memories.memory import as_notes
from acta_engine.memories.store import MemoryStore

MEMORIES = 5
MAX_CHARS = 1_500
RUNS_KEPT = 64


class Notes(NamedTuple):
    """`text`: of the memories, for the model; empty: there are none. `outside`: a text from outside may be behind one
    of them.
    """

    text: str = ""
    outside: bool = False


class RelevantMemories:
    """The memories that a run is reminded of. They are looked up once per run and process."""

    def __init__(self, memories: MemoryStore) -> None:
        self._memories = memories
        self._kept: OrderedDict[str, Notes] = OrderedDict()

    def notes(self, head: Head) -> Notes:
        """Memories of the agent, for who started the session, that fit the run's goal."""
        if head.run is None:
            return Notes()
        known = self._kept.get(head.run.run_id)
        if known is None:
            found = self._memories.relevant(
                head.tenant,
                head.agent_id,
                head.created_by,
                head.goal,
                MEMORIES,
                MAX_CHARS,
                private=head.private_to is not None,
            )
            outside = any(memory.is_marked for memory in found)
            known = self._kept[head.run.run_id] = Notes(as_notes(found, head.quotation_key), outside)
            while len(self._kept) > RUNS_KEPT:
                self._kept.popitem(last=False)
        return known


ChooseModel = Callable[[AgentDefinition, Purpose], tuple[Model, str]]
"""Gives the model for an agent and a purpose, and the name to ask it by."""
PRIVATE_SESSION = (
    "This session is private to its user. Files whose path begins with ~/ are that user's own: nobody else sees them, "
    "and list_files with the path ~/ lists them. All other files are seen by everybody in the user's organisation. "
    "Write what you make to ~/, unless the user names another place or wants others to have it."
)
"""Stands after the agent's own prompt. A path means the same in every session and over the API, so what a private
session makes is not put elsewhere behind the model's back; the model is told where it belongs (ADR 50).
"""
TurnKind = Literal["plan", "think"]
"""The engine's state; also the last part of the turn's commit key."""


class TurnDeps(NamedTuple):
    """What turns need from the process; made once per function.

    `roll_over_events`: history entries after which the next generation starts (design §2). `max_output_tokens`: for
    agents that name none; `cap_max_output_tokens`: the most for any. `answer_time`: how long a model call may take.
    All are in `Settings`. `context_window`: a model's, in tokens, 0 for no limit: `Settings.context_window_tokens`,
    else `shared/acta_engine/models/model_catalogue.py` has it. `running_text`: where the text of a running turn is
    shown, None: nowhere. `on_key_refused`: tells an operator that a key or a quota was refused, by where the run
    stands and the code. `token_window`: seconds after which a session's token budget renews, 0: never.
    `background_seconds`: how long an answer in the background may take; 0: every call is made while the worker waits.
    `admission`: what the providers take; None: no limit of theirs is known.
    """

    repository: SessionRepository
    choose_model: ChooseModel
    definitions: Definitions
    memories_of_run: RelevantMemories
    registry: Registry
    timeouts: Timeouts
    tenant_hour: TenantHour
    attempts: AttemptStore
    roll_over_events: int
    max_output_tokens: int
    answer_time: AnswerTime
    context_window: Callable[[str], int]
    check_answer: AnswerCheck
    running_text: RunningText | None = None
    outage_limits: OutageLimits = OutageLimits()
    on_key_refused: Callable[[Position, str], None] = lambda at, code: None
    token_window: float = 0
    background_seconds: float = 0
    cap_max_output_tokens: int = MAX_OUTPUT_TOKENS
    admission: "Admission | None" = None

    @property
    def clock(self) -> Clock:
        return self.repository.clock

    def context(self, head: Head, purpose: Purpose) -> "TurnContext":
        """Raises AgentMissing where the session's agent has been deleted, and PriceUnknown where a cost budget could
        not be kept.
        """
        definitions = self.definitions.snapshot(head.tenant)
        agent = definitions.agent(head.agent_id)
        if agent is None:
            raise AgentMissing("The session's agent has been deleted.")
        if head.budget.cost_budget_usd is not None:
            self._check_prices(agent)
        model, model_name = self.choose_model(agent, purpose)
        approval = agent.limits.approval_timeout_seconds or self.timeouts.approval
        return TurnContext(
            deps=self,
            agent=agent,
            model=model,
            model_name=model_name,
            system=_system(agent, _planning(definitions, head), head),
            specs=agent.toolset(self.registry.specs(head.tenant, head.agent_id)),
            notes=self.memories_of_run.notes(head),
            timeouts=self.timeouts._replace(approval=approval),
            max_output_tokens=self._max_output_tokens(agent, model_name),
        )

    def _max_output_tokens(self, agent: AgentDefinition, model_name: str) -> int:
        """What the agent or the deployment names, and no more than fits into a call: an agent may have been stored
        before that was checked, or for a deployment with more time.
        """
        wanted = agent.limits.max_output_tokens or self.max_output_tokens
        return min(
            wanted, self.cap_max_output_tokens, self.answer_time.most_tokens(agent.asked_in_turn(model_name))
        )

    def _check_prices(self, agent: AgentDefinition) -> None:
        """Checks the model of every purpose, so that nothing is paid for on the way to one without a price.

        Fallbacks need no price: they are charged at the first model's.
        """
        for purpose in get_args(Purpose):
            model, name = self.choose_model(agent, purpose)
            if not is_priced(model.provider, name):
                raise PriceUnknown(
                    "The session has a cost budget, and a model of its agent has no known price."
                )


def _planning(definitions: Snapshot, head: Head) -> str:
    """The version that is tried in the session, else the one in force. No version is ever deleted; one that a restored
    tenant does not have gives way.
    """
    tried = head.prompts.get(AGENT_PLANNING_SYSTEM)
    found = None if tried is None else definitions.prompt_version(AGENT_PLANNING_SYSTEM, tried)
    return (found or definitions.prompt(AGENT_PLANNING_SYSTEM)).content


def _system(agent: AgentDefinition, planning: str, head: Head) -> str:
    """`planning`: the managed prompt."""
    parts = [agent.system(planning)]
    if head.private_to is not None:
        parts.append(PRIVATE_SESSION)
    if head.output_schema:
        parts.append(instruction(head.output_schema))
    return "\n\n".join(parts)


class TurnContext(NamedTuple):
    """Agent, model, prompt and tools of a session, read once per turn, so that all of a turn sees one version of them.

    `system` and `specs` stay the same from turn to turn unless somebody edits the agent or the prompt. `notes`:
    memories that fit the run.
    """

    deps: TurnDeps
    agent: AgentDefinition
    model: Model
    model_name: str
    system: str
    specs: Mapping[str, ToolSpec]
    notes: Notes
    timeouts: Timeouts
    max_output_tokens: int

    @property
    def clock(self) -> Clock:
        return self.deps.clock

    @property
    def rules(self) -> AskingRules:
        """How this agent asks people."""
        return AskingRules(self.clock, self.agent.interventions)

    @property
    def first_model(self) -> NamedModel:
        """The one that is asked first."""
        return NamedModel(self.model.provider, self.model_name)

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """Those that may answer: the first, and the agent's fallbacks."""
        first = self.first_model
        others = (NamedModel(one.provider or first.provider, one.model) for one in self.agent.fallbacks)
        return (first, *others)

    @property
    def waits_for_tokens(self) -> bool:
        """Whether a run out of tokens waits until its budget renews; else a person is asked."""
        return self.agent.limits.at_token_limit != "ask" and self.deps.token_window > 0

    @property
    def context_window(self) -> int:
        """Tokens; 0: no limit."""
        return self.deps.context_window(self.model_name)

    def seconds_for(self, request: ModelRequest) -> float:
        """What a call of this model, and of its fallbacks, may take."""
        return self._seconds(request.max_tokens)

    @property
    def seconds_of_whole_call(self) -> float:
        """The same of the longest answer that it may give."""
        return self._seconds(self.max_output_tokens)

    def _seconds(self, max_tokens: int) -> float:
        return self.deps.answer_time.of_call(self.agent.asked_in_turn(self.model_name), max_tokens)


class Turn(NamedTuple):
    """One turn of one session. `at`: where the engine stands; `attempt`: its retry count; `deadline`: when every model
    that the turn asks must be done (`load` in `shared/acta_engine/turn/turn.py`). `is_fused`: its worker has made
    another one before, in the same state of the engine.
    """

    context: TurnContext
    session: Session
    kind: TurnKind
    at: Position
    attempt: int
    deadline: datetime
    is_fused: bool = False

    @property
    def deps(self) -> TurnDeps:
        return self.context.deps

    @property
    def key(self) -> str:
        """The key of the turn's own commit."""
        return self.at.key(self.kind)

    @property
    def seconds_left(self) -> float:
        """For models; never less than a call can be made with."""
        return max(1.0, (self.deadline - self.context.clock.now()).total_seconds())
