"""Agents: system prompt, models, tools and limits (docs/design/api.md, providers.md).

An agent with the id `default` always exists: the built-in one, until a tenant replaces it by its own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Strict, Tag

from acta.engine.agents.applied import Applied
from acta.engine.errors import StartRoleMissing
from acta.engine.limits.caps import MAX_COST_BUDGET_USD, MAX_MAX_STEPS, MAX_TOKEN_BUDGET, Caps
from acta.engine.models.providers import PROVIDER_PATTERN, Effort, ModelParameters
from acta.engine.people.policies import (
    MAX_ANSWER_SECONDS,
    NO_POLICIES,
    InterventionType,
    JointPolicy,
    Policies,
    Policy,
    RoleName,
    default_problem,
    has_one_of,
)
from acta.engine.store.schema import FrozenModel
from acta.engine.untrusted.texts import NOT_BLANK, READABLE, JsonObject, Name
from acta.engine.untrusted.validation_messages import did_you_mean

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.log.head import Head
    from acta.engine.tools.tool import ToolSpec

DEFAULT_AGENT = "default"
AGENT_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
MAX_SYSTEM_PROMPT_CHARS = 20_000
MAX_GOAL_CHARS = 4_000
MAX_NAME_CHARS = 100
MAX_MODEL_CHARS = 200
MAX_TOOLS = 100
MAX_APPROVAL_SECONDS = MAX_ANSWER_SECONDS
MAX_OUTPUT_TOKENS = 128_000
MIN_CONTEXT_TOKENS, MAX_CONTEXT_TOKENS = 8_000, 10_000_000
MAX_TEMPERATURE = 2
MAX_FALLBACKS = 3
MAX_START_ROLES = 20
SOME_UNKNOWN = 5
MAX_SUB_AGENTS = 20
MAX_SUB_AGENT_CHARS = 1_000
ABOUT_CALLS = ("approval_required", "error_recovery")
NO_CALL = f"Only questions about a call have an approver: {', '.join(ABOUT_CALLS)}."
DEFAULT_DEPTH, MAX_DEPTH = 3, 10
DEFAULT_CHILDREN, MAX_CHILDREN = 100, 1_000
DEFAULT_CHILDREN_AT_ONCE, MAX_CHILDREN_AT_ONCE = 10, 50

Protocol = Literal["native", "react"]
Purpose = Literal["plan", "think", "final", "summary", "judge"]
Planning = Literal["always", "when_needed"]
ProviderName = Annotated[str, Field(pattern=PROVIDER_PATTERN)]
ModelName = Annotated[str, Field(min_length=1, max_length=MAX_MODEL_CHARS, pattern=r"^[!-~]+$")]

SYSTEM = "You are an autonomous agent. You reach the user's goal on your own, step by step, with the tools you have."


class DefinitionPart(FrozenModel):
    """A part of a definition. Its JSON values must have exactly the declared types: Acta does not convert them."""

    model_config = ConfigDict(strict=True)


class Models(DefinitionPart):
    """Models by purpose. Absent: the agent's `model`."""

    plan: ModelName | None = None
    """The model of turns in which a run has neither a plan nor any work behind it."""
    think: ModelName | None = None
    """The model of all other turns."""
    final: ModelName | None = None
    """The model that writes the final answer."""
    summary: ModelName | None = None
    """The model that summarises."""


class Fallback(DefinitionPart):
    """A model that is asked in another's place."""

    provider: ProviderName | None = None
    """Its provider. Absent: the agent's."""
    model: ModelName
    """Its name."""


class Judge(DefinitionPart):
    """A second model that looks at the answer before a run ends with its goal met. That is one call more for each run
    that had a plan or calls.
    """

    model: ModelName
    """Its name."""
    provider: ProviderName | None = None
    """Its provider. Absent: the agent's."""
    times: Annotated[int, Field(ge=1, le=2)] = 1
    """How often a verdict that the goal is not met goes back to the agent, before it ends the run."""


