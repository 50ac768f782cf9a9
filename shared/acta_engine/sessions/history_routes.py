"""A session's messages, plan, steps and trace, page by page (docs/design/api.md)."""

from typing import TYPE_CHECKING, Annotated, cast

from pydantic import Field

from acta_engine.api.answers import instant
from acta_engine.api.app import Api
from acta_engine.api.envelope import Response, page, success
from acta_engine.api.etag import plan_tag
from acta_engine.api.listing_cursor import MAX_LONG_PAGE
from acta_engine.errors import PlanNotFound, ValidationFailed
from acta_engine.log.beside import BlobStore
from acta_engine.log.conversation import AssistantEntry, ToolEntry
from acta_engine.log.store import SessionLog
from acta_engine.plans.answers import plan_view
from acta_engine.sessions.answers import step_view
from acta_engine.sessions.history import History, HistoryCursor, PositionedEntry, part_of, whole_answer
from acta_engine.sessions.pages import page_of_rows
from acta_engine.turn.final_answer import for_people

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta_engine.plans import answers as plans
    from acta_engine.sessions import answers as shapes

INCLUDED = frozenset({"answer", "results"})
MAX_ANSWER = 500_000
"""Characters: of a longer one the conversation has all."""
MAX_PART_BYTES = 400_000
Limit = Annotated[int, Field(ge=1, le=MAX_LONG_PAGE)]


def add_history(api: Api, log: SessionLog, blobs: BlobStore) -> None:
    def history(session_id: str) -> History:
        return History(log, blobs, api.caller.tenant, session_id)

    @api.on("listMessages")
    def messages(session_id: str, limit: Limit = 100, cursor: str = "0") -> Response:
        rows = history(session_id).messages(HistoryCursor.parse(cursor))
        return page(*page_of_rows(rows, message_view, limit))

    @api.on("readPlan")
    def plan(session_id: str, limit: Limit = 100, cursor: str = "0") -> Response:
        """The current plan, and a page of its versions."""
        of_session = history(session_id)
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

    @api.on("readScratchpad")
    def scratchpad(session_id: str) -> Response:
        shown: shapes.ScratchpadView = {"notes": list(history(session_id).head.scratchpad.notes)}
        return success(shown)

    @api.on("listSteps")
    def steps(session_id: str, limit: Limit = 100, cursor: str = "0") -> Response:
        rows = history(session_id).steps(HistoryCursor.parse(cursor))
        return page(*page_of_rows(rows, step_view, limit))

    @api.on("readTrace")
    def trace(session_id: str, limit: Limit = 100, cursor: str = "0", include: str | None = None) -> Response:
        """`include`: `answer`, `results` or both, with a comma between."""
        more = included(include)
        of_session = history(session_id)
        rows = of_session.trace(HistoryCursor.parse(cursor), whole="results" in more)
        found = page_of_rows(rows, dict, limit)
        if "answer" not in more:
            return page(*found)
        answer = whole_answer(log, blobs, of_session.head)
        return success({**found._asdict(), "answer": None if answer is None else answer[:MAX_ANSWER]})

    @api.on("readText")
    def text(
        session_id: str,
        text_id: str,
        offset: Annotated[int, Field(ge=0, le=2**31)] = 0,
        limit: Annotated[int, Field(ge=4, le=MAX_PART_BYTES)] = MAX_PART_BYTES,
    ) -> Response:
        """A part of what a view has the beginning of."""
        head = history(session_id).head
        shown: shapes.TextPartView = cast(
            "shapes.TextPartView", part_of(blobs, head, text_id, offset, limit)._asdict()
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
