"""What the estimate of AWS's bill counts as transitions is what the engine passes, by the definition that is deployed.

Source of what is billed: AWS Step Functions pricing, "state transitions": each state that is entered, retries included.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from acta.engine.usage.aws_estimate import USES
from acta.infra.engine.workflow import definition
from acta.infra.environments import LOCAL

STATES = definition(LOCAL)["States"]
CALLS = 3


def after_route(decision: str) -> str:
    """A wait that is no long one, which would be parked."""
    choices = [each for each in STATES["Route"]["Choices"] if f"'{decision}'" in each["Condition"]]
    return str(choices[-1]["Next"])


def way(decision: str) -> Iterator[str]:
    """The states from a decision on, up to the one that makes the next decision. After a wait a turn is tried."""
    name = "Route"
    while True:
        state: Mapping[str, Any] = STATES[name]
        yield name
        if state["Type"] == "Map":
            yield from state["ItemProcessor"]["States"].keys() & {"Tool"} and ["Tool"] * CALLS
        if state["Type"] in ("Succeed", "Fail") or name in ("Plan", "Think", "Ask", "Park"):
            return
        following = after_route(decision) if name == "Route" else str(state["Next"])
        if name == "Wait":  # what follows is a decision like any other
            decision = "think"
        name = following


@pytest.mark.parametrize(
    ("decision", "uses"),
    [
        ("plan", {"turn that is a state": 1}),
        ("think", {"turn that is a state": 1}),
        ("act", {"state with calls": 1, "call that is a state": CALLS, "turn that is a state": 1}),
        ("wait", {"wait": 1, "turn that is a state": 1}),
        ("ask", {"question": 1}),
        ("done", {"run": 1}),
        ("failed", {"run": 1}),
        ("park", {"further execution": 1, "run": -1}),
    ],
)
def test_the_states_after_a_decision_are_the_transitions_that_are_estimated(
    decision: str, uses: Mapping[str, int]
) -> None:
    estimated = sum(USES[name].transitions * count for name, count in uses.items())
    assert len(list(way(decision))) == estimated
