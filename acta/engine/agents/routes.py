"""Agent definitions: `/v1/agents` (docs/design/api.md)."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from acta.engine.agents.agent import (
    AGENT_ID_PATTERN,
    DEFAULT_AGENT,
    AgentDefinition,
    AgentSettings,
    Models,
    Purpose,
    wrong_tools,
)
from acta.engine.agents.answers import agent_view
from acta.engine.agents.store import DefinitionExists, all_agents, check_not_named
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success
from acta.engine.api.idempotency import Json, idempotency_key, record_of
from acta.engine.api.listing_cursor import MAX_PAGE, ListingCursor, bounded_page, listing_cursor
from acta.engine.api.resource import Applicable, Resource, applied_after, version_tag
from acta.engine.app import App
from acta.engine.clock import AGENT
from acta.engine.errors import Conflict, FieldsInvalid
from acta.engine.limits.caps import NO_CAPS, LimitValues, beyond
from acta.engine.models.providers import (
    BUILT_IN,
    OFFLINE,
    PROVIDERS,
    ModelParameters,
    provider_of,
)
from acta.engine.settings import Settings

OF_TURNS: tuple[Purpose, ...] = ("plan", "think", "final")
"""A summary is short and has no parameters, whatever the agent says."""
TOOL_GONE = "There is no tool {} any more: sessions of this agent go on without it."
AGENT_GONE = "There is no agent {} any more: sessions of this agent go on without it."
DENIED_GONE = (
    "There is no tool {} any more, but it is still in `deny`: a new tool of this name is denied, too."
)
NOT_THERE = "This environment has no provider of that name. Name one of {}, or none."

Wrong = Mapping[str, str]
"""By field, a sentence about what is wrong with it."""


class AgentBody(AgentSettings, Applicable):
    """A whole definition. Absent fields take their defaults."""


class PutAgent(AgentBody):
    """A whole definition. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "researcher": {"name": "Researcher", "tools": ["list_files", "read_file", "create_file"]},
    }

    version: Annotated[int, Field(ge=0)] | None = None
    """The version that it replaces. If another version is in force, the answer is 409."""