class Limits(DefinitionPart):
    """Of the agent's sessions, where their start names none. Absent: the deployment's."""

    max_steps: Annotated[int, Field(ge=1, le=MAX_MAX_STEPS)] | None = None
    """The most iterations of a run, after which it ends gracefully."""
    token_budget: Annotated[int, Field(ge=1, le=MAX_TOKEN_BUDGET)] | None = None
    """The most tokens in a window of time, after which a run waits or asks a person."""
    cost_budget_usd: Annotated[float, Field(gt=0, le=MAX_COST_BUDGET_USD)] | None = None
    """The most US dollars that the whole session may cost."""
    max_output_tokens: Annotated[int, Field(ge=1, le=MAX_OUTPUT_TOKENS)] | None = None
    """The most tokens of one reply."""
    context_tokens: Annotated[int, Field(ge=MIN_CONTEXT_TOKENS, le=MAX_CONTEXT_TOKENS)] | None = None
    """The tokens that a request and its answer may have together before the conversation is shortened, as far as the
    model's window allows."""
    approval_timeout_seconds: Annotated[int, Field(ge=1, le=MAX_APPROVAL_SECONDS)] | None = None
    """How long an approval waits."""
    at_token_limit: Literal["wait", "ask"] | None = None
    """Whether a run out of tokens waits for its budget to renew, or asks a person."""
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] | None = None
    """How many levels of sub-agents there may be below its sessions. Absent: 3."""
    children: Annotated[int, Field(ge=1, le=MAX_CHILDREN)] | None = None
    """The most sessions of sub-agents that one of its sessions may start. Absent: 100."""
    children_at_once: Annotated[int, Field(ge=1, le=MAX_CHILDREN_AT_ONCE)] | None = None
    """The most of them that may work at the same time. Absent: 10."""


class SubAgent(DefinitionPart):
    """Another agent of the tenant that the agent may call. Its model is offered it as a tool."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    agent: Annotated[str, Field(pattern=AGENT_ID_PATTERN)]
    """The id of the other agent."""
    as_: Name | None = Field(None, alias="as", description="What the tool is called. Absent: the agent's id.")
    description: Annotated[str, Field(max_length=MAX_SUB_AGENT_CHARS), READABLE, NOT_BLANK] | None = None
    """What the model is told of it. Absent: its name and its goal."""
    caps: Caps = Field(default_factory=Caps)
    """The most that one session of it may use, which is taken from its parent's budget. Absent: what is left there."""
    files: Literal["parent", "given"] = "parent"
    """Which files its sessions see: all those that their parent sees, or only those that the call gives them."""

    @property
    def tool_name(self) -> str:
        return self.as_ or self.agent


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


Names = Annotated[tuple[Name, ...], Field(max_length=MAX_TOOLS), Strict(False), AfterValidator(_each_once)]


def _word_or_names(value: Any) -> str | None:
    return "[word]" if value == "all" else "[names]" if isinstance(value, list | tuple) else None


Tools = Annotated[
    Annotated[Literal["all"], Tag("[word]")] | Annotated[Names, Tag("[names]")],
    Discriminator(
        _word_or_names,
        custom_error_type="tools",
        custom_error_message='Send "all", or a list with the names of tools.',
    ),
    AfterValidator(lambda tools: tools or "all"),
]
"""Names of tools, or the word for all of them. An empty list means the same as the word and is stored as the word."""


