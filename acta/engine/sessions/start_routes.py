"""The routes of `start`: sessions begin, and people say things to them (docs/design/api.md)."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from acta.engine.agents.agent import DEFAULT_AGENT, require_start_role
from acta.engine.agents.store import DefinitionSnapshot
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success
from acta.engine.api.idempotency import answer_from_commit, requester_of
from acta.engine.app import App
from acta.engine.audit.recorder import DecisionDetails
from acta.engine.errors import Conflict, FieldsInvalid, Forbidden, SessionNotFound, ValidationFailed
from acta.engine.limits.caps import LimitValues
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.log.head import Head, SessionSettings
from acta.engine.sessions.answers import fork_view, session_view
from acta.engine.sessions.bodies import (
    ForkSession,
    PostMessage,
    SessionFields,
    StartSession,
)
from acta.engine.sessions.start import NewSession, new_session, start
from acta.engine.sessions.start import post_message as say
from acta.engine.turn.final_answer import schema_text
from acta.engine.untrusted.visible import visible

Json = Mapping[str, Any]


def start_session(api: Api, body: StartSession) -> Response:
    requester, new = requester_of(api.request), _asked_session(api, body, body.content, DEFAULT_AGENT)

    def act() -> Json:
        return session_view(start(api.app.repository, api.app.workflow, requester, new))

    return _started(api, api.app.idempotency.answer(requester.key, act, partial(repeated, api)))


def fork_session(api: Api, session_id: str, body: ForkSession) -> Response:
    # Few start a session so, and a cold start does not import it.
    from acta.engine.sessions.fork import fork, parent_at

    requester = requester_of(api.request)

    def act() -> Json:
        parent = parent_at(api.app.repository, requester, session_id, body.at)
        new = _as_its_parent(_asked_session(api, body, body.content, parent.head.agent_id), body, parent.head)
        return fork_view(fork(api.app.repository, api.app.workflow, requester, parent, new))

    return _started(
        api, api.app.idempotency.answer(requester.key, act, partial(repeated, api, view=fork_view))
    )


def _started(api: Api, view: Json) -> Response:
    if view.get("visibility") == "private":
        view = {**view, "questions_seen_by": _seen_by(api, view["agent_id"])}
    return success(view, 202, {"Location": f"/v1/sessions/{view['session_id']}"})


def _seen_by(api: Api, agent_id: str) -> list[Json]:
    """Who besides its owner sees which questions of a private session of this agent (ADR 137), and of its children."""
    from acta.engine.people.policies import decided_by_roles  # only these starts look at tools
    from acta.engine.subagents.tool import family_of

    tenant = api.caller.tenant
    find = api.app.definitions.snapshot(tenant).agent
    agent = find(agent_id)
    tools = [
        tool
        for one in (() if agent is None else family_of(agent, find))
        for tool in one.toolset(api.app.tools_of(tenant, one.agent_id)).values()
    ]
    roles = decided_by_roles(tools, api.app.settings.high_stakes_approver)
    return [{"role": role, "tools": roles[role]} for role in sorted(roles)]


def post_message(api: Api, session_id: str, body: PostMessage) -> Response:
    requester, decided = requester_of(api.request), DecisionDetails()
    _check_output_schema(body.output_schema)
    schema = "" if body.output_schema is None else schema_text(body.output_schema)

    def act() -> Json:
        return session_view(say(api.app, requester, session_id, body.content, decided.by, schema))

    answer = success(api.app.idempotency.answer(requester.key, act, partial(repeated, api)), 202)
    return answer._replace(recorded=decided)


def _asked_session(api: Api, body: SessionFields, said: str | None, agent_id: str) -> NewSession:
    """`agent_id`: whose it is where the request names none. Raises ValidationFailed, StartRoleMissing, Conflict."""
    known = api.app.definitions.snapshot(api.caller.tenant)
    agent = known.agent(body.agent_id or agent_id)
    if agent is None:
        raise ValidationFailed("There is no such agent.", {"agent_id": ["There is no agent of that id."]})
    require_start_role(agent, api.caller.roles)
    _check_output_schema(body.output_schema)
    _check_receiver(body.notify_url, api.app, api.caller.tenant)
    is_admin = "admin" in api.caller.roles
    deployment = api.app.settings
    new = new_session(
        agent,
        said,
        LimitValues(body.max_steps, body.token_budget, body.cost_budget_usd),
        deployment,
        is_admin=is_admin,
        settings=SessionSettings(**{"visibility": deployment.default_visibility, **body.settings()}),
        review_every=body.review_every or 0,
        output_schema=body.output_schema,
        notify_url=body.notify_url,
    )
    _check_prompts(new.settings.prompts, known, is_admin)
    return new


def repeated(api: Api, record: IdempotencyRecord, view: Callable[[Head], Json] = session_view) -> Json:
    """The worker that answered first may have died after its commit and before it started the engine."""
    from acta.engine.recovery.recover import recover

    with suppress(SessionNotFound):  # deleted meanwhile
        # An earlier try may have died before it could start or wake the engine.
        recover(api.app.repository, api.app.workflow, record.tenant, record.answer["session_id"])
    return answer_from_commit(api.app.log, record, view)


def _check_output_schema(schema: Json | None) -> None:
    """Raises ValidationFailed. An agent's was checked when it was written."""
    if schema is None:
        return
    # Few sessions bring one, so a cold start does not import it.
    from acta.engine.turn.output_schema import BadOutputSchema, check_output_schema

    try:
        check_output_schema(schema)
    except BadOutputSchema as bad:
        raise FieldsInvalid({"output_schema": [str(bad)]}) from None


def _check_prompts(named: Mapping[str, int], definitions: DefinitionSnapshot, is_admin: bool) -> None:
    """Prompts are admins' to read and write. Raises Forbidden for others, ValidationFailed for what there is not."""
    if not named:  # as nearly all sessions
        return
    from acta.engine.prompts.prompt import SEED_VERSION, SEEDS

    if not is_admin:
        raise Forbidden("Only admins try versions of prompts.", {"role": ["admin"]})
    for name, version in named.items():
        if name not in SEEDS:
            raise FieldsInvalid({"prompts": [f"There is no prompt {visible(name)}."]})
        # Version 1 is always there. The release's own text of it is not this function's to read.
        if version != SEED_VERSION and definitions.prompt_version(name, version) is None:
            raise FieldsInvalid({"prompts": [f"{name} has no version {version}."]})


def _as_its_parent(new: NewSession, body: ForkSession, parent: Head) -> NewSession:
    """What the request does not name is as in the session that is forked."""
    if parent.private_to is not None and "visibility" not in body.settings():
        new = new._replace(settings=new.settings.model_copy(update={"visibility": "private"}))
    if parent.output_schema and body.output_schema is None:
        new = new._replace(output_schema=parent.output_schema)
    return new


def _check_receiver(url: str | None, deps: App, tenant: str) -> None:
    """Raises ValidationFailed where notifications may not go there, and Conflict where nothing could sign them."""
    if url is None:
        return
    from acta.engine.egress.address import AddressRefused

    try:
        deps.receiver_hosts.check(url)
    except AddressRefused as refused:
        raise FieldsInvalid({"notify_url": [refused.explained]}) from None
    if deps.receivers.get(tenant) is None:
        raise Conflict(
            "Notifications are signed with a secret of your tenant, and it has none. An admin sets one with "
            "PUT /v1/notifications."
        )
