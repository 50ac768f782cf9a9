import io
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from acta.cli.terminal.live import Display
from acta.cli.terminal.session_lines import (
    ASCII_MARKS,
    WAITS_FOR,
    EventLines,
    PlainView,
    event_line,
    marks_for,
    plan_lines,
    state_words,
    view_for,
    waiting_lines,
)
from acta.client.following import Update
from acta.engine.log.events import Event
from acta.engine.recovery.outage import DELAY_REASONS
from acta.engine.sessions.answers import event_view
from tests.acta.fake_deployment import session


def plan(*statuses: str) -> Any:
    steps = [
        {"step_number": number, "description": f"Step [bold]{number}[/]\x1b[0m", "status": status}
        for number, status in enumerate(statuses, start=1)
    ]
    return {"version": 1, "goal": "g", "steps": steps, "status": "executing"}


def test_every_step_has_a_mark_for_its_status() -> None:
    lines = plan_lines(plan("completed", "in_progress", "pending", "failed", "skipped"))
    assert [line.mark for line in lines] == ["✔", "▶", "·", "✘", "–"]


def test_a_step_that_its_closed_plan_left_in_the_middle_is_not_shown_as_worked_on() -> None:
    for status in ("failed", "completed"):
        closed = {**plan("completed", "in_progress", "pending"), "status": status}
        assert [line.mark for line in plan_lines(closed)] == ["✔", "■", "·"]
    waiting = {**plan("in_progress"), "status": "waiting_for_user"}
    assert [line.mark for line in plan_lines(waiting)] == ["▶"]


def test_an_event_is_one_line_whatever_its_words_have_in_them() -> None:
    hint = {"seq": 7, "type": "hint.injected", "text": "hint: Try\nanother\x1b[2J tool.", "data": {}}
    assert event_line(hint) == "hint: Try another\\x1b[2J tool."


def test_a_call_s_input_stands_where_it_is_asked_for_and_where_it_has_ended() -> None:
    lines = EventLines()

    def shown(type: str, input_hash: str, **data: Any) -> str:
        said = {"type": type, "text": "it", "data": {"input_hash": input_hash, **data}}
        return str(lines.line(said))

    assert shown("tool.requested", "a", input={"path": "a\u202e"}) == 'it  {"path": "a\\u202e"}'
    assert shown("tool.requested", "b", input={"path": "b"}) == 'it  {"path": "b"}'
    assert shown("tool.finished", "a") == 'it  {"path": "a\\u202e"}'
    assert shown("intervention.resolved", "b", option="approve") == "it"
    assert shown("intervention.resolved", "c", option="modify", input={"path": "c"}) == 'it  {"path": "c"}'
    assert shown("tool.finished", "c") == 'it  {"path": "c"}'
    assert shown("tool.finished", "d") == "it"


def test_a_terminal_without_unicode_gets_plain_marks() -> None:
    assert marks_for("ascii") == ASCII_MARKS
    assert marks_for(None) == ASCII_MARKS


def test_off_a_terminal_each_event_and_each_changed_step_is_a_line_without_control_sequences() -> None:
    stream = io.StringIO()
    view = PlainView(stream, RESUME)
    started: Any = {"seq": 1, "type": "run.started", "text": "run started"}
    made: Any = {"seq": 2, "type": "plan.created", "text": None}
    view.show(Update(session("planning", plan=plan("in_progress", "pending")), [started, made]))
    view.show(Update(session("executing", plan=plan("completed", "pending")), []))
    view.close()
    assert stream.getvalue().splitlines() == [
        "   1  run started",
        "      >  1. Step [bold]1[/]\\x1b[0m",
        "      .  2. Step [bold]2[/]\\x1b[0m",
        "      x  1. Step [bold]1[/]\\x1b[0m",
    ]


def test_a_run_that_is_only_talk_does_not_show_the_plan_of_the_run_before() -> None:
    def events(*types: str) -> Any:
        return [{"type": type, "text": None} for type in types]

    stream, old = io.StringIO(), plan("completed")
    view, display = PlainView(stream, RESUME), Display("ascii", RESUME)
    console = Console(file=stream, width=120)
    talk = Update(session("completed", plan=old), events("run.started", "plan.created", "run.started"))
    again = Update(session("completed", plan=plan("completed")), events("message.assistant"))
    for update in (talk, again):
        view.show(update)
        display.update_with(update)
    console.print(display)
    assert "Step" not in stream.getvalue()
    changed = Update(session("executing", plan=plan("in_progress")), events("plan.step"))
    view.show(changed)
    display.update_with(changed)
    console.print(display)
    assert stream.getvalue().count("Step") == 2


def test_a_stream_that_is_no_terminal_gets_the_plain_view() -> None:
    assert isinstance(view_for(io.StringIO(), RESUME), PlainView)


def test_the_live_display_shows_foreign_text_as_it_is() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120, no_color=True, highlight=False)
    display = Display("utf-8", RESUME)
    thought: Any = {"seq": 1, "type": "thought", "text": "thought: [red]look\x1b]0;title\x07[/red]"}
    made: Any = {"seq": 0, "type": "plan.created", "text": None}
    display.update_with(Update(session("executing", plan=plan("in_progress")), [made, thought]))
    console.print(display)
    shown = stream.getvalue()
    assert "Step [bold]1[/]\\x1b[0m" in shown
    assert "[red]look\\x1b]0;title\\x07[/red]" in shown
    assert "\x1b]0;" not in shown


