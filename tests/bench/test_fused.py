"""Turns that one state makes together share what it took, and an aim that is missed is named."""

import json
from typing import Any

from tests.bench.figures import fused
from tests.bench.stand import history, work


def entered(name: str, turn: int) -> dict[str, Any]:
    given = json.dumps({"next": "think", "at": {"turn": turn}})
    return {"type": "TaskStateEntered", "stateEnteredEventDetails": {"name": name, "input": given}}


def invoked() -> dict[str, Any]:
    return {
        "type": "TaskScheduled",
        "taskScheduledEventDetails": {"resourceType": "lambda", "parameters": "{}"},
    }


def left(name: str) -> dict[str, Any]:
    return {"type": "TaskStateExited", "stateExitedEventDetails": {"name": name, "output": "{}"}}


def state(name: str, turn: int) -> list[dict[str, Any]]:
    return [entered(name, turn), invoked(), left(name)]


def test_a_state_knows_how_many_turns_it_made() -> None:
    found = history.turns([*state("Plan", 1), *state("Think", 9), *state("Think", 17), *state("Think", 20)])
    assert [(each.first, each.made, each.lambda_invokes) for each in found] == [
        (1, 8, 1),
        (9, 8, 1),
        (17, 3, 1),
    ]


def a_run(*states: history.TurnHistory) -> work.Run:
    whole = history.TurnHistory(6, 27, 3, 440, 900, 800, made=24)
    return work.Run("ses_1", 1, [[]] * 21, list(states), 0, (), engine=whole)


def test_what_a_state_takes_is_shared_by_its_turns() -> None:
    eight = history.TurnHistory(2, 9, 1, 440, 900, 800, made=8, first=9)
    row = work.figures(a_run(eight, eight._replace(first=17)))
    assert (row["transitions"], row["history_events"], row["lambda_invokes"]) == (0.25, 9 / 8, 1 / 8)
    assert row["payload_bytes"] == 440


def test_where_one_state_made_all_turns_the_whole_session_is_shared() -> None:
    assert work.figures(a_run())["transitions"] == 6 / 24


def row(**figures: float) -> dict[str, float]:
    most = dict(fused.AIMS)
    return {**most, **dict.fromkeys(fused.NO_MORE_THAN_UNFUSED, 3.0), **figures}


def test_figures_within_the_aims_miss_nothing() -> None:
    assert fused.missed({"2KB": {"100": row()}}, {"2KB": {"100": row()}}) == []


def test_an_aim_that_is_missed_is_named_with_both_figures() -> None:
    found = fused.missed({"2KB": {"100": row(transitions=4)}}, {"2KB": {"100": row()}})
    assert found == [fused.Missed("2KB x100", "transitions", 4, 1)]


def test_more_writes_than_unfused_are_named() -> None:
    found = fused.missed({"40KB": {"5": row(dynamodb_writes=4)}}, {"40KB": {"5": row()}})
    assert [(one.run, one.figure) for one in found] == [("40KB x5", "dynamodb_writes")]
