"""Agent definitions: `/v1/agents` (design §3)."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from functions.admin.paging import Cursor, bad_cursor
from shared.api.app import Api
from shared.api.request.bodies import AgentBody, CreateAgent, PutAgent
from shared.api.request.idempotency import IdempotencyGuard
from shared.api.response.definition_views import agent_view
from shared.api.response.envelope import no_content, success
from shared.api.response.etag import admits, etag
from shared.domain.definitions.agent import AgentDefinition, Fallback, Limits, Models, unknown_tools
from shared.domain.definitions.tool import ToolSpec
from shared.domain.errors import Conflict, NotFound, ValidationFailed
from shared.domain.ids import AGENT
from shared.domain.interventions.intervention import Policy, wrong_default
from shared.ports.clock import Clock
from shared.ports.definitions import AgentExists, DefinitionChanged, DefinitionStore
from shared.ports.log import IdempotencyRecord

MAX_PAGE = 100
NOT_THERE = "This environment does not have the rule-based stand-in. Name another provider, or none."


def add_agents(
    api: Api,
    store: DefinitionStore,
    once: IdempotencyGuard,
    clock: Clock,
    tools: Callable[[str], Mapping[str, ToolSpec]],
    *,
    offline: bool,
) -> None:
    """`tools`: what an agent of a tenant may be given, by name; `offline`: it may name the rule-based stand-in."""

    @api.get("/v1/agents")
    def list_agents(
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50, cursor: Cursor = None
    ) -> Response[str]:
        with bad_cursor():
            page = store.agents(api.caller.tenant, limit=limit, cursor=cursor)
        return success({"items": [agent_view(agent) for agent in page.agents], "next_cursor": page.cursor})

    @api.post("/v1/agents")
    def create_agent(body: Annotated[CreateAgent, Body()]) -> Response[str]:
        tenant, now = api.caller.tenant, clock.now()
        _check_tools(body, tools, tenant)
        _check_policies(body)
        _check_providers(body, offline=offline)
        agent = _definition(body, body.agent_id or clock.new_id(AGENT), 1, now, now)

        def act(record: Callable[[AgentDefinition], IdempotencyRecord] | None) -> dict[str, Any]:
            try:
                store.create_agent(tenant, agent, record and record(agent))
            except AgentExists:
                message = "There is an agent of this id already; PUT replaces it."
                raise Conflict(message, {"agent_id": [message]}) from None
            return agent_view(agent)

        view, _ = once.answer(api.incoming, tenant, agent_view, act, status=201)
        return success(view, 201, {"Location": f"/v1/agents/{view['agent_id']}"})

    @api.get("/v1/agents/{agent_id}")
    def read_agent(agent_id: str) -> Response[str]:
        return _answer(_found(store, api.caller.tenant, agent_id))

    @api.put("/v1/agents/{agent_id}")
    def replace_agent(agent_id: str, body: Annotated[PutAgent, Body()]) -> Response[str]:
        tenant, now = api.caller.tenant, clock.now()
        _check_tools(body, tools, tenant)
        _check_policies(body)
        _check_providers(body, offline=offline)
        old = _found(store, tenant, agent_id)
        if body.version not in (None, old.version):
            raise _changed()
        _check_match(api, old)
        new = _definition(body, agent_id, old.version + 1, old.created_at or now, now)
        try:
            store.replace_agent(tenant, old, new)
        except DefinitionChanged:
            raise _changed() from None
        return _answer(new)

    @api.delete("/v1/agents/{agent_id}")
    def delete_agent(agent_id: str) -> Response[str]:
        """Its memories stay, for the agent that may be made again under the id."""
        tenant = api.caller.tenant
        old = _found(store, tenant, agent_id)
        _check_match(api, old)
        if old.is_built_in:
            raise Conflict("This agent is built in and cannot be deleted; PUT replaces it.")
        try:
            store.delete_agent(tenant, old)
        except DefinitionChanged:
            raise _changed() from None
        return no_content()


def _definition(
    body: AgentBody, agent_id: str, version: int, created_at: datetime, updated_at: datetime
) -> AgentDefinition:
    return AgentDefinition(
        agent_id=agent_id,
        name=body.name.strip(),
        system_prompt=body.system_prompt,
        goal=body.goal,
        provider=body.provider,
        model=body.model,
        models=Models(**dict(body.models)),
        fallbacks=tuple(Fallback(**dict(one)) for one in body.fallbacks),
        tools=tuple(dict.fromkeys(body.tools)),
        limits=Limits(**dict(body.limits)),
        high_stakes=tuple(dict.fromkeys(body.high_stakes)),
        protocol=body.protocol,
        interventions={type: Policy(**dict(one)) for type, one in body.interventions.items()},
        version=version,
        created_at=created_at,
        updated_at=updated_at,
    )


def _check_providers(body: AgentBody, *, offline: bool) -> None:
    named = {"provider": body.provider}
    named |= {f"fallbacks.{number}.provider": one.provider for number, one in enumerate(body.fallbacks)}
    wrong = {field: [NOT_THERE] for field, provider in named.items() if provider == "offline" and not offline}
    if wrong:
        raise ValidationFailed(f"The request is not valid: {', '.join(wrong)}.", wrong)


def _check_policies(body: AgentBody) -> None:
    wrong = {
        f"interventions.{type}.default_action": [why]
        for type, policy in body.interventions.items()
        if policy.default_action is not None
        and (why := wrong_default(type, policy.default_action)) is not None
    }
    if wrong:
        raise ValidationFailed(f"The request is not valid: {', '.join(wrong)}.", wrong)


def _check_tools(body: AgentBody, tools: Callable[[str], Mapping[str, ToolSpec]], tenant: str) -> None:
    named = {"tools": body.tools, "high_stakes": body.high_stakes}
    if not any(named.values()):
        return
    there = list(tools(tenant))
    details = {field: unknown_tools(names, there) for field, names in named.items()}
    wrong = {field: sentences for field, sentences in details.items() if sentences}
    if wrong:
        raise ValidationFailed(f"The request is not valid: {', '.join(wrong)}.", wrong)


def _found(store: DefinitionStore, tenant: str, agent_id: str) -> AgentDefinition:
    agent = store.agent(tenant, agent_id)
    if agent is None:
        raise NotFound("There is no such agent.")
    return agent


def _tag(agent: AgentDefinition) -> str:
    return etag(agent.version, int(agent.created_at.timestamp() * 1_000) if agent.created_at else 0)


def _check_match(api: Api, agent: AgentDefinition) -> None:
    if not admits(api.incoming.headers.get("if-match"), _tag(agent)):
        raise _changed()


def _changed() -> Conflict:
    return Conflict("The agent was changed meanwhile. Read it again and decide anew.")


def _answer(agent: AgentDefinition) -> Response[str]:
    return success(agent_view(agent), headers={"ETag": _tag(agent)})
