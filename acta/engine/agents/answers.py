"""Agents as the API answers them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict as RealTypedDict

from acta.engine.agents.agent import AgentDefinition, Planning, Protocol, ProviderName
from acta.engine.api.answers import Counter, Instant, TypedDict, copied
from acta.engine.models.providers import Effort
from acta.engine.people.policies import InterventionType


class ModelsByPurposeView(TypedDict):
    """Other models for single purposes; the agent's `model` serves the rest."""

    plan: NotRequired[str]
    think: NotRequired[str]
    final: NotRequired[str]
    summary: NotRequired[str]


class FallbackModelView(TypedDict):
    provider: NotRequired[ProviderName]
    """Absent: the agent's."""
    model: str


class JudgeView(TypedDict):
    """A second model that looks at the answer before a run ends with its goal met."""

    model: str
    provider: NotRequired[ProviderName]
    """Absent: the agent's."""
    times: Counter
    """How often a verdict that the goal is not met goes back to the agent."""


class SessionLimitsView(TypedDict):
    """Limits of the agent's sessions whose start names none. Absent: the deployment's."""

    max_steps: NotRequired[int]
    token_budget: NotRequired[int]
    cost_budget_usd: NotRequired[float]
    max_output_tokens: NotRequired[int]
    context_tokens: NotRequired[int]
    """With more tokens a conversation is shortened."""
    approval_timeout_seconds: NotRequired[int]
    at_token_limit: NotRequired[Literal["wait", "ask"]]
    depth: NotRequired[int]
    """How many levels of sub-agents there may be below its sessions. Absent: 3."""
    children: NotRequired[int]
    """The most sessions of sub-agents that one of its sessions may start. Absent: 100."""
    children_at_once: NotRequired[int]
    """The most of them that may work at the same time. Absent: 10."""


class SessionCapsView(TypedDict):
    """The most that members may give the agent's sessions. Absent: no cap but the deployment's."""

    max_steps: NotRequired[int]
    token_budget: NotRequired[int]
    cost_budget_usd: NotRequired[float]


SubAgentView = RealTypedDict(
    "SubAgentView",
    {
        "agent": Annotated[str, Field(description="The id of the other agent.")],
        "as": NotRequired[
            Annotated[str, Field(description="What the tool is called. Absent: the agent's id.")]
        ],
        "description": NotRequired[
            Annotated[str, Field(description="What the model is told of it. Absent: its name and its goal.")]
        ],
        "caps": Annotated[SessionCapsView, Field(description="The most that one session of it may use.")],
        "files": Annotated[
            Literal["parent", "given"],
            Field(description="Which files it sees: its parent's, or only those that the call gives it."),
        ],
    },
)
SubAgentView.__doc__ = "Another agent that the agent may call. Its model is offered it as a tool."


class AskingPolicyView(TypedDict):
    """How people are asked. Absent: as usual for the type."""

    timeout_seconds: NotRequired[int]
    default_action: NotRequired[str]
    role: NotRequired[str]
    approver_must_differ: NotRequired[bool]


class AppliedFromView(TypedDict):
    """The files that `acta apply` has made a definition from."""

    set: str
    """The name of the set of files that owns the definition."""
    digest: str
    """The digest of the definition as its file had it. A definition with another digest was changed by hand since."""


class AgentView(TypedDict):
    agent_id: str
    name: str
    system_prompt: str
    goal: str
    """What the agent is there for."""
    provider: ProviderName | None
    """null: the deployment's."""
    model: str | None
    """null: the deployment's."""
    models: ModelsByPurposeView
    effort: Effort | None
    """How much its models think in a turn. null: as each does by itself."""
    temperature: float | None
    """null: as each model has it by itself."""
    fallbacks: list[FallbackModelView]
    """Models that are asked in this order if the model is overloaded or unavailable."""
    judge: JudgeView | None
    """Who says whether the goal is met. null: the agent does."""
    tools: Literal["all"] | list[str]
    """`all`: every tool of the registry, also one that is added later."""
    deny: list[str]
    """Tools that it never has, whatever `tools` says."""
    agents: list[SubAgentView]
    """Other agents that it may call, each as a tool of its own."""
    limits: SessionLimitsView
    caps: SessionCapsView
    high_stakes: list[str]
    """Tools that a person must approve, besides those that the registry marks."""
    start_roles: list[str]
    """One of them is needed to start a session and to write to it. Empty: any member may."""
    planning: Planning
    """`always`: no tool runs before there is a plan. `when_needed`: the model decides whether the work needs one."""
    protocol: Protocol
    background: bool
    """Whether the provider makes its answers in the background and keeps them until they are fetched."""
    interventions: dict[InterventionType, AskingPolicyView]
    warnings: list[str]
    """A sentence about each tool and each agent that it names and that was deleted since."""
    output_schema: dict[str, Any] | None
    """JSON Schema of the final answers of its sessions, where their start names none. null: they are free text."""
    applied: AppliedFromView | None
    """null: no set of files owns it."""
    version: Counter
    """0: the built-in agent."""
    created_at: Instant | None
    updated_at: Instant | None


def agent_view(agent: AgentDefinition) -> AgentView:
    """An agent that was just written: there is nothing to warn of. The built-in agent has version 0 and no times."""
    return copied(AgentView, agent, warnings=[])
