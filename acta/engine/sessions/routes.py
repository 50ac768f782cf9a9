"""The routes of `status`: everything that only reads sessions, and their usage (docs/design/api.md).

A tenant's sessions, newest first; the polling endpoint and the event stream, which tell the same events with one read
and no write (docs/design/api.md 41); and a session's messages, plan, steps and trace, page by page.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, cast

from pydantic import Field

from acta.engine.api.answers import instant
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, page, success
from acta.engine.api.etag import etag, plan_tag
from acta.engine.api.listing_cursor import MAX_LONG_PAGE, MAX_PAGE, ListingCursor, listing_cursor
from acta.engine.bound_tenant import carried
from acta.engine.errors import (
    FinalError,
    PlanNotFound,
    SchemaUnknown,
    SessionHidden,
    ValidationFailed,
)
from acta.engine.log.conversation import AssistantEntry, ToolEntry
from acta.engine.log.head import CoarseState, Head, SessionState
from acta.engine.log.store import LISTED_GOAL_CHARS, IndexEntry, ListingEntry, ListingFilter
from acta.engine.plans.answers import plan_view
from acta.engine.sessions.answers import cost_view, event_view, partial_view, session_view, step_view
from acta.engine.sessions.history import History, HistoryCursor, PositionedEntry, part_of, whole_answer
from acta.engine.sessions.pages import Json, bounded, page_of_items, page_of_rows, searched_page
from acta.engine.sessions.poll import Cursor, SessionSnapshot, poll
from acta.engine.turn.final_answer import for_people
from acta.engine.turn.running_text import running_text
from acta.engine.usage.aws_estimate import receipt_of

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.plans import answers as plans
    from acta.engine.sessions import answers as shapes


READ_AT_ONCE = 8
PAGES = 5
"""The most pages of the index that are read for one page of the answer, if the heads leave it empty."""
ACTIVE: frozenset[str] = frozenset({"planning", "executing", "waiting_for_tool"})


def list_sessions(
    api: Api,
    state: SessionState | None = None,
    agent_id: Annotated[str, Field(min_length=1)] | None = None,
    created_by: Annotated[str, Field(min_length=1, max_length=1_000)] | None = None,
    metadata: Annotated[str, Field(pattern="^[^=]{1,64}=")] | None = None,
    goal: Annotated[str, Field(min_length=1, max_length=LISTED_GOAL_CHARS)] | None = None,
    goal_met: Literal["true", "false"] | None = None,
    children: bool = False,
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 20,
    cursor: ListingCursor = None,
) -> Response:
    """Those that the caller may see. The index has one state for all active sessions; the heads have the exact one.

    A page has a read for each session that the index finds. Where the heads fit none of them it goes on, with
    `PAGES` of the index at most.
    """
    tenant, coarse = api.caller.tenant, _coarse(state, goal_met)
    name, _, value = (metadata or "").partition("=")
    wanted = ListingFilter(created_by, goal, None if metadata is None else (name, value), children)
    heads: list[Head] = []
    following = cursor
    for _ in range(PAGES):
        with listing_cursor():
            found = api.app.session_index.sessions(
                tenant, states=coarse, agent_id=agent_id, limit=limit, cursor=following, wanted=wanted
            )
        heads = [
            head
            for head in _heads(api, found.entries)
            if (state is None or head.state == state)
            and (goal_met is None or _met(head) == goal_met)
            and wanted.fits(ListingEntry.of(head))
        ]
        following = found.cursor
        if heads or following is None or not found.entries:
            break

    def cursor_after(head: Head) -> str:
        return api.app.session_index.cursor_after_session(tenant, head.session_id)

    def as_now(head: Head) -> Json:
        return session_view(head, now=api.app.clock.now())

    return searched_page(page_of_items(heads, as_now, cursor_after, following), api.app.session_index)


def _heads(api: Api, entries: tuple[IndexEntry, ...]) -> list[Head]:
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        return [head for head in pool.map(carried(partial(_head, api)), entries) if head is not None]


def _head(api: Api, entry: IndexEntry) -> Head | None:
    """None, too, for a session that cannot be read: one that is damaged, or of a later release, hides no other."""
    try:
        commit = api.app.log.latest(entry.tenant, entry.session_id)
    except SessionHidden:  # though its entry does not say so
        return None
    except (FinalError, SchemaUnknown) as error:
        api.telemetry.failure(error, session_id=entry.session_id)
        return None
    return None if commit is None else commit.head


def _met(head: Head) -> str | None:
    """None: no run of it is completed."""
    if head.state != "completed" or head.result is None:
        return None
    return "true" if head.result.goal_met else "false"


def _coarse(state: SessionState | None, goal_met: str | None) -> tuple[CoarseState, ...]:
    """`goal_met`: known of completed sessions alone. Raises ValidationFailed."""
    if goal_met is not None and state not in (None, "completed"):
        sentence = "Only a completed session has met its goal or not: leave state away, or say completed."
        raise ValidationFailed(sentence, {"goal_met": [sentence]})
    if goal_met is not None:
        return ("completed",)
    if state is None:
        return ()
    if state in ACTIVE:
        return ("active",)
    return (state,)  # type: ignore[return-value]


STREAM_WAIT_SECONDS = 20
"""The gateway buffers, so the answer ends as soon as there are events, and after this time at the latest."""
RETRY_MS = 500
RETRY_ENDED_MS = 60_000
"""A session that has ended has no events until somebody writes to it, so a client asks seldom."""


def _read(api: Api, session_id: str, after: str, wait: float) -> tuple[SessionSnapshot, bool]:
    """The snapshot, and whether the request could wait if it was to. A request that finds no place to wait is answered
    at once and not refused: a browser's event stream never comes back after a refusal.
    """
    tenant, limiter = api.caller.tenant, api.limiter

    def look(seconds: float) -> SessionSnapshot:
        cursor = Cursor.parse(after)  # here, because a wrong one takes from the rate, too
        return bounded(poll(api.app.log, api.app.clock, tenant, session_id, cursor, seconds))

    if limiter is None:
        return look(wait), True
    if wait <= 0:
        limiter.spend(tenant)
        return look(0), True
    limiter.check(tenant)
    if not limiter.may_wait(tenant):
        limiter.spend(tenant)
        return look(0), False
    began = api.app.clock.now()
    try:
        return look(wait), True
    finally:
        limiter.polled(tenant, (api.app.clock.now() - began).total_seconds())


def _pause_ms(api: Api, usual: int, *, waited: bool) -> int:
    limiter = api.limiter
    return usual if limiter is None else limiter.pause_ms(api.caller.tenant, usual, waited=waited)


def poll_session(
    api: Api, session_id: str, after: str = "0", wait: Annotated[float, Field(ge=0, le=20)] = 0
) -> Response:
    limit = api.app.long_poll_limit.now(reading=wait > 0)
    seen, waited = _read(api, session_id, after, limit.seconds(wait))
    partial = running_text(api.app.partials, seen.head) if api.settings.partial_text_ms else None
    partial_at = () if partial is None else (int(partial.at.timestamp() * 1000),)
    now = api.app.clock.now()
    is_ahead = int(seen.head.delay_at(now) is not None)  # a wait ends without a commit
    tag = etag(session_id, after, seen.cursor, seen.head.updated_at.timestamp(), is_ahead, *partial_at)
    is_over = seen.head.is_over
    # The answer that tells the end is the last one that anybody waits for; only a later one is not held.
    comes_at_once = seen.has_more or (is_over and bool(seen.events))
    usual = limit.pause_ms(api.settings.poll_after_ms, 0 if is_over else wait)
    poll_after_ms = 0 if comes_at_once else _pause_ms(api, usual, waited=waited)
    view: shapes.SnapshotView = {
        "session": session_view(seen.head, now=now),
        "cost": cost_view(receipt_of(seen.head, api.app.rates)),
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


def stream_events(api: Api, session_id: str, after: str = "0") -> Response:
    """Server-sent events. An event's id is the cursor after it, so `Last-Event-ID` makes a client go on there."""
    last = api.request.headers.get("last-event-id", "")
    limit = api.app.long_poll_limit.now(reading=True)
    seen, waited = _read(api, session_id, last or after, limit.seconds(STREAM_WAIT_SECONDS))
    pause = _pause_ms(api, limit.pause_ms(RETRY_MS), waited=waited)
    lines = [f"retry: {RETRY_ENDED_MS if seen.head.is_over else pause}", ""]
    for event, cursor in seen.events:
        body = json.dumps(event_view(event), ensure_ascii=False, separators=(",", ":"))
        lines += [f"id: {cursor}", f"event: {event.type}", f"data: {body}", ""]
    return Response(200, "text/event-stream; charset=utf-8", "\n".join([*lines, ""]))


