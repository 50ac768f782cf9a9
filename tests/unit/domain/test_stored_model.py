"""Copies of what is stored: the same as pydantic's, made with fewer calls."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import pytest
from pydantic import BaseModel

from shared.domain.plan.plan import ExecutionPlan, PlanStep
from shared.domain.schema.stored_model import StoredModel
from shared.domain.session.conversation import Content
from shared.domain.session.head import Budget, Head, Progress

NOW = datetime(2026, 5, 4, tzinfo=UTC)
STEP = PlanStep(step_number=1, description="Read")
HEAD = Head(
    tenant="t", session_id="s", agent_id="a", created_by="u", state="idle", created_at=NOW, updated_at=NOW,
    budget=Budget(token_budget=1), max_steps=3, of_the_next_release={"a": [1]},
)  # fmt: skip


@pytest.mark.parametrize(
    ("one", "update"),
    [
        (STEP, {"status": "in_progress"}),
        (STEP, {}),
        (HEAD, {"state": "planning", "progress": Progress(hint="x")}),
        (HEAD, None),
        (ExecutionPlan(version=1, goal="g", steps=(STEP,), created_at=NOW, updated_at=NOW), {"goal": "h"}),
        (Content.of("text"), {"text": None}),
    ],
)
def test_a_copy_is_what_pydantic_makes_of_it(one: StoredModel, update: dict[str, Any] | None) -> None:
    copied, expected = one.model_copy(update=update), BaseModel.model_copy(one, update=update)
    assert type(copied) is type(expected)
    assert copied == expected
    assert copied.model_fields_set == expected.model_fields_set
    assert copied.model_extra == expected.model_extra
    assert copied.model_dump_json() == expected.model_dump_json()
    assert list(copied.__dict__) == list(expected.__dict__)


def test_a_copy_shares_nothing_that_can_be_changed_with_what_it_was_made_of() -> None:
    before = HEAD.model_dump()
    copied = HEAD.model_copy(update={"state": "planning"})
    assert copied.__dict__ is not HEAD.__dict__
    assert copied.model_extra is not HEAD.model_extra
    assert "state" in copied.model_fields_set
    assert HEAD.model_dump() == before


def test_a_deep_copy_copies_what_is_inside() -> None:
    copied = HEAD.model_copy(deep=True)
    assert copied == HEAD
    assert copied.budget is not HEAD.budget


def test_a_field_that_the_model_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="PlanStep has no field"):
        STEP.model_copy(update={"stauts": "pending"})


def test_a_copy_calls_nothing_written_in_python_but_itself() -> None:
    assert _calls(lambda: HEAD.model_copy(update={"state": "planning"})) == 1


def _calls(work: Callable[[], object]) -> int:
    made: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            made.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return len(made) - 1  # `work` itself