class AgentSettings(FrozenModel):
    """What the author of an agent defines. This class is part of the request's body and of the stored document, so a
    field that is added here is accepted and stored.
    """

    name: Annotated[str, Field(max_length=MAX_NAME_CHARS), READABLE, NOT_BLANK, AfterValidator(str.strip)]
    """What people call it."""
    system_prompt: Annotated[str, Field(max_length=MAX_SYSTEM_PROMPT_CHARS), READABLE, NOT_BLANK] = SYSTEM
    """Who the agent is. Acta adds how an agent works."""
    goal: Annotated[str, Field(max_length=MAX_GOAL_CHARS), READABLE] = ""
    """What the agent is there for, as a part of the system prompt."""
    provider: ProviderName | None = None
    """Whose models. null: the deployment's."""
    model: ModelName | None = None
    """Its model. null: the deployment's."""
    models: Models = Field(default_factory=Models)
    """Models for purposes of their own."""
    effort: Effort | None = None
    """How much its models think in a turn, for those that take it. null: as the model does by itself."""
    temperature: Annotated[float, Field(ge=0, le=MAX_TEMPERATURE)] | None = None
    """How much chance is in what its models write in a turn, for those that take it. null: as the model does by
    itself."""
    fallbacks: Annotated[tuple[Fallback, ...], Field(max_length=MAX_FALLBACKS), Strict(False)] = ()
    """Models that are asked, in this order, where the one before is overloaded or away."""
    judge: Judge | None = None
    """Who says whether the goal is met. null: the agent does."""
    tools: Tools = "all"
    """Names of tools. `all`, or an empty list: every tool of the registry, also one that is added later."""
    deny: Names = ()
    """Names of tools that the agent never has, whatever `tools` says."""
    agents: Annotated[tuple[SubAgent, ...], Field(max_length=MAX_SUB_AGENTS), Strict(False)] = ()
    """Other agents that it may call, each as a tool of its own."""
    limits: Limits = Field(default_factory=Limits)
    """What its sessions get where their start names nothing."""
    caps: Caps = Field(default_factory=Caps)
    """The most that members may give its sessions. Admins may go beyond."""
    high_stakes: Names = ()
    """Tools that a person must approve, beside those that the registry marks."""
    start_roles: Annotated[
        tuple[RoleName, ...], Field(max_length=MAX_START_ROLES), Strict(False), AfterValidator(_each_once)
    ] = ()
    """One of these roles is needed to start its sessions and to write to them. Empty: any member may."""
    planning: Planning = "always"
    """`always`: no tool runs before there is a plan. `when_needed`: the model decides whether the work needs one."""
    protocol: Protocol = "native"
    """`native` tool calling, or `react` for models without it."""
    background: bool = False
    """The provider makes its answers by itself and keeps them until they are fetched."""
    interventions: dict[InterventionType, Policy] = Field(default_factory=dict)
    """How people are asked, by type of question."""
    output_schema: JsonObject | None = None
    """JSON Schema 2020-12 of its sessions' final answers, where their start brings none."""

    def wrong(self) -> dict[str, list[str]]:
        """By field, sentences about what is wrong wherever the agent is written. Others depend on the deployment."""
        wrong = {}
        if self.agents:  # few agents have some
            from acta.engine.subagents.tool import wrong_names

            wrong = wrong_names(self)
        for type, policy in self.interventions.items():
            if policy.approver_must_differ and type not in ABOUT_CALLS:
                wrong[f"interventions.{type}.approver_must_differ"] = [NO_CALL]
            wanted = policy.default_action
            if wanted is not None and (why := default_problem(type, wanted)) is not None:
                wrong[f"interventions.{type}.default_action"] = [why]
        if self.output_schema is not None:
            # Few agents have one, so a cold start does not import it.
            from acta.engine.turn.output_schema import BadOutputSchema, check_output_schema

            try:
                check_output_schema(self.output_schema)
            except BadOutputSchema as bad:
                wrong["output_schema"] = [str(bad)]
        return wrong

    @property
    def named_tools(self) -> tuple[str, ...]:
        """The names in `tools`: none if the agent has all."""
        return () if self.tools == "all" else self.tools

    def needs_one_of(self, tools: Iterable[str]) -> bool:
        """Whether the definition names one of these tools. An agent that denies a tool loses nothing with it."""
        return not {*self.named_tools, *self.high_stakes}.isdisjoint(tools)


