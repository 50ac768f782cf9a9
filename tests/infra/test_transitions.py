"""What is counted as transitions is what the engine passes: computed from the definition that is deployed.

Source of what is billed: AWS Step Functions pricing, "state transitions": each state that is entered, retries included.
"""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest

from infra.engine.workflow import definition
from infra.environments import LOCAL
from shared.domain.session.commit import NextState
from shared.domain.spending.transitions import BY_DECISION, BY_INVOCATION
from shared.engine_event import Op

STATES = definition(LOCAL)["States"]
CALLS = 3


def operation(state: Mapping[str, Any]) -> str | None:
    """What it asks a function for; None: it invokes none."""
    return state["Arguments"]["Payload"]["op"] if state["Type"] == "Task" else None


def after_route(decision: str) -> str:
    """A wait that is no long one, which would be parked."""
    choices = [each for each in STATES["Route"]["Choices"] if f"'{decision}'" in each["Condition"]]
    return str(choices[-1]["Next"])


def way(decision: str) -> Iterator[tuple[str, str | None]]:
    """The states from a decision on, each with its operation, up to the one that makes the next decision."""
    name = "Route"
    while True:
        state = STATES[name]
        if state["Type"] == "Map":
            yield name, None
            call = state["ItemProcessor"]["States"][state["ItemProcessor"]["StartAt"]]
            yield from [("call", operation(call))] * CALLS
        else:
            yield name, operation(state)
        if state["Type"] in ("Succeed", "Fail") or operation(state) in ("plan", "think", "ask", "park"):
            return
        following = after_route(decision) if name == "Route" else str(state["Next"])
        if name == "Wait":  # what follows is a decision like any other
            decision = "think"
        name = following


@pytest.mark.parametrize("decision", get_args(NextState))
def test_a_decision_and_the_invocations_it_leads_to_count_the_states_that_are_entered(decision: str) -> None:
    states = list(way(decision))

    counted = BY_DECISION.get(decision, 0) + sum(BY_INVOCATION[op] for _, op in states if op is not None)
    assert counted == len(states)


def test_a_long_wait_that_is_parked_is_counted_by_its_invocation_and_the_end() -> None:
    assert STATES["Park"]["Next"] == "Route"
    counted = BY_INVOCATION["park"] + BY_DECISION["done"]
    assert counted == len(["Route", "Park", "Route", "Done"])


@pytest.mark.parametrize("name", ["HandleError", "LostTool"])
def test_what_an_error_leads_to_is_one_state_more(name: str) -> None:
    inside = STATES["Act"]["ItemProcessor"]["States"]
    assert BY_INVOCATION[str(operation((STATES | inside)[name]))] == 1


def test_every_operation_of_the_engine_is_counted() -> None:
    assert set(get_args(Op)) == set(BY_INVOCATION)
