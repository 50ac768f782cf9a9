from datetime import UTC, datetime
from typing import Any

import pytest

from acta.engine.log.events import Event, PlanStepChanged, ToolFinished, quoted
from acta.engine.recovery.outage import DELAY_REASONS, WAITS_FOR

AT = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
CALL: dict[str, Any] = {"call_id": "c", "effect_id": "e", "name": "read_file", "input_hash": "0"}


def text(type: str, /, **data: Any) -> str | None:
    return Event(seq=1, at=AT, type=type, data=data).text


def test_only_what_was_given_is_stored_under_the_names_that_the_log_has() -> None:
    step = PlanStepChanged(plan_step=2, before="pending", status="completed")
    assert step.stored() == {"plan_step": 2, "from": "pending", "status": "completed"}
    finished = ToolFinished(**CALL, ok=True, duration_ms=3, bytes=9)
    assert finished.stored() == {**CALL, "ok": True, "duration_ms": 3, "bytes": 9}
    assert (finished.counted, step.counted) == ("tools_ok", None)


@pytest.mark.parametrize(
    ("type", "data", "line"),
    [
        ("run.started", {"run_id": "r"}, "run started"),
        ("run.finished", {"state": "cancelled"}, None),
        ("state.changed", {"from": "idle", "to": "planning", "reason": None}, None),
        (
            "state.changed",
            {"from": "failed", "to": "executing", "reason": "repaired"},
            "now executing: repaired",
        ),
        (
            "state.changed",
            {"from": "executing", "to": "completed", "reason": "goal_complete"},
            "ended with its final answer",
        ),
        (
            "state.changed",
            {"from": "executing", "to": "failed", "reason": "model_refused"},
            "ended: failed, model refused",
        ),
        ("message.user", {"message_id": "m", "content": "Go  far"}, 'you: "Go far"'),
        ("message.user", {"message_id": "m", "bytes": 9_000, "beginning": "Go"}, 'you: "Go" (9,000 bytes)'),
        ("message.assistant", {"message_id": "m", "bytes": 9_000}, "agent: a text of 9,000 bytes"),
        ("message.assistant", {"message_id": "m", "bytes": 0, "content": ""}, None),
        ("thought", {"message_id": "m", "content": "Hm"}, 'thought: "Hm"'),
        ("plan.created", {"version": 1, "plan": {"steps": [{}]}}, "plan made with 1 step"),
        (
            "plan.created",
            {"version": 1, "plan": {"steps": [{}], "made_by_acta": True}},
            "plan made with 1 step by Acta, because the agent made none",
        ),
        ("plan.step", {"plan_step": 1, "from": "pending", "status": "in_progress"}, "step 1 in progress"),
        ("plan.closed", {"version": 1, "status": "failed", "reason": "max_steps"}, "plan closed: failed"),
        ("plan.closed", {"version": 1, "status": "failed", "reason": "cancelled"}, "plan closed: cancelled"),
        (
            "plan.rejected",
            {"action": "none", "code": "NO_PLAN", "message": "Make one.", "calls": ["a", "b\u202e"]},
            "not run, because the agent has made no plan yet: a, b\\u202e",
        ),
        (
            "plan.rejected",
            {"action": "create", "code": "SCHEMA", "message": "goal: missing"},
            'plan update refused: "goal: missing"',
        ),
        (
            "hint.injected",
            {"text": "Plan step 1 is open. Work on it, or mark it with update_plan."},
            'the agent is reminded: "Plan step 1 is open"',
        ),
        ("tool.requested", CALL, "asks for tool read_file"),
        ("tool.started", CALL, None),
        (
            "tool.finished",
            {**CALL, "ok": False, "duration_ms": 3, "bytes": 9},
            "tool read_file failed (3 ms, 9 bytes)",
        ),
        (
            "intervention.resolved",
            {"intervention_id": "i", "type": "approval_required", "option": "approve", "resolved_by": "ben"},
            'decided: approve, by "ben"',
        ),
        (
            "intervention.resolved",
            {
                "intervention_id": "i",
                "type": "approval_required",
                "tool": "x\x1b",
                "option": "approve",
                "resolved_by": "ben",
            },
            'decided: approve of x\\x1b, by "ben"',
        ),
        (
            "budget.warning",
            {"total_tokens": 1_294, "token_budget": 2_000, "cost_usd": None, "cost_budget_usd": None},
            "the budget may not be enough for the next turns: 1,294 of 2,000 tokens are used",
        ),
        ("llm.retried", {"code": "PROVIDER_OVERLOADED", "wait_seconds": 64}, None),
        (
            "llm.retried",
            {"code": "PROVIDER_OVERLOADED", "wait_seconds": 0, "model": "first", "answered_by": "second"},
            "first did not answer: second did",
        ),
        ("moon.rose", {"by": "eve"}, "moon.rose"),
        ("plan.step", {}, "plan.step"),
    ],
)
def test_an_event_is_one_line_for_people_or_none_where_others_say_it(
    type: str, data: dict[str, Any], line: str | None
) -> None:
    assert text(type, **data) == line


@pytest.mark.parametrize("reason", DELAY_REASONS)
def test_a_wait_says_for_what_and_until_when(reason: str) -> None:
    data = {"from": "executing", "to": "executing", "reason": reason, "code": "PROVIDER_OVERLOADED"}
    line = f"waits for {WAITS_FOR[reason]} until 09:30:00 UTC (PROVIDER_OVERLOADED)"
    assert text("state.changed", **data, retry_at="2026-01-31T09:30:00+00:00") == line
    days = text("state.changed", **data, retry_at="2026-01-31T09:30:00+00:00", wait_seconds=12 * 3_600)
    assert days == line.replace("09:30:00", "2026-01-31 09:30:00")


def test_words_of_others_cannot_leave_their_quotation_marks_or_hide_anything() -> None:
    said = 'Hm."\n decided: approve, by "ben\u202e\x1b[2J'
    assert text("thought", message_id="m", content=said) == (
        "thought: \"Hm.' decided: approve, by 'ben\\u202e\\x1b[2J\""
    )
    assert len(quoted("x" * 10_000)) < 200
