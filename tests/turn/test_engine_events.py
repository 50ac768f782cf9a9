"""What the state machine sends, read."""

from datetime import UTC, datetime

import pytest

from acta.engine.errors import Refused
from acta.engine.turn.engine import engine_event

AT = {"tenant": "acme", "session_id": "ses_1", "run_id": "run_1", "generation": 1, "turn": 1, "first": 1}
ASK = {"op": "ask", "at": AT, "task_token": "t", "attempt": 2}


def test_an_ask_has_the_time_when_its_state_was_entered() -> None:
    step = engine_event({**ASK, "entered": "2026-01-31T09:30:00.123Z"})
    assert step.entered == datetime(2026, 1, 31, 9, 30, 0, 123_000, tzinfo=UTC)


@pytest.mark.parametrize("more", [{"entered": "yesterday"}, {"entered": "2026-01-31T09:30:00"}, {"other": 1}])
def test_an_event_this_release_does_not_know_is_refused(more: dict[str, object]) -> None:
    with pytest.raises(Refused):
        engine_event({**ASK, **more})
