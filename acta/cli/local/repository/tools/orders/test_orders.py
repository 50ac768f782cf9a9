"""Tests of the folder orders: of each tool, and of an agent that uses it."""

import pytest

from acta import ToolError
from acta.testing import call, completes, load, run, uses

tools = load(__file__)  # tools.py beside this file


def test_a_number_is_looked_up() -> None:
    assert call(tools.lookup_orders, {"number": "7"}) == "It was sent on Monday."


def test_an_unknown_number_is_refused() -> None:
    with pytest.raises(ToolError, match="no number 9"):
        call(tools.lookup_orders, {"number": "9"})


def test_an_agent_uses_the_tool() -> None:
    session = run(
        "What is the state of number 7?",
        [uses("lookup_orders", number="7"), completes("It was sent on Monday.")],
        tools=tools,
        agent={"tools": ["lookup_orders"]},
    )
    assert session.goal_met
    assert session.tool_calls[0].result == "It was sent on Monday."
