"""States and their legal changes (docs/design/api.md 29)."""

from datetime import UTC, datetime

import pytest

from acta.engine.log.commit import Change
from acta.engine.log.events import RunStarted
from acta.engine.log.head import TERMINAL, TRANSITIONS, Budget, Head, IllegalTransition

NOW = datetime(2026, 5, 1, tzinfo=UTC)
HEAD = Head(
    tenant="t", session_id="s", agent_id="a", created_by="u", state="idle", created_at=NOW, updated_at=NOW,
    budget=Budget(token_budget=1), max_steps=5,
)  # fmt: skip


def test_every_state_has_an_exit() -> None:
    assert all(TRANSITIONS[state] for state in TRANSITIONS)


def test_every_state_can_be_reached_from_a_new_session() -> None:
    reached, frontier = set(), list(TRANSITIONS[None])
    while frontier:
        state = frontier.pop()
        if state not in reached:
            reached.add(state)
            frontier += TRANSITIONS[state]
    assert reached == set(TRANSITIONS) - {None}


def test_an_ended_session_begins_anew_or_goes_on_with_the_plan_that_was_left() -> None:
    assert all(TRANSITIONS[state] == {"planning", "executing"} for state in TERMINAL)


def test_an_illegal_change_is_refused() -> None:
    with pytest.raises(IllegalTransition):
        Change(HEAD, 1, NOW).to_state("completed")


def test_events_continue_the_sessions_numbers() -> None:
    change = Change(HEAD.model_copy(update={"last_seq": 7}), 3, NOW)
    change.to_state("planning")
    change.event(RunStarted(run_id="run_1"))
    commit = change.as_commit("key")
    assert [event.seq for event in commit.events] == [8, 9]
    assert (commit.number, commit.head.last_seq, commit.head.state) == (3, 9, "planning")


def test_the_same_state_again_is_no_event() -> None:
    change = Change(HEAD, 1, NOW)
    change.to_state("idle")
    assert change.as_commit("key").events == ()
