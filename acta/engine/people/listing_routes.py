"""Interventions: what waits for people, and what was decided, by whom, when and how (docs/design/people.md)."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success
from acta.engine.api.listing_cursor import MAX_PAGE, ListingCursor, listing_cursor
from acta.engine.errors import InterventionNotFound, SessionNotFound
from acta.engine.log.store import InterventionPage, SessionIndex, SessionLog
from acta.engine.people.answers import intervention_view
from acta.engine.people.intervention import Intervention, InterventionState, is_hold
from acta.engine.people.visibility import is_visible
from acta.engine.sessions.history import full_call_input
from acta.engine.sessions.pages import Page, page_of_items, searched_page
from acta.engine.untrusted.exact_json import canonical_json

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.people import answers as shapes

State = Literal[InterventionState, "all"]
Limit = Annotated[int, Field(ge=1, le=MAX_PAGE)]


def _bounded(api: Api, found: InterventionPage) -> Page:
    tenant = api.caller.tenant

    def cursor_after(one: Intervention) -> str:
        return api.app.session_index.cursor_after_intervention(tenant, one.intervention_id)

    return page_of_items(found.items, intervention_view, cursor_after, found.cursor)


def list_interventions(
    api: Api, state: State = "all", limit: Limit = 50, cursor: ListingCursor = None
) -> Response:
    """Of all states, unless the caller asks for one; `all` says the same."""
    wanted = None if state == "all" else state
    with listing_cursor():
        found = api.app.session_index.interventions(
            api.caller.tenant, state=wanted, limit=limit, cursor=cursor
        )
    return searched_page(_bounded(api, found), api.app.session_index)


def list_interventions_of_session(
    api: Api, session_id: str, state: State = "pending", limit: Limit = 50, cursor: ListingCursor = None
) -> Response:
    """Pending ones, unless the caller asks for another `state`, or for `all`."""
    tenant = api.caller.tenant
    with listing_cursor():
        found = interventions_of(
            api.app.log, api.app.session_index, tenant, session_id, state=state, limit=limit, cursor=cursor
        )
    return searched_page(_bounded(api, found), api.app.session_index)


def read_intervention(api: Api, session_id: str, intervention_id: str) -> Response:
    return success(
        intervention_view(
            intervention_of(
                api.app.log, api.app.session_index, api.caller.tenant, session_id, intervention_id
            )
        )
    )


def read_call_input(api: Api, session_id: str, intervention_id: str, call_id: str | None = None) -> Response:
    """The whole input of the call that is decided on. `call_id`: which call of a review."""
    tenant = api.caller.tenant
    found = intervention_of(api.app.log, api.app.session_index, tenant, session_id, intervention_id)
    whole = full_call_input(api.app.log, api.app.blobs, tenant, found, call_id)
    shown: shapes.CallInputView = {
        "name": whole.name,
        "input": whole.input,
        "input_text": canonical_json(whole.input),
        "input_hash": whole.input_hash,
    }
    return success(shown)


def interventions_of(
    log: SessionLog,
    index: SessionIndex,
    tenant: str,
    session_id: str,
    *,
    state: State,
    limit: int,
    cursor: str | None,
) -> InterventionPage:
    """`state` may be `all`. Pending ones come from the head, all on one page, the oldest first; the others are listed
    newest first. Raises SessionNotFound, ValidationFailed; ValueError: bad cursor.
    """
    wanted = None if state == "all" else state
    commit = log.latest(tenant, session_id)
    if commit is None:
        raise SessionNotFound("There is no such session.")
    if state == "pending":
        asked = (one for one in commit.head.interventions if not is_hold(one))
        return InterventionPage(tuple(filter(is_visible, asked)), None)
    return index.interventions(tenant, state=wanted, limit=limit, cursor=cursor, session_id=session_id)


def intervention_of(
    log: SessionLog, index: SessionIndex, tenant: str, session_id: str, intervention_id: str
) -> Intervention:
    """Raises SessionNotFound, InterventionNotFound."""
    found = index.intervention(tenant, intervention_id)
    if found is not None and found.session_id == session_id:
        return found
    if log.latest(tenant, session_id) is None:
        raise SessionNotFound("There is no such session.")
    raise InterventionNotFound("There is no such intervention.")
