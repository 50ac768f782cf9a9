"""How many entries a run leaves in the history of its Step Functions execution. AWS ends an execution at 25,000.
When the next execution begins: `or_roll_over` in `shared/acta_engine/turn/next_turn.py`.

Each figure is an upper bound, every retry that the state machine allows included. `tests/infra/test_history.py`
computes them from the definition and its retry policies, and fails where one is too low.
"""

EVENTS_PER_TURN = 168
"""A model call, or what handles its error, and the way to the next state; without its calls and waits for people."""
EVENTS_PER_CALL = 140
"""A tool call, and what settles it where it is lost."""
EVENTS_PER_ASK = 110
"""A wait for people, from one token to the next, with what would park it."""
MOST_EVENTS = 25_000
"""Source: AWS Step Functions developer guide, "Service quotas": entries in an execution's history."""