INCLUDED = frozenset({"answer", "results"})
MAX_ANSWER = 500_000
"""The most characters of an answer in a trace; the conversation has all of a longer one."""
MAX_PART_BYTES = 400_000
Limit = Annotated[int, Field(ge=1, le=MAX_LONG_PAGE)]


def _history(api: Api, session_id: str) -> History:
    return History(api.app.log, api.app.blobs, api.caller.tenant, session_id)


def list_messages(api: Api, session_id: str, limit: Limit = 100, cursor: str = "0") -> Response:
    rows = _history(api, session_id).messages(HistoryCursor.parse(cursor))
    return page(*page_of_rows(rows, message_view, limit))


def read_plan(api: Api, session_id: str, limit: Limit = 100, cursor: str = "0") -> Response:
    """The current plan, and a page of its versions."""
    of_session = _history(api, session_id)
    current = of_session.head.plan
    if current is None:
        raise PlanNotFound("The session has no plan yet.")
    rows = of_session.plan_versions(HistoryCursor.parse(cursor))
    versions = page_of_rows(rows, plan_view, limit)
    shown: shapes.PlansView = {
        "plan": plan_view(current, of_session.head.plan_status),
        "versions": cast("list[plans.PlanView]", versions.items),
        "next_cursor": versions.next_cursor,
    }
    return success(shown, headers={"ETag": plan_tag(current.version)})


