"""Domain documents as the API shows them."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from acta.engine.api.answers import instant
from acta.engine.log.commit import StepRecord
from acta.engine.log.events import Event
from acta.engine.log.head import Ending, Failure, Result
from acta.engine.people.answers import intervention_view
from acta.engine.people.intervention import Intervention, PendingCall, with_others_only
from acta.engine.plans.answers import plan_view
from acta.engine.sessions.answers import event_view, session_view, step_view
from tests.api.samples import AT, HEAD, PLAN

PENDING = Intervention(
    intervention_id="int_01",
    session_id="ses_01",
    type="approval_required",
    context={"why": "high stakes"},
    tool_call=PendingCall(
        call_id="call_01", name="delete_file", input={"path": "a.md"}, input_hash="ab" * 16
    ),
    options=("approve", "reject", "modify"),
    default_action="reject",
    timeout_at=AT + timedelta(minutes=30),
    created_at=AT,
)


def test_instants_are_utc_with_milliseconds() -> None:
    assert instant(datetime(2026, 1, 31, 9, 30, 0, 123_987, tzinfo=UTC)) == "2026-01-31T09:30:00.123Z"
    east = datetime(2026, 1, 31, 9, 30, tzinfo=timezone(timedelta(hours=2)))
    assert instant(east) == "2026-01-31T07:30:00.000Z"


def test_a_session_has_exactly_the_public_fields() -> None:
    view = session_view(HEAD)
    assert set(view) == {
        "session_id", "agent_id", "agent_name", "created_by", "visibility", "state", "state_reason", "goal",
            "created_at",
        "updated_at", "run",
        "plan", "usage", "retry_at", "retrying", "cause", "queue",
        "budget", "limits", "interventions", "result", "error", "ratings", "held", "last_seq", "metadata",
        "prompts", "forked_from", "origin", "parent", "children",
    }  # fmt: skip
    assert view["run"] == {"run_id": "run_01", "generation": 2, "iteration": 3, "max_steps": 50}
    assert view["usage"] == {
        "input_tokens": 900, "output_tokens": 100, "cached_input_tokens": 400, "total_tokens": 1_000,
        "llm_calls": 3,
        "tool_calls": 2, "cost_usd": 0.01,
    }  # fmt: skip
    assert view["budget"] == {
        "token_budget": 50_000, "tokens_used": 1_000, "tokens_left": 49_000, "renews_at": None,
        "vanished_tokens": 0, "cost_budget_usd": None,
    }  # fmt: skip
    assert (view["result"], view["error"], view["interventions"]) == (None, None, [])


@pytest.mark.parametrize(
    ("ending", "shown"),
    [
        (None, None),
        (
            Ending(result=Result(goal_met=True, answer="Yes.", reason="plan_completed"), awaits="resume"),
            {"state": "completed", "goal_met": True, "reason": "plan_completed"},
        ),
        (
            Ending(error=Failure(code="PLAN_FAILED", message="No."), awaits="resume"),
            {"state": "failed", "goal_met": False, "reason": "plan_failed"},
        ),
        (
            Ending(result=Result(goal_met=True, answer="Yes.", reason="plan_completed"), awaits="verdict"),
            None,
        ),
    ],
)
def test_a_paused_session_shows_how_it_ends_when_the_pause_is_lifted(
    ending: Ending | None, shown: dict[str, Any] | None
) -> None:
    assert session_view(HEAD.model_copy(update={"ending": ending}))["held"] == shown


def test_neither_tenant_nor_task_token_leaves_the_server() -> None:
    text = str(session_view(HEAD))
    assert "acme" not in text
    assert "secret-task-token" not in text


def test_a_session_that_never_ran_has_no_run_and_no_plan() -> None:
    view = session_view(HEAD.model_copy(update={"run": None, "plan": None, "state": "idle"}))
    assert (view["run"], view["plan"]) == (None, None)


def test_tokens_left_never_go_below_nothing() -> None:
    overspent = HEAD.budget.model_copy(update={"charged_tokens": 60_000})
    assert session_view(HEAD.model_copy(update={"budget": overspent}))["budget"]["tokens_left"] == 0


def test_what_vanished_attempts_are_charged_is_shown_and_taken_off_what_is_left() -> None:
    charged = HEAD.budget.model_copy(update={"vanished_tokens": 5_000})
    budget = session_view(HEAD.model_copy(update={"budget": charged}))["budget"]
    assert (budget["vanished_tokens"], budget["tokens_left"]) == (5_000, 44_000)


def test_a_result_shows_the_loaded_answer_where_there_is_one() -> None:
    done = HEAD.model_copy(
        update={"result": Result(goal_met=True, answer="Beg…", reason="plan_completed", message_id="msg_01")}
    )
    assert session_view(done)["result"] == {
        "goal_met": True,
        "answer": "Beg…",
        "data": None,
        "reason": "plan_completed",
        "verdict": None,
    }
    whole: Any = session_view(done, answer="Beginning to end")
    assert whole["result"]["answer"] == "Beginning to end"


def test_a_failure_shows_code_and_message() -> None:
    failed = HEAD.model_copy(update={"error": Failure(code="MODEL_REFUSED", message="No.")})
    assert session_view(failed)["error"] == {"code": "MODEL_REFUSED", "message": "No."}


def test_only_open_interventions_are_in_a_session() -> None:
    settled = PENDING.model_copy(update={"intervention_id": "int_02", "state": "resolved"})
    shown = session_view(HEAD.model_copy(update={"interventions": (settled, PENDING)}))["interventions"]
    assert [one["intervention_id"] for one in shown] == ["int_01"]


def test_a_plan_shows_its_steps_with_their_times() -> None:
    view = plan_view(PLAN)
    assert set(view) == {
        "version", "goal", "steps", "current_step_index", "status", "risks", "made_by_acta", "created_at", "updated_at",
    }  # fmt: skip
    assert view["steps"][1] == {
        "step_number": 2, "description": "Read", "tool": None, "input": None, "requires_permission": False,
        "status": "pending", "result": None, "evidence": [], "started_at": "2026-01-31T09:30:00.123Z",
        "completed_at": None,
    }  # fmt: skip


def test_an_intervention_shows_what_is_decided_on() -> None:
    view: Any = intervention_view(PENDING)
    assert set(view) == {
        "intervention_id", "session_id", "type", "context", "tool_call", "options", "default_action",
        "timeout_at", "agent_name", "chain", "role", "also_roles",
        "state", "resolution", "input", "input_text", "comment", "resolved_by", "via", "resolved_at", "created_at",
        "amended",
        "approver_must_differ",
    }  # fmt: skip
    assert view["tool_call"] == {
        "name": "delete_file", "input": {"path": "a.md"}, "input_text": '{"path":"a.md"}',
        "input_hash": "ab" * 16, "shortened": False, "input_url": None, "file_etag": None,
        "question": "May the agent delete a file?",
        "file": {"argument": "path", "use": "delete", "content": None, "replace": None},
    }  # fmt: skip
    assert view["timeout_at"] == "2026-01-31T10:00:00.123Z"


def test_a_call_of_a_tenant_s_tool_has_neither_words_of_its_own_nor_a_file() -> None:
    assert PENDING.tool_call is not None
    call = PENDING.tool_call.model_copy(update={"name": "pay"})
    view: Any = intervention_view(PENDING.model_copy(update={"tool_call": call}))
    assert (view["tool_call"]["question"], view["tool_call"]["file"]) == (None, None)


def test_that_others_have_to_decide_is_a_field_of_the_intervention_and_no_part_of_its_context() -> None:
    marked = intervention_view(PENDING.model_copy(update={"context": with_others_only({"question": "Pay?"})}))
    assert (marked["approver_must_differ"], marked["context"]) == (True, {"question": "Pay?"})
    assert intervention_view(PENDING)["approver_must_differ"] is False


def test_a_shortened_input_says_so_and_where_the_whole_of_it_is() -> None:
    assert PENDING.tool_call is not None
    one = PENDING.model_copy(update={"tool_call": PENDING.tool_call.model_copy(update={"shortened": True})})
    view: Any = intervention_view(one)
    url = f"/v1/sessions/{one.session_id}/interventions/{one.intervention_id}/input"
    assert (view["tool_call"]["shortened"], view["tool_call"]["input_url"]) == (True, url)


def test_shown_texts_hide_nothing_and_a_call_s_input_stays_exact() -> None:
    assert PENDING.tool_call is not None
    path = "gpj.\u202etxt\u200b"
    call = PENDING.tool_call.model_copy(update={"input": {"path": path}})
    context = {"question": f"Delete {path}?", "agent_said": "\x1b[2KApproved", "reason": "x\u2066"}
    view: Any = intervention_view(PENDING.model_copy(update={"context": context, "tool_call": call}))
    assert view["context"] == {
        "question": "Delete gpj.\\u202etxt\\u200b?", "agent_said": "\\x1b[2KApproved", "reason": "x\\u2066",
    }  # fmt: skip
    assert view["tool_call"]["input"] == {"path": path}


def test_an_event_and_a_step_show_their_numbers_and_times() -> None:
    event = Event(
        seq=3,
        at=AT,
        type="state.changed",
        step_number=2,
        data={"from": "planning", "to": "executing", "reason": None},
    )
    assert event_view(event) == {
        "seq": 3, "at": "2026-01-31T09:30:00.123Z", "type": "state.changed", "step_number": 2,
        "text": None,
        "data": {"from": "planning", "to": "executing", "reason": None},
    }  # fmt: skip
    step = StepRecord(
        step_number=1, kind="llm", started_at=AT, completed_at=AT, duration_ms=7, input_tokens=9
    )
    assert step_view(step) == {
        "step_number": 1, "kind": "llm", "name": None, "started_at": "2026-01-31T09:30:00.123Z",
        "completed_at": "2026-01-31T09:30:00.123Z", "duration_ms": 7, "attempt": 0, "input_tokens": 9,
        "output_tokens": 0, "cached_input_tokens": 0, "cost_usd": 0.0, "error": None,
        "estimated_tokens": 0, "estimated_cost_usd": 0.0, "fused": False,
    }  # fmt: skip