class CreateAgent(AgentBody):
    """A whole definition. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "researcher": {
            "agent_id": "researcher",
            "name": "Researcher",
            "goal": "Answer questions from the tenant's files, and name the file of each fact.",
            "tools": ["list_files", "read_file"],
            "limits": {"max_steps": 30},
        },
        "lead": {
            "name": "Research lead",
            "goal": "Answer questions with sources.",
            "agents": [
                {"agent": "default", "as": "ask_anybody", "caps": {"max_steps": 10, "cost_budget_usd": 0.5}}
            ],
            "high_stakes": ["ask_anybody"],
            "limits": {"children": 20, "children_at_once": 5},
        },
        "careful": {
            "name": "Careful writer",
            "high_stakes": ["create_file"],
            "interventions": {"approval_required": {"timeout_seconds": 3600, "default_action": "reject"}},
        },
    }

    agent_id: Annotated[str, Field(pattern=AGENT_ID_PATTERN)] | None = None
    """Its id. Absent: Acta makes one."""


def _agents(api: Api) -> Resource[AgentDefinition]:
    return Resource[AgentDefinition](
        api,
        find=api.app.definitions.agent,
        view=agent_view,
        tag=version_tag,
        missing="There is no such agent.",
        changed="The agent was changed meanwhile. Read it again and decide again.",
    )


def _warnings_of(api: Api, *found: AgentDefinition) -> list[list[str]]:
    """For each agent, a sentence about each tool and each agent that it names and that was deleted since."""
    known = api.app.current_registry.specs(api.caller.tenant, "")
    agents = api.app.definitions.snapshot(api.caller.tenant)

    def warnings_of(agent: AgentDefinition) -> list[str]:
        called = {entry.tool_name for entry in agent.agents}
        gone = [entry.agent for entry in agent.agents if agents.agent(entry.agent) is None]
        return [
            *(
                TOOL_GONE.format(name)
                for name in agent.named_tools
                if name not in known and name not in called
            ),
            *(DENIED_GONE.format(name) for name in agent.deny if name not in known and name not in called),
            *(AGENT_GONE.format(name) for name in dict.fromkeys(gone)),
        ]

    return [warnings_of(agent) for agent in found]


def list_agents(
    api: Api, limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50, cursor: ListingCursor = None
) -> Response:
    def read(most: int) -> tuple[list[Json], str | None]:
        with listing_cursor():
            found = api.app.definitions.agents(api.caller.tenant, limit=most, cursor=cursor)
        told = zip(found.agents, _warnings_of(api, *found.agents), strict=True)
        return [{**agent_view(agent), "warnings": warnings} for agent, warnings in told], found.cursor

    return bounded_page(read, limit)


def create_agent(api: Api, body: CreateAgent) -> Response:
    tenant, now = api.caller.tenant, api.app.clock.now()
    _check(body, body.agent_id, api.app, tenant)
    agent = AgentDefinition(
        **settings_of(body),
        agent_id=body.agent_id or api.app.clock.new_id(AGENT),
        applied=applied_after(body, None),
        version=1,
        created_at=now,
        updated_at=now,
    )

    key = idempotency_key(api.request, 201)

    def create() -> Json:
        view = agent_view(agent)
        try:
            api.app.definitions.create_agent(tenant, agent, record_of(key, view, now))
        except DefinitionExists:
            message = "There is an agent of this id already; PUT replaces it."
            raise Conflict(message, {"agent_id": [message]}) from None
        return view

    view = api.app.idempotency.answer(key, create)
    return success(view, 201, {"Location": f"/v1/agents/{view['agent_id']}"})


def read_agent(api: Api, agent_id: str) -> Response:
    agents = _agents(api)
    agent = agents.get(agent_id)
    return agents.answer(agent, warnings=_warnings_of(api, agent)[0])


def replace_agent(api: Api, agent_id: str, body: PutAgent) -> Response:
    agents = _agents(api)
    tenant, now = api.caller.tenant, api.app.clock.now()
    _check(body, agent_id, api.app, tenant)
    old = agents.get_as_read(agent_id, body.version)
    new = AgentDefinition(
        **settings_of(body),
        agent_id=agent_id,
        applied=applied_after(body, old.applied),
        version=old.version + 1,
        created_at=old.created_at or now,
        updated_at=now,
    )
    return agents.replaced(api.app.definitions.replace_agent, old, new)


def delete_agent(
    api: Api, agent_id: str, version: Annotated[int | None, Field(ge=1)] = None, force: bool = False
) -> Response:
    """The agent's memories stay: an agent that is made again under its id has them. Agents that may call it keep its
    id, which means nothing until there is an agent of that id again. So it takes `force` to delete it.
    """
    agents = _agents(api)
    old = agents.get_as_read(agent_id, version)
    if old.is_built_in:
        raise Conflict("This agent is built in and cannot be deleted; PUT replaces it.")
    if not force and agent_id != DEFAULT_AGENT:  # the built-in one takes its place
        check_not_named(
            api.app.definitions,
            api.caller.tenant,
            lambda agent: any(entry.agent == agent_id for entry in agent.agents),
            as_what="this agent",
        )
    return agents.deleted(api.app.definitions.delete_agent, old)


def settings_of(body: AgentSettings) -> dict[str, Any]:
    return {name: getattr(body, name) for name in AgentSettings.model_fields}


def _check(body: AgentBody, agent_id: str | None, deps: App, tenant: str) -> None:
    """Raises FieldsInvalid where the deployment, its caps, its tools or its agents do not allow what the definition
    asks for. `agent_id`: None where Acta makes one.
    """
    wrong = body.wrong()
    registry = deps.current_registry.specs(tenant, "")
    if body.agents and not wrong:  # few agents have some
        from acta.engine.subagents.tool import agent_tools, wrong_agents

        found = deps.definitions.snapshot(tenant).agent
        ids = (agent.agent_id for agent in all_agents(deps.definitions, tenant))
        wrong = wrong_agents(agent_id, body, registry, found, ids)
        registry = registry if wrong else {**registry, **agent_tools(body, found)}
    if body.named_tools or body.deny or body.high_stakes:
        wrong = wrong or wrong_tools(body, registry)
    finds = (_providers, _output, _background, _caps, _models, _parameters)
    for find in finds:
        wrong = wrong or {field: [sentence] for field, sentence in find(body, deps.settings).items()}
    if wrong:
        raise FieldsInvalid(wrong)


def _providers(body: AgentBody, settings: Settings) -> Wrong:
    named = {"provider": body.provider}
    named |= {f"fallbacks.{number}.provider": one.provider for number, one in enumerate(body.fallbacks)}
    named |= {"judge.provider": body.judge.provider} if body.judge is not None else {}
    there = [each for each in PROVIDERS if each != OFFLINE or settings.offline]
    why = NOT_THERE.format(", ".join(there))
    return {f: why for f, provider in named.items() if provider is not None and provider not in there}


def _output(body: AgentBody, settings: Settings) -> Wrong:
    """Refuses an output limit that a call has no time for: the answer would be paid for and lost at every attempt."""
    wanted, field = body.limits.max_output_tokens, "limits.max_output_tokens"
    if wanted is None:
        return {}
    if wanted > settings.cap_max_output_tokens:
        return {field: f"The most in this deployment is {settings.cap_max_output_tokens:,}."}
    fallbacks = [one.model for one in body.fallbacks]
    models = {(_named(body, purpose, settings), *fallbacks) for purpose in OF_TURNS}
    most = min(settings.answer_time.most_tokens(each) for each in models)
    sentence = (
        f"The most is {most}: an answer has {settings.longest_model_seconds:.0f} seconds here, and the slowest of "
        f"the agent's models may need more for {wanted} tokens."
    )
    return {field: sentence} if wanted > most else {}


def _background(body: AgentBody, settings: Settings) -> Wrong:
    """Refuses `background` where a worker would have to wait for the answer all the same, at its full price."""
    provider, why = body.provider or settings.provider, ""
    if not settings.background_seconds:
        why = "This environment allows no answers in the background. Leave it out."
    elif provider not in (able := [each.name for each in BUILT_IN if each.api == "responses"]) or (
        settings.openai_api == "chat"
    ):
        why = f"Only OpenAI's Responses API answers in the background. Name the provider {able[0]}, or leave it out."
    elif body.protocol == "react":
        why = "The protocol react has no answers in the background. Take native, or leave it out."
    elif body.fallbacks:
        why = "Fallbacks answer while a function waits. Leave out either them or this."
    return {"background": why} if body.background and why else {}


def _caps(body: AgentBody, settings: Settings) -> Wrong:
    """Refuses caps above the deployment's, and limits above the agent's own caps."""
    given = {
        "caps": body.caps,
        **{f"agents.{place}.caps": entry.caps for place, entry in enumerate(body.agents)},
    }
    limits = LimitValues(body.limits.max_steps, body.limits.token_budget, body.limits.cost_budget_usd)
    found = {
        part: beyond(LimitValues(**dict(caps)), NO_CAPS, settings.caps, is_admin=True)
        for part, caps in given.items()
    }
    found["limits"] = beyond(limits, body.caps, settings.caps, is_admin=False)
    return {f"{part}.{field}": why for part, fields in found.items() for field, why in fields.items()}


def _models(body: AgentBody, settings: Settings) -> Wrong:
    provider, allowed = body.provider or settings.provider or None, settings.allowed
    named = [("model", provider, body.model)]
    named += [
        (f"models.{purpose}", provider, getattr(body.models, purpose)) for purpose in Models.model_fields
    ]
    named += (
        [("judge.model", body.judge.provider or provider, body.judge.model)] if body.judge is not None else []
    )
    named += [
        (f"fallbacks.{number}.model", one.provider or provider, one.model)
        for number, one in enumerate(body.fallbacks)
    ]
    return {
        field: why
        for field, of, model in named
        if model is not None and (why := allowed.refusal(of, model)) is not None
    }


def _parameters(body: AgentBody, settings: Settings) -> Wrong:
    """Refuses what a model of the agent's turns is known not to take. A fallback is asked without it."""
    wanted = ModelParameters(body.effort, body.temperature)
    for purpose in OF_TURNS:
        name = _named(body, purpose, settings)
        row = PROVIDERS.get(body.provider or settings.provider or provider_of(name))
        if row is not None and (wrong := wanted.refused(row.name, name or row.default_model)):
            return wrong
    return {}


def _named(body: AgentBody, purpose: Purpose, settings: Settings) -> str:
    """The model's name for this purpose. Empty: a provider's default; which one is known only where the keys are."""
    own: str | None = getattr(body.models, purpose) or body.model
    same = body.provider is None or body.provider == settings.provider
    return own or (settings.model if same else "")
