"""A tenant's sessions, newest first (docs/design/api.md)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Literal

from pydantic import Field

from acta_engine.api.app import Api
from acta_engine.api.envelope import Response
from acta_engine.api.listing_cursor import MAX_PAGE, ListingCursor, listing_cursor
from acta_engine.app import App
from acta_engine.bound_tenant import carried
from acta_engine.errors import FinalError, SchemaUnknown, SessionHidden, ValidationFailed
from acta_engine.log.head import CoarseState, Head, SessionState
from acta_engine.log.store import LISTED_GOAL_CHARS, IndexEntry, ListingEntry, ListingFilter
from acta_engine.sessions.answers import session_view
from acta_engine.sessions.pages import Json, page_of_items, searched_page

READ_AT_ONCE = 8
PAGES = 5
"""Of the index, for one page that the heads leave empty."""
ACTIVE: frozenset[str] = frozenset({"planning", "executing", "waiting_for_tool"})


def add_listing(api: Api, deps: App) -> None:
    index = deps.session_index

    @api.on("listSessions")
    def sessions(
        state: SessionState | None = None,
        agent_id: Annotated[str, Field(min_length=1)] | None = None,
        created_by: Annotated[str, Field(min_length=1, max_length=1_000)] | None = None,
        metadata: Annotated[str, Field(pattern="^[^=]{1,64}=")] | None = None,
        goal: Annotated[str, Field(min_length=1, max_length=LISTED_GOAL_CHARS)] | None = None,
        goal_met: Literal["true", "false"] | None = None,
        limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 20,
        cursor: ListingCursor = None,
    ) -> Response:
        """Those that the caller may see. The index has one state for all active sessions; the heads have all of it.

        A page has a read for each session that the index finds. Where the heads fit none of them it goes on, with
        `PAGES` of the index at most.
        """
        tenant, coarse = api.caller.tenant, _coarse(state, goal_met)
        name, _, value = (metadata or "").partition("=")
        wanted = ListingFilter(created_by, goal, None if metadata is None else (name, value))
        heads: list[Head] = []
        following = cursor
        for _ in range(PAGES):
            with listing_cursor():
                found = index.sessions(
                    tenant, states=coarse, agent_id=agent_id, limit=limit, cursor=following, wanted=wanted
                )
            heads = [
                head
                for head in _heads(found.entries)
                if (state is None or head.state == state)
                and (goal_met is None or _met(head) == goal_met)
                and wanted.fits(ListingEntry.of(head))
            ]
            following = found.cursor
            if heads or following is None or not found.entries:
                break

        def cursor_after(head: Head) -> str:
            return index.cursor_after_session(tenant, head.session_id)

        def as_now(head: Head) -> Json:
            return session_view(head, now=deps.clock.now())

        return searched_page(page_of_items(heads, as_now, cursor_after, following), index)

    def _heads(entries: tuple[IndexEntry, ...]) -> list[Head]:
        with ThreadPoolExecutor(READ_AT_ONCE) as pool:
            return [head for head in pool.map(carried(_head), entries) if head is not None]

    def _head(entry: IndexEntry) -> Head | None:
        """None, too, for a session that cannot be read: one that is damaged, or of a later release, hides no other."""
        try:
            commit = deps.log.latest(entry.tenant, entry.session_id)
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
    """`goal_met`: whether it was is known of completed sessions alone. Raises ValidationFailed."""
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
