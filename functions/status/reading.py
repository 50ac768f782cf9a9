"""Messages, plan, steps and trace of a session (design §3)."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from functions.status.app import api
from functions.status.root import root
from shared.agent.history import History, Placed
from shared.api.envelope import success
from shared.api.responses import instant, plan_view, step_view
from shared.domain.conversation import AssistantEntry, ToolEntry
from shared.domain.errors import PlanNotFound, ValidationFailed

Limit = Annotated[int, Query(ge=1, le=200)]
Offset = Annotated[str, Query()]


@api.get("/v1/sessions/{session_id}/messages")
def messages(session_id: str, limit: Limit = 100, cursor: Offset = "0") -> Response[str]:
    placed, following = _history(session_id).messages(_offset(cursor), limit)
    return _page([_message(one) for one in placed], following)


@api.get("/v1/sessions/{session_id}/plan")
def plan(session_id: str) -> Response[str]:
    history = _history(session_id)
    current = history.head.plan
    if current is None:
        raise PlanNotFound("The session has no plan yet.")
    return success(
        {"plan": plan_view(current), "versions": [plan_view(one) for one in history.plan_versions()]}
    )


@api.get("/v1/sessions/{session_id}/steps")
def steps(session_id: str, limit: Limit = 100, cursor: Offset = "0") -> Response[str]:
    rows, start = _history(session_id).steps(), _offset(cursor)
    following = start + limit if start + limit < len(rows) else None
    return _page([step_view(row) for row in rows[start : start + limit]], following)


@api.get("/v1/sessions/{session_id}/trace")
def trace(session_id: str, limit: Limit = 100, cursor: Offset = "0") -> Response[str]:
    return _page(*_history(session_id).trace(_offset(cursor), limit))


def _history(session_id: str) -> History:
    its = root()
    return History(its.log, its.blobs, api.caller.tenant, session_id)


def _offset(cursor: str) -> int:
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 9:
        raise ValidationFailed(
            "The cursor is not valid.", {"cursor": ["This is not a cursor of an earlier answer."]}
        )
    return int(cursor)


def _page(items: list[dict[str, Any]], following: int | None) -> Response[str]:
    return success({"items": items, "next_cursor": None if following is None else str(following)})


def _message(one: Placed) -> dict[str, Any]:
    entry = one.entry
    view: dict[str, Any] = {
        "message_id": entry.call_id if isinstance(entry, ToolEntry) else entry.message_id,
        "seq": one.seq,
        "at": instant(one.at),
        "role": entry.kind,
        "content": entry.content.text,
    }
    if isinstance(entry, AssistantEntry) and entry.calls:
        view["tool_calls"] = [{"call_id": c.call_id, "name": c.name, "input": c.input} for c in entry.calls]
    if isinstance(entry, ToolEntry):
        view |= {"call_id": entry.call_id}
    return view
