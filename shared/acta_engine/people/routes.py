"""The routes of `intervene`: pause, resume, cancel, delete, change limits and plan, resolve (docs/design/api.md)."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from acta_engine.api.app import Api
from acta_engine.api.envelope import Response, no_content, success
from acta_engine.api.etag import admits, plan_tag, required
from acta_engine.api.idempotency import answer_from_commit, requester_of
from acta_engine.app import App
from acta_engine.audit.recorder import DecisionDetails
from acta_engine.errors import SessionNotFound
from acta_engine.limits.caps import LimitValues
from acta_engine.log.commit import IdempotencyRecord
from acta_engine.log.head import Head
from acta_engine.people.answers import intervention_view
from acta_engine.people.requester import Requester
from acta_engine.people.resolve import Resolution, resolve
from acta_engine.people.visibility import may_read
from acta_engine.plans.answers import plan_view
from acta_engine.plans.bodies import EditPlan
from acta_engine.plans.edit import EditDeps, PlanEdit, edit_plan
from acta_engine.recovery.recover import wake_engine
from acta_engine.sessions import control
from acta_engine.sessions.answers import session_view
from acta_engine.sessions.bodies import ChangeLimits, Resolve
from acta_engine.sessions.control import LimitDeps, NewLimits, change_limits
from acta_engine.sessions.delete import delete as delete_session

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta_engine.plans import answers as plans
    from acta_engine.sessions import answers as sessions

Json = Mapping[str, Any]


def build(deps: App) -> Api:
    return add_routes(Api("intervene", deps.settings, audit=deps.audit, limiter=deps.limiter), deps)


def add_routes(api: Api, deps: App) -> Api:
    repository, workflow, index = deps.repository, deps.workflow, deps.session_index
    definitions = deps.definitions

    @api.on("pauseSession")
    def pause(session_id: str) -> Response:
        return controlled(session_id, lambda requester: control.pause(repository, requester, session_id))

    @api.on("resumeSession")
    def resume(session_id: str) -> Response:
        decided = DecisionDetails()
        answer = controlled(
            session_id,
            lambda requester: control.resume(
                repository, workflow, definitions, requester, session_id, decided.by
            ),
        )
        return answer._replace(recorded=decided)

    @api.on("cancelSession")
    def cancel(session_id: str) -> Response:
        return controlled(
            session_id,
            lambda requester: control.cancel(
                repository, workflow, requester, session_id, deps.attempts, deps.settings.token_window_seconds
            ),
            cancelled_view,
        )

    @api.on("deleteSession")
    def delete(session_id: str) -> Response:
        delete_session(repository, workflow, deps.log, index, deps.blobs, Requester(*api.caller), session_id)
        return no_content()

    @api.on("changeLimits")
    def limits(session_id: str, body: ChangeLimits) -> Response:
        named = LimitValues(body.max_steps, body.token_budget, body.cost_budget_usd)
        new = NewLimits(named, body.review_every)
        changing = LimitDeps(repository, workflow, definitions, deps.settings.caps)
        return controlled(session_id, lambda requester: change_limits(changing, requester, session_id, new))

    @api.on("editPlan")
    def plan(session_id: str, body: EditPlan) -> Response:
        seen = required(api.request.headers.get("if-match"))
        requester = requester_of(api.request, status=200)
        edit = PlanEdit(body.operations, lambda version: admits(seen, plan_tag(version)), body.comment or "")
        editing = EditDeps(repository, workflow, deps.registry, definitions)

        decided = DecisionDetails()

        def act() -> Json:
            return plan_of(edit_plan(editing, requester, session_id, edit, decided.by))

        def repeat(record: IdempotencyRecord) -> Json:
            wake_again(session_id)
            return answer_from_commit(deps.log, record, plan_of)

        edited = deps.idempotency.answer(requester.key, act, repeat)
        headers = {"ETag": plan_tag(edited["version"])} if "version" in edited else {}
        return success(edited, headers=headers)._replace(recorded=decided)

    @api.on("resolveIntervention")
    def decide(session_id: str, intervention_id: str, body: Resolve) -> Response:
        requester = requester_of(api.request, status=200)

        def act() -> Json:
            chosen = Resolution(body.option, body.input, body.comment)
            _, decided = resolve(deps.resolving, requester, session_id, intervention_id, chosen)
            return intervention_view(decided)

        def repeat(_: IdempotencyRecord) -> Json:
            decided = index.intervention(requester.tenant, intervention_id)
            if decided is None or not wake_again(session_id):
                return {"session_id": session_id, "intervention_id": intervention_id}
            return intervention_view(decided)

        return success(deps.idempotency.answer(requester.key, act, repeat))

    def controlled(
        session_id: str, act: Callable[[Requester], Head], view: Callable[..., Json] = session_view
    ) -> Response:
        """`view`: gets the head and, where it is not read from the commit that answered first, the time."""
        requester = requester_of(api.request)

        def answer() -> Json:
            return view(act(requester), now=repository.clock.now())

        def repeat(record: IdempotencyRecord) -> Json:
            wake_again(session_id)
            return answer_from_commit(deps.log, record, view)

        return success(deps.idempotency.answer(requester.key, answer, repeat), 202)

    def wake_again(session_id: str) -> bool:
        """The worker that answered first may have died after its commit and before it woke the engine. False: the
        session was deleted meanwhile.
        """
        with suppress(SessionNotFound):
            wake_engine(repository, workflow, repository.newest(api.caller.tenant, session_id))
            return True
        return False

    return api


def plan_of(head: Head) -> "plans.PlanView":
    """Of a session that has one."""
    assert head.plan is not None
    return plan_view(head.plan, head.plan_status)


def cancelled_view(
    head: Head, now: datetime | None = None
) -> "sessions.CancelledSessionView | sessions.HiddenSessionView":
    """Of a private session an admin is told what became of it, and nothing of what it holds."""
    in_flight = list(control.in_flight(head))
    if not may_read(head):
        return {"session_id": head.session_id, "state": head.state, "in_flight": in_flight}
    return {**session_view(head, now=now), "in_flight": in_flight}