RESUME = "acta resume ses_1"
AT = datetime(2026, 1, 31, 9, tzinfo=UTC)
RETRY_AT = "2026-01-31T09:30:00.000Z"


def wait(reason: str = "waiting_for_provider", code: str = "PROVIDER_OVERLOADED") -> Any:
    """The event of a session that begins to wait."""
    data: dict[str, Any] = {"from": "executing", "to": "executing", "reason": reason, "code": code}
    data |= {"retry_at": "2026-01-31T09:30:00+00:00", "wait_seconds": 64}
    return event_view(Event(seq=7, at=AT, type="state.changed", data=data))


def waits(reason: str = "waiting_for_provider", **values: Any) -> Any:
    cause = {"code": "PROVIDER_OVERLOADED", "message": "It is\x1b overloaded."}
    return session("executing", state_reason=reason, retry_at=RETRY_AT, cause=cause, **values)


def test_a_wait_is_one_line_that_says_for_what_until_when_and_its_code() -> None:
    line = "waits for the model's provider until 09:30:00 UTC (PROVIDER_OVERLOADED)"
    assert event_line(wait()) == line


def test_for_whatever_a_session_waits_there_are_words_and_a_state_that_fits_its_column() -> None:
    assert set(WAITS_FOR) == set(DELAY_REASONS)
    for reason, what in WAITS_FOR.items():
        assert state_words(session("executing", state_reason=reason)) == what.short
        assert len(what.short) <= 16
        assert str(event_line(wait(reason))).startswith(f"waits for {what.words} until")
    assert state_words(session("waiting_for_user", state_reason="paused")) == "paused"
    assert state_words(session("waiting_for_user", state_reason="approval_required")) == "waiting for user"
    assert state_words(session("completed", result={"goal_met": False})) == "goal not met"


def test_a_session_that_waits_says_what_tries_now_unless_that_cannot_help() -> None:
    first = "waits for the model's provider until 2026-01-31 09:30:00 UTC (PROVIDER_OVERLOADED)"
    assert list(waiting_lines(waits(), RESUME)) == [
        first,
        "It is\\x1b overloaded.",
        "to try now: acta resume ses_1",
    ]
    assert len(list(waiting_lines(waits("waiting_for_tokens"), RESUME))) == 2
    assert list(waiting_lines(waits("waiting_for_agents"), RESUME))[1] == "It is\\x1b overloaded."
    asking = {"agent_name": "Cl\nerk", "session_id": "ses_2", "type": "approval_required"}
    assert [*waiting_lines(waits("waiting_for_agents"), RESUME, [asking] * 5)] == [
        *["Cl erk waits for a person (approval required): ses_2"] * 3,
        "and 2 more of its agents wait for people",
        "waits for the agents that it has called until 2026-01-31 09:30:00 UTC (PROVIDER_OVERLOADED)",
    ]
    trying = session("executing", retrying=True, cause={"code": "PROVIDER_OVERLOADED", "message": "m"})
    assert list(waiting_lines(trying, RESUME)) == ["tries again now (PROVIDER_OVERLOADED)"]
    asks = session("waiting_for_user", state_reason="error_recovery", cause={"code": "X", "message": "m"})
    assert list(waiting_lines(asks, RESUME)) == []
    assert list(waiting_lines(session("executing", state_reason=None, cause=None), RESUME)) == []


@pytest.mark.parametrize(
    ("position", "before"),
    [
        (0, "none was before it of its tenant"),
        (1, "1 session was before it of its tenant"),
        (3, "3 sessions were before it of its tenant"),
    ],
)
def test_a_session_in_its_provider_s_line_says_since_when_and_its_place(position: int, before: str) -> None:
    queue = {"since": "2026-01-31T09:19:00.000Z", "position": position}
    first, line, *_ = waiting_lines(waits("queued", queue=queue), RESUME)
    assert first.startswith("waits for the limit of the model's provider until 2026-01-31 09:30:00 UTC")
    assert line == f"in line since 2026-01-31 09:19:00 UTC; {before}"
    stream = io.StringIO()
    PlainView(stream, RESUME).show(Update(waits("queued", queue=queue), [wait("queued", "QUEUED")]))
    assert stream.getvalue().splitlines()[1:] == [f"      {line}"]


def test_off_a_terminal_each_wait_is_a_line_and_the_command_is_told_once() -> None:
    stream = io.StringIO()
    view = PlainView(stream, RESUME)
    view.show(Update(waits("waiting_for_tokens"), [wait("waiting_for_tokens", "TOKEN_LIMIT")]))
    for _ in range(2):
        view.show(Update(waits(), [wait()]))
    line = "   7  waits for the model's provider until 09:30:00 UTC (PROVIDER_OVERLOADED)"
    assert stream.getvalue().splitlines() == [
        "   7  waits for its next tokens until 09:30:00 UTC (TOKEN_LIMIT)",
        line,
        "      to try now: acta resume ses_1",
        line,
    ]


def test_on_a_narrow_terminal_nothing_of_a_wait_is_cut_off() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=80, color_system=None, highlight=False)
    display = Display("utf-8", RESUME)
    display.update_with(Update(waits(), [wait()]))
    console.print(display)
    header, *lines = [line.strip() for line in stream.getvalue().splitlines()]
    assert "waiting_for_provider" not in header
    assert " ".join(lines).startswith(" ".join(waiting_lines(waits(), RESUME)))
