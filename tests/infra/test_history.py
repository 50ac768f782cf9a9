"""The bounds by which an execution's history is counted are bounds: computed from the definition that is deployed.

Source of the entries per state: AWS Step Functions API reference, HistoryEvent.
"""

from collections.abc import Mapping
from typing import Any

from acta.engine.log.head import MAX_CALLS
from acta.engine.models.providers import looks
from acta.engine.settings import Settings
from acta.engine.turn.engine import EVENTS_PER_ASK, EVENTS_PER_CALL, EVENTS_PER_TURN, MOST_EVENTS
from acta.infra.engine.workflow import definition, states
from acta.infra.environments import LOCAL

MACHINE = definition(LOCAL)
STATES = dict(states(MACHINE))
CALL = dict(states(MACHINE["States"]["Act"]["ItemProcessor"]))
LAST = ("RollOver", "Done", "Failed")
"""An execution ends with them."""


def events(state: Mapping[str, Any]) -> int:
    """Most entries of one pass of the state: entered and exited, and what lies between."""
    match state["Type"]:
        case "Task":
            made = 1 + sum(int(retrier["MaxAttempts"]) for retrier in state["Retry"])
            submitted = state["Resource"].endswith(".waitForTaskToken")
            return 2 + made * (4 if submitted else 3)  # scheduled, started, (submitted,) and how it ended
        case "Map":
            return 4  # started and how it ended; its iterations are counted as calls
        case "Choice" | "Wait":
            return 2
        case other:
            raise AssertionError(f"how many entries does a {other} leave?")


def test_a_turn_leaves_no_more_entries_than_are_counted_for_it() -> None:
    """Each state of the loop once, one of the two that ask a model, and Route after each."""
    passed = MACHINE["States"].keys() - {"Route", "Plan", "Think", "Ask", *LAST}
    asks_a_model = max(events(STATES[name]) for name in ("Plan", "Think"))
    most = asks_a_model + sum(events(STATES[name]) for name in passed)
    assert most + events(STATES["Route"]) * (len(passed) + 1) <= EVENTS_PER_TURN


def test_a_call_leaves_no_more_entries_than_are_counted_for_it() -> None:
    iteration = 2
    assert iteration + sum(map(events, CALL.values())) <= EVENTS_PER_CALL


def test_a_wait_for_people_leaves_no_more_entries_than_are_counted_for_it() -> None:
    """It may be asked whether it can be parked, and stay."""
    most = events(STATES["Ask"]) + events(STATES["Park"]) + 2 * events(STATES["Route"])
    assert most <= EVENTS_PER_ASK


def test_a_full_execution_has_room_for_one_more_turn_with_all_its_calls_and_for_the_roll_over() -> None:
    bound = int(Settings.fields["roll_over_events"].most or 0)
    last_turn = EVENTS_PER_TURN + EVENTS_PER_CALL * MAX_CALLS + EVENTS_PER_ASK
    assert bound + last_turn + events(STATES["RollOver"]) <= MOST_EVENTS
    assert Settings.fields["roll_over_events"].default <= bound


def test_a_new_execution_has_room_for_all_looks_at_one_answer_in_the_background() -> None:
    """One that has counted nothing yet does not roll over for them (`background.py` in `acta/engine/turn`)."""
    assert (
        1 + looks(int(Settings.fields["background_seconds"].most or 0))
    ) * EVENTS_PER_TURN <= MOST_EVENTS / 2
