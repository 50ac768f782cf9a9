"""Calls about sessions and what they ask people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acta.client.callers import C, Calls, listing, operation
from acta.client.flows import (
    Flow,
    Request,
    Stream,
    data,
    first,
    flattened,
    given,
    pages,
    path_of,
    session_path,
)
from acta.client.following import PATIENCE_SECONDS, Told, Update, updates
from acta.client.interventions import whole_inputs

if TYPE_CHECKING:
    from acta.client import shapes


class SessionCalls(Calls[C]):
    """Calls that do more than send one request."""

    @operation
    def session(self, session_id: str) -> Flow[shapes.Session]:
        """As it is now."""
        answer = yield from data(Request("GET", session_path(session_id), {"after": "0", "wait": 0}))
        session: shapes.Session = answer["session"]
        return session

    @listing
    def sessions(
        self,
        *,
        state: str | None = None,
        agent_id: str | None = None,
        created_by: str | None = None,
        metadata: tuple[str, str] | None = None,
        goal: str | None = None,
        goal_met: bool | None = None,
        limit: int | None = None,
    ) -> Stream[shapes.Session]:
        """Newest first. `metadata`: a name and its value; `goal`: words at its beginning; `goal_met`: of completed
        ones. `limit`: of a page; all pages are read as far as you iterate.
        """
        return pages(
            path_of("sessions"),
            state=state,
            agent_id=agent_id,
            created_by=created_by,
            metadata=None if metadata is None else "=".join(metadata),
            goal=goal,
            goal_met=None if goal_met is None else str(goal_met).lower(),
            limit=limit,
        )

    @listing
    def updates(
        self,
        session_id: str,
        *,
        after: str = "0",
        patience_seconds: float = PATIENCE_SECONDS,
        on_outage: Told | None = None,
    ) -> Stream[Update]:
        """The session and its new events, as often as there is something new, until it ends.

        To go on later, keep `Update.cursor` and give it as `after`. Broken connections and restarts of the stack are
        waited out for `patience_seconds`.
        """
        return updates(session_id, after, patience_seconds=patience_seconds, on_outage=on_outage)

    @listing
    def follow(
        self, session_id: str, *, after: str = "0", patience_seconds: float = PATIENCE_SECONDS
    ) -> Stream[shapes.Event]:
        """Every event until the session ends, each once and in order. What breaks on the way is waited out."""
        return flattened(
            updates(session_id, after, patience_seconds=patience_seconds), lambda one: one.events
        )

    @operation
    def wait(self, session_id: str, *, for_people: bool = False) -> Flow[shapes.Session]:
        """The session once it has ended, is idle, or needs a person: see `state` and `interventions`.

        `for_people`: wait while it needs a person, too.
        """
        stops = first(updates(session_id), lambda one: one.waits_for_a_person and not for_people)
        update = yield from stops
        assert update is not None, "a session that can be followed has an update"
        return update.session

    @listing
    def interventions(
        self, session_id: str | None = None, *, state: str | None = None, limit: int | None = None
    ) -> Stream[shapes.Intervention]:
        """Of all sessions that you may see, or of one: its pending ones, unless `state` says another, or `all`."""
        path = path_of("interventions") if session_id is None else session_path(session_id, "interventions")
        return pages(path, state=state, limit=limit)

    @operation
    def with_whole_inputs(self, session_id: str, intervention: Mapping[str, Any]) -> Flow[dict[str, Any]]:
        """The intervention with the whole input of each of its tool calls: a person must see all of what they approve.

        Raises UnexpectedAnswer for an input that is not the one the decision will be bound to.
        """
        return whole_inputs(session_id, intervention)

    @operation
    def edit_plan(
        self,
        session_id: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        version: int,
        comment: str | None = None,
    ) -> Flow[shapes.Plan]:
        """Adds, edits, skips and reorders pending steps, all or none; the agent is told. `version`: of the plan as you
        have read it. Raises Changed where it is at another one.
        """
        body = given(operations=list(operations), comment=comment)
        headers = {"If-Match": f'"{version}"'}
        return data(Request("PATCH", session_path(session_id, "plan"), body=body, headers=headers))
