import io
from typing import Any

import pytest
from rich.console import Console

from acta.cli.terminal.live import Display
from acta.cli.terminal.session_lines import ASCII_MARKS, EVENT_LINES, event_line, marks_for, plan_lines
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
