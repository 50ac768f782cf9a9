"""The polling endpoint and the event stream: the same events, one read, no write (docs/design/api.md 41)."""

import json
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from acta_engine.api.app import Api
from acta_engine.api.envelope import Response, not_modified, success
from acta_engine.api.etag import etag, matches
from acta_engine.app import App
from acta_engine.sessions.answers import event_view, partial_view, session_view
from acta_engine.sessions.pages import bounded
from acta_engine.sessions.poll import Cursor, SessionSnapshot, poll
from acta_engine.turn.running_text import running_text
from acta_engine.usage.answers import cost_view
from acta_engine.usage.aws_estimate import receipt_of

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta_engine.sessions import answers as sessions

STREAM_WAIT_SECONDS = 20
"""The gateway buffers, so the answer ends as soon as there are events, and after this time at the latest."""
RETRY_MS = 500
RETRY_ENDED_MS = 60_000
"""A session that has ended has no events until somebody writes to it, so a client asks seldom."""


def add_polling(api: Api, deps: App) -> None:
    log, clock, long_polls = deps.log, deps.clock, deps.long_poll_limit

    def read(session_id: str, after: str, wait: float) -> tuple[SessionSnapshot, bool]:
        """Also whether it could wait, where it was to. One that finds no place for it is answered at once: a browser's
        event stream that is refused never comes back.
        """
        tenant, limiter = api.caller.tenant, api.limiter
        cursor = Cursor.parse(after)

        def look(seconds: float) -> SessionSnapshot:
            return bounded(poll(log, clock, tenant, session_id, cursor, seconds))

        if limiter is None:
            return look(wait), True
        if wait <= 0:
            limiter.spend(tenant)
            return look(0), True
        limiter.check(tenant)
        if not limiter.may_wait(tenant):
            limiter.spend(tenant)
            return look(0), False
        began = clock.now()
        try:
            return look(wait), True
        finally:
            limiter.polled(tenant, (clock.now() - began).total_seconds())

    def pause_ms(usual: int, *, waited: bool) -> int:
        limiter = api.limiter
        return usual if limiter is None else limiter.pause_ms(api.caller.tenant, usual, waited=waited)

    @api.on("pollSession")
    def snapshot(
        session_id: str, after: str = "0", wait: Annotated[float, Field(ge=0, le=20)] = 0
    ) -> Response:
        limit = long_polls.now(reading=wait > 0)
        seen, waited = read(session_id, after, limit.seconds(wait))
        partial = running_text(deps.partials, seen.head) if api.settings.partial_text_ms else None
        partial_at = () if partial is None else (int(partial.at.timestamp() * 1000),)
        now = clock.now()
        is_ahead = int(seen.head.delay_at(now) is not None)  # a wait ends without a commit
        tag = etag(session_id, after, seen.cursor, seen.head.updated_at.timestamp(), is_ahead, *partial_at)
        if matches(api.request.headers.get("if-none-match"), tag):
            return not_modified(tag)
        is_over = seen.head.is_over
        # The answer that tells the end is the last one that anybody waits for; only a later one is not held.
        comes_at_once = seen.has_more or (is_over and bool(seen.events))
        usual = limit.pause_ms(api.settings.poll_after_ms, 0 if is_over else wait)
        poll_after_ms = 0 if comes_at_once else pause_ms(usual, waited=waited)
        view: sessions.SnapshotView = {
            "session": session_view(seen.head, now=now),
            "cost": cost_view(receipt_of(seen.head, deps.rates)),
            "events": [event_view(one.event) for one in seen.events],
            "cursor": str(seen.cursor),
            "has_more": seen.has_more,
            "poll_after_ms": poll_after_ms,
        }
        if partial is not None:
            view["partial"] = partial_view(partial, seen.head)
        headers = {"ETag": tag}
        if not is_over:
            headers["Retry-After"] = str(-(-poll_after_ms // 1000))
        return success(view, headers=headers)

    @api.on("streamEvents")
    def stream(session_id: str, after: str = "0") -> Response:
        """Server-sent events. An event's id is the cursor after it, so `Last-Event-ID` makes a client go on there."""
        last = api.request.headers.get("last-event-id", "")
        limit = long_polls.now(reading=True)
        seen, waited = read(session_id, last or after, limit.seconds(STREAM_WAIT_SECONDS))
        pause = pause_ms(limit.pause_ms(RETRY_MS), waited=waited)
        lines = [f"retry: {RETRY_ENDED_MS if seen.head.is_over else pause}", ""]
        for event, cursor in seen.events:
            body = json.dumps(event_view(event), ensure_ascii=False, separators=(",", ":"))
            lines += [f"id: {cursor}", f"event: {event.type}", f"data: {body}", ""]
        return Response(200, "text/event-stream; charset=utf-8", "\n".join([*lines, ""]))