class AgentDefinition(AgentSettings):
    """An agent of a tenant. A timeout of approvals in `interventions` wins over the one in `limits`."""

    agent_id: Annotated[str, Field(pattern=AGENT_ID_PATTERN)]
    applied: Applied | None = None
    """The files it came from. None: it was not written by `acta apply`."""
    version: Annotated[int, Field(ge=0)] = 0
    """Counts the writes since `created_at`. 0: the built-in agent, which has neither time."""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def is_built_in(self) -> bool:
        return self.version == 0

    @property
    def parameters(self) -> ModelParameters:
        return ModelParameters(self.effort, self.temperature)

    def named_for(self, purpose: Purpose) -> tuple[ProviderName | None, str | None]:
        """The names of the provider and the model for this purpose; None: the deployment's."""
        if purpose == "judge" and self.judge is not None:
            return self.judge.provider or self.provider, self.judge.model
        return self.provider, getattr(self.models, purpose, None) or self.model

    @property
    def purposes(self) -> tuple[Purpose, ...]:
        """What it asks models for."""
        return tuple(each for each in get_args(Purpose) if each != "judge" or self.judge is not None)

    def asked_in_turn(self, first: str) -> tuple[str, ...]:
        """Names of the models that one call may ask, in their order. `first`: the purpose's model."""
        return tuple(dict.fromkeys((first, *(one.model for one in self.fallbacks))))

    def system(self, planning: str) -> str:
        """The system prompt. It is the same in every turn, so that the provider can cache it.

        `planning`: the managed prompt that says how an agent works (`PLANNING` in
        `acta/engine/prompts/prompt.py`, or the tenant's
        version).
        """
        parts = [self.system_prompt.strip(), planning.strip()]
        if self.goal.strip():
            parts.append(f"What you are there for:\n{self.goal.strip()}")
        return "\n\n".join(parts)

    @property
    def wanted_roles(self) -> tuple[tuple[str, ...], ...]:
        """Who may start its sessions and write to them: whoever has one role of each group."""
        return (self.start_roles,) if self.start_roles else ()

    @property
    def asked(self) -> Policies:
        """How it asks people, with the time that its limits give an approval."""
        seconds, policy = (
            self.limits.approval_timeout_seconds,
            self.interventions.get("approval_required", Policy()),
        )
        if seconds is None or policy.timeout_seconds is not None:
            return self.interventions
        timed = policy.model_copy(update={"timeout_seconds": seconds})
        return {**self.interventions, "approval_required": timed}

    def toolset(self, registry: "Mapping[str, ToolSpec]") -> "dict[str, ToolSpec]":
        """The tools that this agent may use, in the registry's order. Its own `high_stakes` tools are marked as such.

        Built-in tools that work on the session itself are always among them (`ToolSpec.always`), and so are the agents
        that it may call, unless it denies them. A tool that the registry no longer has is left out.
        """
        from acta.engine.tools.tool import BuiltinTool

        return {
            name: spec.model_copy(update={"high_stakes": True}) if name in self.high_stakes else spec
            for name, spec in registry.items()
            if (isinstance(spec, BuiltinTool) and spec.always)
            or (name not in self.deny and (self.tools == "all" or name in self.tools or spec.kind == "agent"))
        }


class AgentOfChild(AgentDefinition):
    """The agent of a session that a call of another session has started, with what the agents of all sessions above
    demand of the people who decide and write (docs/design/sub-agents.md). It is never stored.
    """

    start_roles_above: tuple[tuple[str, ...], ...] = ()

    @property
    def wanted_roles(self) -> tuple[tuple[str, ...], ...]:
        return (*super().wanted_roles, *self.start_roles_above)

    @classmethod
    def of(cls, agent: AgentDefinition, above: Sequence[AgentDefinition]) -> "AgentOfChild":
        every = (agent, *above)
        asked = [each.asked for each in every]
        types = dict.fromkeys(type for policies in asked for type in policies)
        joint = {type: JointPolicy.of([each.get(type, Policy()) for each in asked]) for type in types}
        return cls.model_construct(
            **{
                **dict(agent),
                "interventions": joint,
                "high_stakes": tuple(dict.fromkeys(name for each in every for name in each.high_stakes)),
                "start_roles_above": tuple(each.start_roles for each in above if each.start_roles),
            }
        )


