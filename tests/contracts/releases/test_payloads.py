"""What executions of the release before send goes on being understood: they may stay open for a year (design §2)."""

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from infra.engine.workflow import PLACEHOLDERS, states
from shared.engine_event import engine_event
from tests.releases import previous

pytestmark = pytest.mark.contract

AT = {"tenant": "acme", "session_id": "ses_1", "run_id": "run_1", "generation": 1, "turn": 1, "first": 1}
ENTERED = "2026-01-31T09:30:00.123Z"

RECORDED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("step", {"op": "plan", "at": AT, "attempt": 0}),
    ("step", {"op": "think", "at": AT, "attempt": 3}),
    ("tool", {"op": "tool", "at": AT, "call_id": "call_1", "attempt": 0}),
    ("tool", {"op": "lost_tool", "at": AT, "call_id": "call_1", "error": "States.Timeout", "attempt": 0}),
    ("intervene", {"op": "ask", "at": AT, "task_token": "t", "entered": ENTERED, "attempt": 0}),
    ("intervene", {"op": "roll_over", "at": AT, "attempt": 0}),
    ("intervene", {"op": "give_up", "at": AT, "error": "StoreUnavailable", "attempt": 0}),
)
"""Function and payload, of every task of the release before."""
EARLIER: tuple[tuple[str, dict[str, Any]], ...] = (
    ("intervene", {"op": "ask", "at": AT, "task_token": "t", "attempt": 0}),
)
"""Of releases before that, which differ."""


@pytest.mark.parametrize(("function", "payload"), [*RECORDED, *EARLIER])
def test_a_payload_of_an_execution_begun_earlier_is_accepted(
    function: str, payload: Mapping[str, Any]
) -> None:
    assert engine_event(payload).op == payload["op"]
    assert payload["op"] in ops_of(function)


def ops_of(function: str) -> set[object]:
    """The `op`s that the function's handler has a case for."""
    tree = ast.parse((previous.ROOT / "functions" / function / "handler.py").read_bytes())
    patterns = [node for node in ast.walk(tree) if isinstance(node, ast.MatchValue)]
    return {node.value.value for node in patterns if isinstance(node.value, ast.Constant)}


def test_the_recorded_payloads_are_all_that_the_release_before_sends() -> None:
    try:
        machine = previous.state_machine()
    except previous.NoHistory as missing:
        pytest.skip(str(missing))
    recorded = {(function, payload["op"], frozenset(payload)) for function, payload in RECORDED}
    assert {(function, payload["op"], frozenset(payload)) for function, payload in sent(machine)} == recorded


def sent(machine: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for _, state in states(machine):
        if state["Type"] == "Task":
            arguments = state["Arguments"]
            yield PLACEHOLDERS[arguments["FunctionName"].strip("${}")], arguments["Payload"]
