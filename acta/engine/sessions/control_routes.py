"""People steer a session: pause, resume, cancel, delete, change its limits and its plan, rate its answers
(docs/design/api.md)."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, no_content, success
from acta.engine.api.etag import admits, plan_tag
from acta.engine.api.idempotency import answer_from_commit, requester_of
from acta.engine.audit.recorder import DecisionDetails
from acta.engine.errors import PreconditionRequired, SessionNotFound
from acta.engine.limits.caps import LimitValues
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.log.head import Head
from acta.engine.people.requester import Requester
from acta.engine.people.visibility import may_read
from acta.engine.plans.answers import plan_view
from acta.engine.plans.bodies import EditPlan
from acta.engine.plans.edit import PlanEdit
from acta.engine.plans.edit import edit_plan as change_plan
from acta.engine.recovery.recover import align, wake_again
from acta.engine.sessions import control
from acta.engine.sessions.answers import session_view
from acta.engine.sessions.bodies import ChangeLimits, RateAnswer
from acta.engine.sessions.control import NewLimits
from acta.engine.sessions.delete import delete

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.plans import answers as plans
    from acta.engine.sessions import answers as sessions

Json = Mapping[str, Any]


def pause_session(api: Api, session_id: str) -> Response:
    return _controlled(
        api,
        session_id,
        lambda requester: control.pause(api.app, requester, session_id, lambda: api.app.family),
    )


def resume_session(api: Api, session_id: str) -> Response:
    decided = DecisionDetails()
    answer = _controlled(
        api,
        session_id,
        lambda requester: control.resume(api.app, requester, session_id, lambda: api.app.family, decided.by),
    )
    return answer._replace(recorded=decided)


def cancel_session(api: Api, session_id: str) -> Response:
    return _controlled(
        api,
        session_id,
        lambda requester: control.cancel(
            api.app.repository,
            api.app.workflow,
            requester,
            session_id,
            api.app.attempts,
            api.app.settings.token_window_seconds,
            lambda: api.app.family,
        ),
        cancelled_view,
    )


def delete_session(api: Api, session_id: str) -> Response:
    delete(
        api.app.repository,
        api.app.workflow,
        api.app.log,
        api.app.session_index,
        api.app.blobs,
        Requester(*api.caller),
        session_id,
        lambda: api.app.family,
    )
    return no_content()


def change_limits(api: Api, session_id: str, body: ChangeLimits) -> Response:
    named = LimitValues(body.max_steps, body.token_budget, body.cost_budget_usd)
    new = NewLimits(named, body.review_every)
    return _controlled(
        api, session_id, lambda requester: control.change_limits(api.app, requester, session_id, new)
    )


def rate_answer(api: Api, session_id: str, body: RateAnswer) -> Response:
    given = body.rating, body.run_id, body.comment or ""
    return _controlled(
        api,
        session_id,
        lambda requester: control.rate_answer(api.app.repository, requester, session_id, *given),
    )


def edit_plan(api: Api, session_id: str, body: EditPlan) -> Response:
    seen = api.request.headers.get("if-match")
    if seen is None:
        raise PreconditionRequired("Send If-Match with the ETag of the plan that you have read.")
    requester = requester_of(api.request, status=200)
    edit = PlanEdit(body.operations, lambda version: admits(seen, plan_tag(version)), body.comment or "")
    decided = DecisionDetails()

    def act() -> Json:
        return plan_of(change_plan(api.app, requester, session_id, edit, decided.by))

    def repeat(record: IdempotencyRecord) -> Json:
        wake_again(api.app.repository, api.app.workflow, api.caller.tenant, session_id)
        return answer_from_commit(api.app.log, record, plan_of)

    edited = api.app.idempotency.answer(requester.key, act, repeat)
    headers = {"ETag": plan_tag(edited["version"])} if "version" in edited else {}
    return success(edited, headers=headers)._replace(recorded=decided)


def _controlled(
    api: Api, session_id: str, act: Callable[[Requester], Head], view: Callable[..., Json] = session_view
) -> Response:
    """`view`: gets the head and, where it is not read from the commit that answered first, the time."""
    requester = requester_of(api.request)

    def answer() -> Json:
        return view(act(requester), now=api.app.repository.clock.now())

    def repeat(record: IdempotencyRecord) -> Json:
        wake_again(api.app.repository, api.app.workflow, api.caller.tenant, session_id)
        with suppress(SessionNotFound):  # deleted meanwhile
            newest = api.app.repository.newest(api.caller.tenant, session_id)
            align(newest, lambda: api.app.family)
        return answer_from_commit(api.app.log, record, view)

    return success(api.app.idempotency.answer(requester.key, answer, repeat), 202)


def cancelled_view(
    head: Head, now: datetime | None = None
) -> "sessions.CancelledSessionView | sessions.HiddenSessionView":
    """Of a private session an admin is told what became of it, and nothing of what it holds."""
    in_flight = list(control.in_flight(head))
    if not may_read(head):
        return {"session_id": head.session_id, "state": head.state, "in_flight": in_flight}
    return {**session_view(head, now=now), "in_flight": in_flight}


def plan_of(head: Head) -> "plans.PlanView":
    """Of a session that has one."""
    assert head.plan is not None
    return plan_view(head.plan, head.plan_status)
