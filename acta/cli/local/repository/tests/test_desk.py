"""The agent `desk` does its work, with a scripted model and its real tool."""

from pathlib import Path

from acta.testing import completes, load, run, uses

REPOSITORY = Path(__file__).parents[1]


def test_the_desk_looks_an_order_up_before_it_answers() -> None:
    session = run(
        "Where is my order 7?",
        [uses("lookup_orders", number="7"), completes("It was sent on Monday.")],
        tools=load(REPOSITORY / "tools" / "orders"),
        agent=REPOSITORY / "agents" / "desk.yaml",
    )
    assert session.goal_met
    assert session.tool_calls[0].result == "It was sent on Monday."