def agent_of_session(head: "Head", find: Callable[[str], AgentDefinition | None]) -> AgentDefinition | None:
    """The agent of the session as it is now. People decide what a child asks by the rules of its own agent and of the
    agents of all sessions above, the strictest of each. None: it was deleted, or one of those was.
    """
    agent = find(head.agent_id)
    if agent is None or head.parent is None:
        return agent
    above = [find(asker.agent_id) for asker in head.parent.chain]
    known = [each for each in above if each is not None]
    return AgentOfChild.of(agent, known) if len(known) == len(above) else None


def require_start_role(agent: AgentDefinition, roles: Set[str]) -> None:
    """Raises StartRoleMissing. `roles`: those in the person's token."""
    for wanted in agent.wanted_roles:
        if not has_one_of(wanted, roles):
            raise StartRoleMissing(wanted)


def policies_of(agent: AgentDefinition | None, head: "Head") -> Policies:
    """How the agent asks the people of this session; no policies if it was deleted.

    In a private session a policy names no role: whoever decides a question sees it, and an admin who writes the policy
    would choose who that is (ADR 137).
    """
    if agent is None or head.private_to is None:
        return NO_POLICIES if agent is None else agent.interventions
    return {type: policy.without_roles() for type, policy in agent.interventions.items()}


@cache
def built_in() -> AgentDefinition:
    return AgentDefinition(agent_id=DEFAULT_AGENT, name="Default")


def wrong_tools(agent: AgentSettings, registry: "Mapping[str, ToolSpec]") -> dict[str, list[str]]:
    """By field, sentences about names there that are no tool's or that cannot be denied."""
    from acta.engine.tools.tool import BuiltinTool

    named = {"tools": agent.named_tools, "deny": agent.deny, "high_stakes": agent.high_stakes}
    wrong = {field: unknown_tools(names, list(registry)) for field, names in named.items()}
    denied = {name: registry[name] for name in agent.deny if name in registry}
    wrong["deny"] += [
        f"Every agent has {name}, because it works on the session itself. Leave it out of `deny`."
        for name, spec in denied.items()
        if isinstance(spec, BuiltinTool) and spec.always
    ]
    return {field: sentences for field, sentences in wrong.items() if sentences}


def unknown_tools(names: Iterable[str], registry: Sequence[str]) -> list[str]:
    """A sentence for each name that the registry does not have, with similar names that it has. Names are compared with
    all that there are, so of many only the first ones get a sentence.
    """
    unknown = [name for name in dict.fromkeys(names) if name not in registry]
    told = [
        f"There is no tool {name[:64]!r}. {did_you_mean(name, registry)}" for name in unknown[:SOME_UNKNOWN]
    ]
    more = len(unknown) - len(told)
    return [*told, f"There are no tools of {more} more of these names."] if more else told


def with_built_in(
    stored: Sequence[AgentDefinition], after: str | None, *, complete: bool
) -> list[AgentDefinition]:
    """Adds the built-in agent to a page of a tenant's agents, if it belongs on this page.

    `stored`: the page, sorted by id. `after`: the last id of the page before; None: this is the first page. `complete`:
    this is the last page.
    """
    ids = [agent.agent_id for agent in stored]
    before = after is not None and after >= DEFAULT_AGENT
    beyond = not complete and (not ids or ids[-1] < DEFAULT_AGENT)
    if before or beyond or DEFAULT_AGENT in ids:
        return list(stored)
    return sorted([*stored, built_in()], key=lambda agent: agent.agent_id)
