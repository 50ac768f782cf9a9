"""A tenant's sessions, newest first, and what waits for its people (design §3)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, get_args

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from functions.status.app import api
from functions.status.decisions import asked_in, one_asked_in, state_of
from functions.status.paging import listed
from functions.status.root import root
from shared.agent.queries.call_input import full_call_input
from shared.api.response.envelope import success
from shared.api.response.views import intervention_view, session_view
from shared.domain.errors import CursorInvalid, FinalError, ValidationFailed
from shared.domain.interventions.intervention import Intervention
from shared.domain.session.head import CoarseState, Head, SessionState
from shared.ports.log import IndexEntry, InterventionPage, SessionIndex

PARALLEL = 8
Limit = Annotated[int, Query(ge=1, le=100)]
Cursor = Annotated[str | None, Query()]
ACTIVE: frozenset[str] = frozenset({"planning", "executing", "waiting_for_tool"})


@api.get("/v1/sessions")
def sessions(
    state: Annotated[str | None, Query()] = None,
    agent_id: Annotated[str | None, Query()] = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> Response[str]:
    """Coarse states are the index's; which of the active ones a session is in, its head tells."""
    coarse, its, tenant = _coarse(state), root().directory, api.caller.tenant
    page = _checked(
        lambda: its.sessions(tenant, states=coarse, agent_id=agent_id, limit=limit, cursor=cursor)
    )
    heads = [head for head in _heads(page.entries) if state is None or head.state == state]
    told = listed(
        heads, session_view, lambda head: its.cursor_after_session(tenant, head.session_id), page.cursor
    )
    return success(told.view)


@api.get("/v1/interventions")
def interventions(
    state: Annotated[str | None, Query()] = None, limit: Limit = 50, cursor: Cursor = None
) -> Response[str]:
    wanted, its, tenant = state_of(state), root().directory, api.caller.tenant
    return success(
        _asked(lambda: its.interventions(tenant, state=wanted, limit=limit, cursor=cursor), its, tenant)
    )


@api.get("/v1/sessions/{session_id}/interventions")
def of_session(
    session_id: str,
    state: Annotated[str, Query()] = "pending",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response[str]:
    """The open ones, unless another `state` is asked for, or `all`."""
    its, tenant = root(), api.caller.tenant

    def found() -> InterventionPage:
        return asked_in(its.log, its.directory, tenant, session_id, state=state, limit=limit, cursor=cursor)

    return success(_asked(found, its.directory, tenant))


@api.get("/v1/sessions/{session_id}/interventions/{intervention_id}")
def one_of_session(session_id: str, intervention_id: str) -> Response[str]:
    its, tenant = root(), api.caller.tenant
    return success(
        intervention_view(one_asked_in(its.log, its.directory, tenant, session_id, intervention_id))
    )


@api.get("/v1/sessions/{session_id}/interventions/{intervention_id}/input")
def input_of_one(
    session_id: str, intervention_id: str, call_id: Annotated[str | None, Query()] = None
) -> Response[str]:
    """All of the input that the intervention may show the beginning of only; `call_id`: of a review's call."""
    its, tenant = root(), api.caller.tenant
    found = one_asked_in(its.log, its.directory, tenant, session_id, intervention_id)
    whole = full_call_input(its.log, its.blobs, tenant, found, call_id)
    return success({"name": whole.name, "input": whole.input, "input_hash": whole.input_hash})


def _coarse(state: str | None) -> tuple[CoarseState, ...]:
    if state is None:
        return ()
    if state in ACTIVE:
        return ("active",)
    if state not in get_args(SessionState):
        raise ValidationFailed("Unknown state.", {"state": [f"one of {', '.join(get_args(SessionState))}"]})
    return (state,)  # type: ignore[return-value]


def _asked(found: Callable[[], InterventionPage], its: SessionIndex, tenant: str) -> dict[str, Any]:
    page: InterventionPage = _checked(found)

    def behind(one: Intervention) -> str:
        return its.cursor_after_intervention(tenant, one.intervention_id)

    return listed(page.items, intervention_view, behind, page.cursor).view


def _checked(page: Callable[[], Any]) -> Any:
    try:
        return page()
    except ValueError:
        raise CursorInvalid from None


def _heads(entries: tuple[IndexEntry, ...]) -> list[Head]:
    with ThreadPoolExecutor(PARALLEL) as pool:
        return [head for head in pool.map(_head, entries) if head is not None]


def _head(entry: IndexEntry) -> Head | None:
    """None, too, where it cannot be read: one session that is damaged, or a later release's, hides no other."""
    try:
        commit = root().log.latest(entry.tenant, entry.session_id)
    except FinalError as error:
        api.telemetry.failure(error, session_id=entry.session_id)
        return None
    return None if commit is None else commit.head
