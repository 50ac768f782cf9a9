"""Tokens are counted where they are, and a beginning that the provider has seen is paid for as its cache does."""

from typing import Any

import pytest

from tests.bench.beside.tasks import TASKS, with_plan, with_plan_when_needed, with_todos
from tests.bench.beside.tokens import LEAST_CACHED, SIX, Encoded, encoded, encoding, figures, missed, usage_of
from tests.bench.stand.script import Call, Reply

LONG = list(range(LEAST_CACHED))


def test_a_short_beginning_is_neither_read_nor_written() -> None:
    assert usage_of(LONG[1:], LONG[1:], 5) == (LEAST_CACHED - 1, 5, 0, 0)


def test_a_beginning_is_read_as_far_as_it_is_the_same_and_the_rest_is_written() -> None:
    assert usage_of([*LONG, -1, -2], [*LONG, -1, -3, -4], 5) == (LEAST_CACHED + 3, 5, LEAST_CACHED + 1, 2)


def test_what_differs_early_is_written_whole() -> None:
    assert usage_of([-1, *LONG], LONG, 5) == (LEAST_CACHED, 5, 0, LEAST_CACHED)


def test_tokens_are_counted_by_where_they_are() -> None:
    said = [{"role": "system", "content": "You look."}, {"role": "user", "content": "hi"}]
    asked = encoded({"tools": [{"name": "look"}], "messages": said}, Reply("I", (Call("look", {"at": 1}),)))

    assert [encoding().decode(part) for part in asked] == [
        '{"name":"look"}',
        '{"role":"system","content":"You look."}',
        '{"role":"user","content":"hi"}',
        '"I"["look",{"at":1}]',
    ]
    assert asked.request == asked.tools + asked.system + asked.conversation


def test_the_second_call_of_a_task_pays_less_for_what_the_first_one_had() -> None:
    first, second = Encoded([], LONG, [-1], [-9]), Encoded([], LONG, [-1, -2], [-9])
    told = figures([first, second], [0.25])

    assert (told["calls"], told["cached"], told["fresh"], told["written"]) == (2, 1_025, 1_026, 1_026)
    assert (told["output"], told["input"], told["tokens"], told["gap_ms"]) == (2, 2_051, 2_053, 250)


def rows(**ours: float) -> dict[str, Any]:
    equal = {task.name: {"calls": 7.0, "tokens": 100.0, "usd": 1.0} for task in TASKS}
    peer = {name: row | {"tokens": 221.0} for name, row in equal.items()}
    made = equal | {SIX: equal[SIX] | ours}
    return {"acta": made, "langgraph": equal, "deep_agents": peer, "deep_agents_planning": peer}


@pytest.mark.parametrize(
    ("ours", "aims"),
    [
        ({"tokens": 220.4, "usd": 1.54}, []),
        ({"calls": 8.0}, ["six steps: 8 calls, LangGraph 7"]),
        ({"usd": 1.6}, ["six steps: 1.60 times LangGraph's dollars, and 1.5 is the most"]),
        (
            {"tokens": 226.0},
            [
                "six steps: 226 tokens, deep agents 221",
                "six steps: 226 tokens, deep agents planning 221",
                "six steps: 2.26 times LangGraph's tokens, and 2.2 is the most",
            ],
        ),
    ],
)
def test_an_aim_that_is_missed_is_named(ours: dict[str, float], aims: list[str]) -> None:
    assert missed(rows(**ours)) == aims


def test_a_script_plans_as_the_one_who_asks_is_told_to() -> None:
    planned = {task.name: len(with_plan(task)) for task in TASKS}
    when_needed = {task.name: with_plan_when_needed(task) for task in TASKS}
    assert planned == {name: len(replies) for name, replies in when_needed.items()}
    assert [task.name for task in TASKS if when_needed[task.name] == with_plan(task)] == [SIX]
    listed = {task.name: len(with_todos(task)) for task in TASKS}
    assert planned == {"greeting": 1, "two tools": 3, "six steps": 7, "three at once": 2}
    assert listed == planned | {"six steps": 8}, (
        "the answer stands behind the last list, and short tasks have none"
    )
