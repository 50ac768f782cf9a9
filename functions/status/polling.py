"""The polling endpoint and the event stream: the same events, one read, no write (design §3)."""

import json
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from functions.status.app import api
from functions.status.paging import bounded
from functions.status.root import root
from shared.agent.model_call.streaming import running_text
from shared.agent.queries.poll import Cursor, Snapshot, poll
from shared.api.response.envelope import not_modified, raw, success
from shared.api.response.etag import etag, matches
from shared.api.response.views import event_view, partial_view, session_view

STREAM_WAIT_SECONDS = 20
"""The gateway buffers: a stream's answer ends as soon as there are events, or then."""
RETRY_MS = 500
RETRY_ENDED_MS = 60_000
"""Nothing comes of a session that has ended until somebody writes to it, so a client need not ask twice a second."""
Wait = Annotated[float, Query(ge=0, le=20)]


@api.get("/v1/sessions/{session_id}")
def snapshot(session_id: str, after: Annotated[str, Query()] = "0", wait: Wait = 0) -> Response[str]:
    seen = _poll(session_id, after, wait)
    partial = running_text(root().partials, seen.head) if api.settings.partial_text_ms else None
    said = (int(partial.at.timestamp() * 1000),) if partial is not None else ()
    tag = etag(session_id, after, seen.cursor, seen.head.updated_at.timestamp(), *said)
    if matches(api.incoming.headers.get("if-none-match"), tag):
        return not_modified(tag)
    soon = 0 if seen.has_more else api.settings.poll_after_ms
    view = {
        "session": session_view(seen.head),
        "events": [event_view(one.event) for one in seen.events],
        "cursor": str(seen.cursor),
        "has_more": seen.has_more,
        "poll_after_ms": soon,
    }
    if partial is not None:
        view["partial"] = partial_view(partial, seen.head)
    headers = {"ETag": tag}
    if not seen.head.is_over:
        headers["Retry-After"] = str(-(-soon // 1000))
    return success(view, headers=headers)


@api.get("/v1/sessions/{session_id}/events")
def stream(session_id: str, after: Annotated[str, Query()] = "0") -> Response[str]:
    """Server-sent events; the event id is the cursor behind the event, so `Last-Event-ID` resumes after it."""
    last = api.incoming.headers.get("last-event-id", "")
    seen = _poll(session_id, last or after, STREAM_WAIT_SECONDS)
    lines = [f"retry: {RETRY_ENDED_MS if seen.head.is_over else RETRY_MS}", ""]
    for event, cursor in seen.events:
        body = json.dumps(event_view(event), ensure_ascii=False, separators=(",", ":"))
        lines += [f"id: {cursor}", f"event: {event.type}", f"data: {body}", ""]
    return raw("\n".join([*lines, ""]), "text/event-stream; charset=utf-8")


def _poll(session_id: str, after: str, wait: float) -> Snapshot:
    its = root()
    return bounded(poll(its.log, its.clock, api.caller.tenant, session_id, Cursor.parse(after), wait))
