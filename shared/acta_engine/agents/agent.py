"""Agents: system prompt, models, tools and limits (design §3, §9).

An agent with the id `default` always exists: the built-in one, until a tenant replaces it by its own.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field

from acta_engine.agents.applied import Applied
from acta_engine.errors import StartRoleMissing
from acta_engine.limits.caps import MAX_COST_BUDGET_USD, MAX_MAX_STEPS, MAX_TOKEN_BUDGET, Caps
from acta_engine.people.options_and_defaults import (
    MAX_TIMEOUT_SECONDS,
    NO_POLICIES,
    InterventionType,
    Policies,
    Policy,
    RoleName,
    has_one_of,
)
from acta_engine.store.frozen_model import FrozenModel
from acta_engine.tools.builtin.specs import READ_RESULT, UPDATE_PLAN
from acta_engine.tools.tool import ToolSpec
from acta_engine.untrusted.validation_messages import did_you_mean

DEFAULT_AGENT = "default"
PROVIDERS = ("anthropic", "openai", "bedrock", "offline")
AGENT_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
MAX_SYSTEM_PROMPT_CHARS = 20_000
MAX_GOAL_CHARS = 4_000
MAX_NAME_CHARS = 100
MAX_MODEL_CHARS = 200
MAX_TOOLS = 100
MAX_APPROVAL_SECONDS = MAX_TIMEOUT_SECONDS
MAX_OUTPUT_TOKENS = 128_000
MAX_FALLBACKS = 3
MAX_START_ROLES = 20

Protocol = Literal["native", "react"]
Provider = Literal["anthropic", "openai", "bedrock", "offline"]
Purpose = Literal["plan", "think", "final", "summary"]
ModelName = Annotated[str, Field(min_length=1, max_length=MAX_MODEL_CHARS, pattern=r"^[!-~]+$")]

SYSTEM = "You are an autonomous agent. You reach the user's goal on your own, step by step, with the tools you have."


class Models(FrozenModel):
    """Models by purpose. None: the agent's `model`."""

    plan: ModelName | None = None
    """The model of planning turns."""
    think: ModelName | None = None
    """The model of all other turns."""
    final: ModelName | None = None
    """The model that writes the final answer."""
    summary: ModelName | None = None
    """The model that summarises."""


class Fallback(FrozenModel):
    """A model that is asked where the ones before it are overloaded or do not answer. `provider` None: the agent's."""

    provider: Provider | None = None
    """Its provider. Absent: the agent's."""
    model: ModelName
    """Its name."""


class Limits(FrozenModel):
    """Limits of the agent's sessions, where the request that starts a session names none. None: the deployment's, in
    `shared/acta_engine/settings.py`; for `max_steps` in `shared/acta_engine/limits/caps.py`.
    """

    max_steps: Annotated[int, Field(ge=1, le=MAX_MAX_STEPS)] | None = None
    """The most iterations of a run, after which it ends gracefully."""
    token_budget: Annotated[int, Field(ge=1, le=MAX_TOKEN_BUDGET)] | None = None
    """The most tokens in a window of time, after which a run waits or asks a person."""
    cost_budget_usd: Annotated[float, Field(gt=0, le=MAX_COST_BUDGET_USD)] | None = None
    """The most US dollars that the whole session may cost."""
    max_output_tokens: Annotated[int, Field(ge=1, le=MAX_OUTPUT_TOKENS)] | None = None
    """The most tokens of one reply."""
    approval_timeout_seconds: Annotated[int, Field(ge=1, le=MAX_APPROVAL_SECONDS)] | None = None
    """How long an approval waits."""
    at_token_limit: Literal["wait", "ask"] | None = None
    """Whether a run out of tokens waits for its budget to renew, or asks a person."""


