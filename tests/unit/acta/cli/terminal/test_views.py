import io
from typing import Any

import pytest
from rich.console import Console

from acta.cli.terminal.live import Display
from acta.cli.terminal.session_lines import (
    ASCII_MARKS,
    EVENT_LINES,
    WAITS_FOR,
    event_line,
    marks_for,
    plan_lines,
    waiting_line,
)
from acta.cli.terminal.view import PlainView, view_for
from acta.client.following import Update
from tests.unit.acta.fake_deployment import session


def plan(*statuses: str) -> dict[str, Any]:
    steps = [
        {"step_number": number, "description": f"Step [bold]{number}[/]\x1b[0m", "status": status}
        for number, status in enumerate(statuses, start=1)
    ]
    return {"version": 1, "goal": "g", "steps": steps, "status": "executing"}


def test_every_step_has_a_mark_for_its_status() -> None:
    lines = plan_lines(plan("completed", "in_progress", "pending", "failed", "skipped"))
    assert [line.mark for line in lines] == ["✔", "▶", "·", "✘", "–"]


def test_a_terminal_without_unicode_gets_plain_marks() -> None:
    assert marks_for("ascii") == ASCII_MARKS
    assert marks_for(None) == ASCII_MARKS


def test_off_a_terminal_each_event_and_each_changed_step_is_a_line_without_control_sequences() -> None:
    stream = io.StringIO()
    view = PlainView(stream)
    view.show(
        Update(session("planning", plan=plan("in_progress", "pending")), [{"seq": 1, "type": "run.started"}])
    )
    view.show(Update(session("executing", plan=plan("completed", "pending")), []))
    view.close()
    assert stream.getvalue().splitlines() == [
        "   1  run started",
        "      >  1. Step [bold]1[/]\\x1b[0m",
        "      .  2. Step [bold]2[/]\\x1b[0m",
        "      x  1. Step [bold]1[/]\\x1b[0m",
    ]


def test_a_stream_that_is_no_terminal_gets_the_plain_view() -> None:
    assert isinstance(view_for(io.StringIO()), PlainView)


def test_the_live_display_shows_foreign_text_as_it_is() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120, no_color=True, highlight=False)
    display = Display("utf-8")
    thought = {"seq": 1, "type": "thought", "data": {"text": "[red]look\x1b]0;title\x07[/red]"}}
    display.update_with(Update(session("executing", plan=plan("in_progress")), [thought]))
    console.print(display)
    shown = stream.getvalue()
    assert "Step [bold]1[/]\\x1b[0m" in shown
    assert "[red]look\\x1b]0;title\\x07[/red]" in shown
    assert "\x1b]0;" not in shown


@pytest.mark.parametrize("type", [*EVENT_LINES, "something.new"])
def test_every_event_can_be_described_with_no_data_at_all(type: str) -> None:
    line = event_line({"seq": 1, "type": type})
    assert line is None or line.isprintable()


def test_a_model_that_another_one_stood_in_for_is_named() -> None:
    data = {"code": "PROVIDER_OVERLOADED", "wait_seconds": 0, "model": "first", "answered_by": "second"}
    assert event_line({"seq": 1, "type": "llm.retried", "data": data}) == "first did not answer: second did"


def test_a_wait_says_for_what_why_and_when_it_ends() -> None:
    wait = {
        "from": "executing",
        "to": "executing",
        "reason": "waiting_for_provider",
        "code": "PROVIDER_OVERLOADED",
        "retry_at": "2026-01-31T09:30:00+00:00",
        "wait_seconds": 64,
    }
    line = "waits for the model's provider (PROVIDER_OVERLOADED), tries again at 09:30:00 UTC"
    assert event_line({"seq": 1, "type": "state.changed", "data": wait}) == line
    assert event_line({"seq": 2, "type": "state.changed", "data": {"to": "executing"}}) == "now executing"


@pytest.mark.parametrize(("reason", "what"), WAITS_FOR.items())
def test_a_session_that_waits_for_the_world_says_so_and_any_other_does_not(reason: str, what: str) -> None:
    cause = {"code": "X", "message": "It\x1b does not answer."}
    waits = session("executing", state_reason=reason, retry_at="2026-01-31T09:30:00.000Z", cause=cause)
    assert waiting_line(waits) == f"waits for {what}, tries again at 09:30:00 UTC: It\\x1b does not answer."
    asks = session("waiting_for_user", state_reason="error_recovery", retry_at=None, cause=cause)
    assert waiting_line(asks) is None
    assert waiting_line(session("executing", state_reason=None)) is None


def test_the_live_display_has_a_line_of_its_own_for_a_wait() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=160, no_color=True, highlight=False)
    display = Display("utf-8")
    cause = {"code": "AWS_DENIED", "message": "The deployment lacks a permission."}
    waits = session(
        "planning", state_reason="waiting_for_aws", retry_at="2026-01-31T09:30:00.000Z", cause=cause
    )
    display.update_with(Update(waits, []))
    console.print(display)
    assert (
        "waits for AWS, tries again at 09:30:00 UTC: The deployment lacks a permission." in stream.getvalue()
    )
