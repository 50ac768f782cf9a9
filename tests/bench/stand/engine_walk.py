"""The engine's states one after the other, in this process: what the state machine does where nothing fails
(docs/design/engine.md, `acta/infra/engine/state_machine.asl.json`).
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from acta.engine.log.commit import Position
from acta.engine.log.repository import SessionRepository
from acta.engine.recovery.recover import roll_over
from acta.testing.workflow import MemoryWorkflow

S = TypeVar("S")
Invoke = Callable[[Mapping[str, Any]], tuple[Any, S]]
"""A function is handed its event, and answers its result and what that took."""


class WalkStopped(RuntimeError):
    """The run came to a state that nobody walks here; the message names it."""


class WalkedTurn(NamedTuple, Generic[S]):
    """`calls`: what each tool call of the turn took, in order; empty where the model asked for none."""

    step: S
    calls: list[S]


def walk(
    repository: SessionRepository, workflow: MemoryWorkflow, step: Invoke[S], tool: Invoke[S]
) -> list[WalkedTurn[S]]:
    """The run that `workflow` was told to start, to its end: its turns, that of the plan first.

    A run whose execution is full goes on in the next one. Its turns do not show it: what a roll-over takes is in none
    of them. Raises WalkStopped.
    """
    turns: list[WalkedTurn[S]] = []
    while (begun := workflow.take()) is not None:
        decision = begun.to_engine()
        while decision["next"] in ("plan", "think", "act"):
            if decision["next"] == "act":
                decision = _act(decision, tool, turns)
            else:
                event = {"op": decision["next"], "at": decision["at"], "attempt": 0}
                decision, spent = step(event)
                turns.append(WalkedTurn(spent, []))
        if decision["next"] == "roll_over":
            roll_over(repository, workflow, Position.model_validate(decision["at"]))
        elif decision["next"] not in ("done", "failed"):
            raise WalkStopped(f"the walk came to {decision['next']!r} in turn {len(turns)}")
        workflow.close(begun)
    return turns


def _act(decision: Mapping[str, Any], tool: Invoke[S], turns: list[WalkedTurn[S]]) -> dict[str, Any]:
    """The calls belong to the turn before, in whichever execution that was."""
    for call in decision["calls"]:
        event = {"op": "tool", "at": decision["at"], "call_id": call, "attempt": 0}
        turns[-1].calls.append(tool(event)[1])
    return {"next": "think", "at": decision["at"]}
