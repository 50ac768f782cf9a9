"""Pause, resume, cancel, delete, resolve (design §3)."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from functions.intervene.root import root
from shared.agent.interventions.resolve import Resolution, resolve
from shared.agent.lifecycle import control
from shared.agent.recovery.recover import wake_engine
from shared.agent.session.repository import Record
from shared.api.app import Api
from shared.api.request.bodies import Resolve
from shared.api.response.envelope import Response, no_content, success
from shared.api.response.views import intervention_view, session_view
from shared.domain.errors import SessionNotFound
from shared.domain.session.commit import Commit
from shared.settings import settings

api = Api("intervene", settings())


@api.post("/v1/sessions/{session_id}/pause")
def pause(session_id: str) -> Response:
    its, caller = root().desk, api.caller

    def act(record: Record) -> dict[str, Any]:
        return session_view(control.pause(its.repository, caller.tenant, session_id, caller.user, record))

    return _steered(session_id, act)


@api.post("/v1/sessions/{session_id}/resume")
def resume(session_id: str) -> Response:
    its, caller = root().desk, api.caller

    def act(record: Record) -> dict[str, Any]:
        return session_view(
            control.resume(
                its.repository, its.workflow, caller.tenant, session_id, caller.user, record, caller.roles
            )
        )

    return _steered(session_id, act)


@api.post("/v1/sessions/{session_id}/cancel")
def cancel(session_id: str) -> Response:
    its, caller = root().desk, api.caller

    def act(record: Record) -> dict[str, Any]:
        return _cancelled(
            control.cancel(its.repository, its.workflow, caller.tenant, session_id, caller.user, record)
        )

    return _steered(session_id, act, lambda commit: _cancelled(control.Cancelled.of(commit.head)))


def _cancelled(done: control.Cancelled) -> dict[str, Any]:
    return session_view(done.head) | {"in_flight": list(done.in_flight)}


@api.delete("/v1/sessions/{session_id}")
def delete(session_id: str) -> Response:
    its, caller = root(), api.caller
    control.delete(
        its.desk.repository, its.desk.workflow, its.log, its.blobs, caller.tenant, session_id, caller.user
    )
    return no_content()


@api.post("/v1/sessions/{session_id}/interventions/{intervention_id}/resolve")
def decide(session_id: str, intervention_id: str, body: Resolve) -> Response:
    its, caller = root().desk, api.caller
    chosen = Resolution(body.option, body.input, body.comment)

    def act(record: Record) -> dict[str, Any]:
        _, settled = resolve(
            its, caller.tenant, session_id, intervention_id, chosen, caller.user, record, caller.roles
        )
        return intervention_view(settled)

    view, repeated = root().once.answer(api.request.idempotency, caller.tenant, lambda _: {}, act)
    if repeated:
        _send_again(session_id)
        settled = its.directory.intervention(caller.tenant, intervention_id)
        view = intervention_view(settled) if settled is not None else view
    return success(view)


def _steered(
    session_id: str,
    act: Callable[[Record], dict[str, Any]],
    told: Callable[[Commit], dict[str, Any]] = lambda commit: session_view(commit.head),
) -> Response:
    """`told`: what `act` answers, from the commit it made; a repeated request gets the same."""
    view, repeated = root().once.answer(api.request.idempotency, api.caller.tenant, told, act)
    if repeated:
        _send_again(session_id)
    return success(view, 202)


def _send_again(session_id: str) -> None:
    """Whoever made the request first may have died between its commit and the engine."""
    its = root().desk
    with suppress(SessionNotFound):  # deleted meanwhile; the answer stays what it was
        wake_engine(its.repository, its.workflow, its.repository.newest(api.caller.tenant, session_id))
