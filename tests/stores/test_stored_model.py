"""Copies of what is stored: they keep what the next release has added, and refuse a field that the model lacks."""

from datetime import UTC, datetime

import pytest

from acta.engine.log.head import Budget, Head
from acta.engine.plans.plan import PlanStep

NOW = datetime(2026, 5, 4, tzinfo=UTC)
STEP = PlanStep(step_number=1, description="Read")
HEAD = Head(
    tenant="t", session_id="s", agent_id="a", created_by="u", state="idle", created_at=NOW, updated_at=NOW,
    budget=Budget(token_budget=1), max_steps=3, of_the_next_release={"a": [1]},
)  # fmt: skip


def test_a_copy_shares_nothing_that_can_be_changed_with_what_it_was_made_of() -> None:
    before = HEAD.model_dump()
    copied = HEAD.model_copy(update={"state": "planning"})
    assert copied.__dict__ is not HEAD.__dict__
    assert copied.model_extra is not HEAD.model_extra
    assert copied.model_extra == {"of_the_next_release": {"a": [1]}}
    assert "state" in copied.model_fields_set
    assert HEAD.model_dump() == before


def test_a_deep_copy_copies_what_is_inside() -> None:
    copied = HEAD.model_copy(deep=True)
    assert copied == HEAD
    assert copied.budget is not HEAD.budget


def test_a_field_that_the_model_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="PlanStep has no field"):
        STEP.model_copy(update={"stauts": "pending"})
