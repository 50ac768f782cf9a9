"""Messages, plan, steps and trace of a session (design §3)."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from functions.status.app import api
from functions.status.paging import page
from functions.status.root import root
from functions.status.views import message_view
from shared.agent.queries.history import History, HistoryCursor
from shared.api.response.envelope import success
from shared.api.response.views import plan_view, step_view
from shared.domain.errors import PlanNotFound

Limit = Annotated[int, Query(ge=1, le=200)]
Cursor = Annotated[str, Query()]


@api.get("/v1/sessions/{session_id}/messages")
def messages(session_id: str, limit: Limit = 100, cursor: Cursor = "0") -> Response[str]:
    return success(page(_history(session_id).messages(HistoryCursor.parse(cursor)), message_view, limit).view)


@api.get("/v1/sessions/{session_id}/plan")
def plan(session_id: str, limit: Limit = 100, cursor: Cursor = "0") -> Response[str]:
    """The current plan, and a page of its versions."""
    history = _history(session_id)
    current = history.head.plan
    if current is None:
        raise PlanNotFound("The session has no plan yet.")
    versions = page(history.plan_versions(HistoryCursor.parse(cursor)), plan_view, limit)
    return success(
        {"plan": plan_view(current), "versions": versions.items, "next_cursor": versions.next_cursor}
    )


@api.get("/v1/sessions/{session_id}/steps")
def steps(session_id: str, limit: Limit = 100, cursor: Cursor = "0") -> Response[str]:
    return success(page(_history(session_id).steps(HistoryCursor.parse(cursor)), step_view, limit).view)


@api.get("/v1/sessions/{session_id}/trace")
def trace(session_id: str, limit: Limit = 100, cursor: Cursor = "0") -> Response[str]:
    return success(page(_history(session_id).trace(HistoryCursor.parse(cursor)), dict, limit).view)


def _history(session_id: str) -> History:
    its = root()
    return History(its.log, its.blobs, api.caller.tenant, session_id)
