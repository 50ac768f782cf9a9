"""Sessions begin, and people say things to them (design §3)."""

from contextlib import suppress
from typing import Any

from functions.start.root import root
from shared.agent.lifecycle.start import NewSession, post_message, restart, start
from shared.api.app import Api
from shared.api.request.bodies import PostMessage, StartSession, refuse_longer
from shared.api.request.idempotency import Record
from shared.api.response.envelope import Response, success
from shared.api.response.views import session_view
from shared.domain.definitions.agent import DEFAULT_AGENT
from shared.domain.errors import SessionNotFound, ValidationFailed
from shared.settings import settings

DEFAULT_MAX_STEPS = 50

api = Api("start", settings())


@api.post("/v1/sessions")
def start_session(body: StartSession) -> Response:
    caller, chosen, its = api.caller, api.settings, root()
    refuse_longer("message", body.message, chosen.max_message_chars)
    agent = its.definitions.at(caller.tenant).agent(body.agent_id or DEFAULT_AGENT)
    if agent is None:
        raise ValidationFailed("There is no such agent.", {"agent_id": ["There is no agent of that id."]})
    new = NewSession(
        tenant=caller.tenant,
        user=caller.user,
        agent_id=agent.agent_id,
        message=body.message,
        max_steps=body.max_steps or agent.limits.max_steps or DEFAULT_MAX_STEPS,
        token_budget=body.token_budget or agent.limits.token_budget or chosen.token_budget,
        cost_budget_usd=body.cost_budget_usd or agent.limits.cost_budget_usd,
        review_every=body.review_every or 0,
        metadata=body.metadata or {},
    )

    def act(record: Record | None) -> dict[str, Any]:
        return session_view(start(its.repository, its.workflow, new, record))

    view, repeated = its.once.answer(
        api.request.idempotency, caller.tenant, lambda commit: session_view(commit.head), act
    )
    if repeated:
        _go_on(view["session_id"])
    return success(view, 202, {"Location": f"/v1/sessions/{view['session_id']}"})


@api.post("/v1/sessions/{session_id}/messages")
def say(session_id: str, body: PostMessage) -> Response:
    caller, its = api.caller, root()
    refuse_longer("content", body.content, api.settings.max_message_chars)

    def act(record: Record | None) -> dict[str, Any]:
        head = post_message(
            its.repository,
            its.workflow,
            caller.tenant,
            session_id,
            body.content,
            caller.user,
            record,
            caller.roles,
        )
        return session_view(head)

    view, repeated = its.once.answer(
        api.request.idempotency, caller.tenant, lambda commit: session_view(commit.head), act
    )
    if repeated:
        _go_on(session_id)
    return success(view, 202)


def _go_on(session_id: str) -> None:
    """Whoever made the request first may have died between its commit and the engine."""
    its = root()
    with suppress(SessionNotFound):  # deleted meanwhile; the answer stays what it was
        restart(its.repository, its.workflow, api.caller.tenant, session_id)


handler = api.handler
