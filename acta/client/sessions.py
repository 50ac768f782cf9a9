"""Calls about sessions and what they ask people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

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
    """`idempotency_key`: of your own, where a program that is started again must not do it twice. Each call has one
    anyway, the same for all its attempts.
    """

    @operation
    def start(
        self,
        /,
        content: str | None = None,
        *,
        agent_id: str | None = None,
        max_steps: int | None = None,
        token_budget: int | None = None,
        cost_budget_usd: float | None = None,
        review_every: int | None = None,
        metadata: Mapping[str, str] | None = None,
        visibility: Literal["private", "tenant"] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        notify_url: str | None = None,
        prompts: Mapping[str, int] | None = None,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> Flow[shapes.Session]:
        """Starts a session on the goal `content`; without one it stays idle. `more`: further fields of the body, as the
        deployment's document has them.
        """
        body = given(
            content=content,
            agent_id=agent_id,
            max_steps=max_steps,
            token_budget=token_budget,
            cost_budget_usd=cost_budget_usd,
            review_every=review_every,
            metadata=metadata,
            visibility=visibility,
            output_schema=output_schema,
            notify_url=notify_url,
            prompts=prompts,
            **more,
        )
        return data(Request("POST", path_of("sessions"), body=body, headers=_key(idempotency_key)))

    @operation
    def fork(
        self,
        /,
        session_id: str,
        content: str | None = None,
        *,
        at: int | None = None,
        agent_id: str | None = None,
        max_steps: int | None = None,
        token_budget: int | None = None,
        cost_budget_usd: float | None = None,
        visibility: Literal["private", "tenant"] | None = None,
        prompts: Mapping[str, int] | None = None,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> Flow[shapes.ForkedSession]:
        """A new session that goes on from the end of the turn of the event `at`, by default of the newest turn that has
        ended. Without `content` it goes on with the run. Files are as they are now. `more`: further fields of the
        body.
        """
        body = given(
            content=content,
            at=at,
            agent_id=agent_id,
            max_steps=max_steps,
            token_budget=token_budget,
            cost_budget_usd=cost_budget_usd,
            visibility=visibility,
            prompts=prompts,
            **more,
        )
        path = session_path(session_id, "fork")
        return data(Request("POST", path, body=body, headers=_key(idempotency_key)))

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

    @operation
    def say(
        self, session_id: str, content: str, *, idempotency_key: str | None = None
    ) -> Flow[shapes.Session]:
        """Answers what is asked, tells a running session something, or begins the next run of one that has ended."""
        path = session_path(session_id, "messages")
        return data(Request("POST", path, body={"content": content}, headers=_key(idempotency_key)))

    @operation
    def pause(self, session_id: str) -> Flow[shapes.Session]:
        """No call with an effect is started after the answer."""
        return data(Request("POST", session_path(session_id, "pause"), body={}))

    @operation
    def resume(self, session_id: str) -> Flow[shapes.Session]:
        """Goes on, or tries now what it waits to try again."""
        return data(Request("POST", session_path(session_id, "resume"), body={}))

    @operation
    def limit(
        self,
        session_id: str,
        *,
        max_steps: int | None = None,
        token_budget: int | None = None,
        cost_budget_usd: float | None = None,
        review_every: int | None = None,
    ) -> Flow[shapes.Session]:
        """Raises or lowers limits; those that are not given stay."""
        body = given(
            max_steps=max_steps,
            token_budget=token_budget,
            cost_budget_usd=cost_budget_usd,
            review_every=review_every,
        )
        return data(Request("PATCH", session_path(session_id), body=body))

    @operation
    def cancel(self, session_id: str) -> Flow[shapes.CancelledSession]:
        """Ends it. The answer's `in_flight` names calls that may still have their effect."""
        return data(Request("POST", session_path(session_id, "cancel"), body={}))

    @operation
    def delete(self, session_id: str) -> Flow[None]:
        """For good, with everything that is stored of it."""
        return data(Request("DELETE", session_path(session_id)))

    @operation
    def decide(
        self,
        session_id: str,
        intervention_id: str,
        option: str,
        *,
        input: Mapping[str, Any] | None = None,
        comment: str | None = None,
    ) -> Flow[shapes.Intervention]:
        """`option`: one of the intervention's `options`; `input`: what it takes. The first decision counts: a later one
        raises Conflict.
        """
        path = session_path(session_id, "interventions", intervention_id, "resolve")
        return data(Request("POST", path, body=given(option=option, input=input, comment=comment)))

    @listing
    def interventions(
        self, session_id: str | None = None, *, state: str | None = None, limit: int | None = None
    ) -> Stream[shapes.Intervention]:
        """Of all sessions that you may see, or of one: its pending ones, unless `state` says another, or `all`."""
        path = path_of("interventions") if session_id is None else session_path(session_id, "interventions")
        return pages(path, state=state, limit=limit)

    @operation
    def intervention(self, session_id: str, intervention_id: str) -> Flow[shapes.Intervention]:
        return data(Request("GET", session_path(session_id, "interventions", intervention_id)))

    @operation
    def call_input(
        self, session_id: str, intervention_id: str, *, call_id: str | None = None
    ) -> Flow[shapes.CallInput]:
        """The whole input of a call that is decided on. `call_id`: which of several."""
        path = session_path(session_id, "interventions", intervention_id, "input")
        return data(Request("GET", path, {"call_id": call_id}))

    @operation
    def with_whole_inputs(self, session_id: str, intervention: Mapping[str, Any]) -> Flow[dict[str, Any]]:
        """The intervention with the whole input of each of its tool calls: a person must see all of what they approve.

        Raises UnexpectedAnswer for an input that is not the one the decision will be bound to.
        """
        return whole_inputs(session_id, intervention)

    @listing
    def messages(self, session_id: str) -> Stream[shapes.Message]:
        """The conversation, oldest first."""
        return pages(session_path(session_id, "messages"))

    @operation
    def plan(self, session_id: str) -> Flow[shapes.Plans]:
        """The plan as it is, and its first versions. Raises PlanNotFound before there is one."""
        return data(Request("GET", session_path(session_id, "plan")))

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

    @operation
    def text_part(self, session_id: str, text_id: str, *, offset: int = 0) -> Flow[shapes.TextPart]:
        """A part of a long result. `text_id`: of `whole` in a message; `offset`: `next_offset` of the part before."""
        return data(Request("GET", session_path(session_id, "texts", text_id), {"offset": offset}))

    @operation
    def scratchpad(self, session_id: str) -> Flow[shapes.Scratchpad]:
        """The agent's notes."""
        return data(Request("GET", session_path(session_id, "scratchpad")))

    @listing
    def steps(self, session_id: str) -> Stream[shapes.Step]:
        """The step log, oldest first: times, tokens, decisions, errors."""
        return pages(session_path(session_id, "steps"))

    @listing
    def trace(self, session_id: str) -> Stream[shapes.TraceRow]:
        """Thoughts, actions and observations, oldest first."""
        return pages(session_path(session_id, "trace"))

    @operation
    def receipt(self, session_id: str) -> Flow[shapes.Receipt]:
        """What it has cost."""
        return data(Request("GET", session_path(session_id, "receipt")))


def _key(idempotency_key: str | None) -> dict[str, str]:
    return {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
