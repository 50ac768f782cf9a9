"""How many states of Step Functions are entered, the billed unit of a Standard workflow, told from what is committed.

A state that invokes a function is counted by that invocation, with the state `Route` before it. What a decision leads
to beside that is counted with the decision. A retry is a transition, too (AWS Step Functions pricing), and the engine
tells an invocation how many came before it. `tests/infra/test_transitions.py` computes all of it from the definition.
"""

from collections.abc import Mapping
from types import MappingProxyType

BY_INVOCATION: Mapping[str, int] = MappingProxyType(
    {
        "plan": 2,  # Route, Plan
        "think": 2,
        "ask": 2,
        "tool": 1,
        "lost_tool": 1,
        "handle_error": 1,
        "give_up": 1,
        "park": 2,  # Route, Park
        "roll_over": 3,  # Route, RollOver, Done
    }
)
"""By the operation that the engine asks for."""
BY_DECISION: Mapping[str, int] = MappingProxyType(
    {
        "act": 1,  # Act itself: its calls and the turn after them are invocations
        "wait": 2,  # Route, Wait
        "done": 2,  # Route, Done
        "failed": 2,
    }
)