def read_scratchpad(api: Api, session_id: str) -> Response:
    shown: shapes.ScratchpadView = {"notes": list(_history(api, session_id).head.scratchpad.notes)}
    return success(shown)


def list_steps(api: Api, session_id: str, limit: Limit = 100, cursor: str = "0") -> Response:
    rows = _history(api, session_id).steps(HistoryCursor.parse(cursor))
    return page(*page_of_rows(rows, step_view, limit))


def read_trace(
    api: Api, session_id: str, limit: Limit = 100, cursor: str = "0", include: str | None = None
) -> Response:
    """`include`: `answer`, `results` or both, with a comma between."""
    more = included(include)
    of_session = _history(api, session_id)
    rows = of_session.trace(HistoryCursor.parse(cursor), whole="results" in more)
    found = page_of_rows(rows, dict, limit)
    if "answer" not in more:
        return page(*found)
    answer = whole_answer(api.app.log, api.app.blobs, of_session.head)
    return success({**found._asdict(), "answer": None if answer is None else answer[:MAX_ANSWER]})


def read_text(
    api: Api,
    session_id: str,
    text_id: str,
    offset: Annotated[int, Field(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Field(ge=4, le=MAX_PART_BYTES)] = MAX_PART_BYTES,
) -> Response:
    """A part of a text of which other answers show only the beginning."""
    head = _history(api, session_id).head
    shown: shapes.TextPartView = cast(
        "shapes.TextPartView", part_of(api.app.blobs, head, text_id, offset, limit)._asdict()
    )
    return success(shown)


def included(text: str | None) -> frozenset[str]:
    """Raises ValidationFailed."""
    wanted = frozenset((text or "").split(",")) - {""}
    if not wanted <= INCLUDED:
        raise ValidationFailed(
            "Unknown include.", {"include": [f"any of {', '.join(sorted(INCLUDED))}, with commas between"]}
        )
    return wanted


def message_view(one: PositionedEntry) -> "shapes.MessageView":
    entry = one.entry
    view: shapes.MessageView = {
        "message_id": entry.call_id if isinstance(entry, ToolEntry) else entry.message_id,
        "seq": one.seq,
        "at": instant(one.at),
        "role": entry.kind,
        "content": for_people(entry.content.loaded)
        if isinstance(entry, AssistantEntry)
        else entry.content.loaded,
    }
    if isinstance(entry, AssistantEntry) and entry.calls:
        view["tool_calls"] = [
            cast(
                "shapes.MessageCallView",
                {
                    "call_id": call.call_id,
                    "name": call.name,
                    "input": call.input,
                    **one.amendment(call.call_id),
                },
            )
            for call in entry.calls
        ]
    if isinstance(entry, AssistantEntry) and entry.continues:
        view["continues"] = entry.continues
    if one.inherited:
        view["inherited"] = True
    if isinstance(entry, ToolEntry):
        view["call_id"] = entry.call_id
        if entry.whole is not None and entry.whole.blob is not None:
            view["whole"] = {"text_id": entry.whole.blob, "bytes": entry.whole.bytes}
    return view
