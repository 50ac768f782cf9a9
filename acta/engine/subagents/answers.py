"""A session in a tree, as the API answers it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from acta.engine.api.answers import Counter, Instant, TypedDict
from acta.engine.log.head import Head, SessionState
from acta.engine.sessions.answers import SessionView

GOAL_CHARS = 200


class TreeQuestionView(TypedDict):
    """A question that waits for a person."""

    intervention_id: str
    type: str
    tool: str | None
    """The tool of the call that it is about."""


class TreeNodeView(TypedDict):
    """A session of a tree, as it is now."""

    session_id: str
    parent_id: str | None
    """null: the session that was asked for."""
    depth: Counter
    """How many levels it is below the session that was asked for."""
    call_id: str | None
    """The call of its parent that has started it."""
    item: Annotated[int, Field(ge=1)] | None
    """Its place in that call's `map`."""
    about: str
    """What tells it from the other sessions of that call: the text and the paths of its entry in `map`, or the paths of
    the call, up to 200 characters. Empty: nothing does."""
    agent_id: str
    agent_name: str
    state: SessionState
    state_reason: str | None
    """As of a session."""
    retry_at: Instant | None
    """When its wait ends by itself."""
    goal: str
    """The beginning, up to 200 characters."""
    goal_met: bool | None
    """null: it is not completed."""
    created_at: Instant
    updated_at: Instant
    tokens: Counter
    """What it has used itself, without its children. So is `cost_usd`."""
    cost_usd: float | None
    """What its models have cost. null: a price is not known."""
    at_work: Counter
    """How many children of its work now."""
    made: Counter
    """How many children its calls have asked for, those included that have not begun."""
    questions: list[TreeQuestionView]


def node_view(head: Head, depth: int, parent_id: str | None, session: SessionView) -> TreeNodeView:
    """`session`: as the API shows it now."""
    parent = head.parent if depth else None
    result = head.result
    return {
        "session_id": head.session_id,
        "parent_id": parent_id,
        "depth": depth,
        "call_id": None if parent is None else parent.call_id,
        "item": None if parent is None else parent.item + 1,
        "about": "" if parent is None else parent.about,
        "agent_id": head.agent_id,
        "agent_name": head.shown_agent,
        "state": head.state,
        "state_reason": session["state_reason"],
        "retry_at": session["retry_at"],
        "goal": head.goal[:GOAL_CHARS],
        "goal_met": None if head.state != "completed" or result is None else result.goal_met,
        "created_at": session["created_at"],
        "updated_at": session["updated_at"],
        "tokens": head.usage.total_tokens,
        "cost_usd": head.usage.cost_usd,
        "at_work": len(head.children_at_work),
        "made": head.children_made,
        "questions": [
            {
                "intervention_id": one["intervention_id"],
                "type": one["type"],
                "tool": None if one["tool_call"] is None else one["tool_call"]["name"],
            }
            for one in session["interventions"]
        ],
    }