class AgentDefinition(FrozenModel):
    """`goal`: what the agent is there for, as a part of the system prompt.
    `provider`, `model` None: the deployment's. `fallbacks`: asked in this order, for every purpose.
    `background`: the provider makes the answers of its turns by itself and keeps them until they are fetched
    (`shared/acta_engine/turn/background_waits.py`).
    `tools` empty: all tools of the registry. `high_stakes`: tools that a person must approve, besides those that the
    registry marks.
    `caps`: what members may give its sessions at most, at their start or later.
    `start_roles`: one of them is needed to start a session, to write to it and to decide what names no role of its own;
    empty: any member may.
    `interventions`: how people are asked, by type. A timeout of approvals in it wins over the one in `limits`.
    `output_schema`: the JSON Schema of the final answers of its sessions, where the request that starts one brings
    none; None: they are free text.
    `applied`: the files it came from; None: it was not written by `acta apply`.
    `version`: counts the writes since `created_at`; 0: the built-in agent, which has neither time.
    """

    agent_id: Annotated[str, Field(pattern=AGENT_ID_PATTERN)]
    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
    system_prompt: Annotated[str, Field(min_length=1, max_length=MAX_SYSTEM_PROMPT_CHARS)] = SYSTEM
    goal: Annotated[str, Field(max_length=MAX_GOAL_CHARS)] = ""
    provider: Provider | None = None
    model: ModelName | None = None
    models: Models = Field(default_factory=Models)
    fallbacks: Annotated[tuple[Fallback, ...], Field(max_length=MAX_FALLBACKS)] = ()
    tools: Annotated[tuple[str, ...], Field(max_length=MAX_TOOLS)] = ()
    limits: Limits = Field(default_factory=Limits)
    caps: Caps = Field(default_factory=Caps)
    high_stakes: Annotated[tuple[str, ...], Field(max_length=MAX_TOOLS)] = ()
    start_roles: Annotated[tuple[RoleName, ...], Field(max_length=MAX_START_ROLES)] = ()
    protocol: Protocol = "native"
    background: bool = False
    interventions: dict[InterventionType, Policy] = Field(default_factory=dict)
    output_schema: dict[str, Any] | None = None
    applied: Applied | None = None
    version: Annotated[int, Field(ge=0)] = 0
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def is_built_in(self) -> bool:
        return self.version == 0

    def model_for(self, purpose: Purpose) -> str | None:
        """The model's name for this purpose; None: the deployment's."""
        named: str | None = getattr(self.models, purpose)
        return named or self.model

    def asked_in_turn(self, first: str) -> tuple[str, ...]:
        """Names of the models that one call may ask, in their order. `first`: the purpose's."""
        return tuple(dict.fromkeys((first, *(one.model for one in self.fallbacks))))

    def system(self, planning: str) -> str:
        """The system prompt. It is the same in every turn, so that the provider can cache it.

        `planning`: the managed prompt that says how an agent works (`PLANNING` in `prompt.py`, or the tenant's
        version).
        """
        parts = [self.system_prompt.strip(), planning.strip()]
        if self.goal.strip():
            parts.append(f"What you are there for:\n{self.goal.strip()}")
        return "\n\n".join(parts)

    def toolset(self, registry: Mapping[str, ToolSpec]) -> dict[str, ToolSpec]:
        """The tools that this agent may use, in the registry's order. Its own `high_stakes` tools are marked as such.

        `update_plan` and `read_result` are always among them: they work on the session itself. A tool that the registry
        no longer has is left out.
        """
        return {
            name: spec.model_copy(update={"high_stakes": True}) if name in self.high_stakes else spec
            for name, spec in registry.items()
            if not self.tools or name in self.tools or name in (UPDATE_PLAN, READ_RESULT)
        }


def require_start_role(start_roles: tuple[str, ...], roles: Set[str]) -> None:
    """Raises StartRoleMissing. `start_roles`: the agent's. `roles`: those in the person's token."""
    if start_roles and not has_one_of(start_roles, roles):
        raise StartRoleMissing(start_roles)


def policies_of(agent: AgentDefinition | None) -> Policies:
    """How the agent asks people; none where it was deleted."""
    return NO_POLICIES if agent is None else agent.interventions


@cache
def built_in() -> AgentDefinition:
    return AgentDefinition(agent_id=DEFAULT_AGENT, name="Default")


def unknown_tools(names: Iterable[str], registry: Sequence[str]) -> list[str]:
    """A sentence for each name that the registry does not have, with similar names that it has."""
    return [
        f"There is no tool {name[:64]!r}. {did_you_mean(name, registry)}"
        for name in dict.fromkeys(names)
        if name not in registry
    ]


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
