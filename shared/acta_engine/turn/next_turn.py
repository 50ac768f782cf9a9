"""The run moves to its next turn, and to its next Step Functions execution where the history of this one is long.

The entries of that history are counted in the head, with the upper bounds of
`shared/acta_engine/turn/execution_history.py`, and never read (docs/design/engine.md 30).
"""

from acta_engine.errors import Fenced
from acta_engine.log.change import Change
from acta_engine.log.commit import Decision
from acta_engine.log.head import Head, Run
from acta_engine.turn.execution_history import EVENTS_PER_CALL, EVENTS_PER_TURN


def next_turn(change: Change, *, thought: bool, calls: int = 0) -> None:
    """Moves the run to its next turn, which begins with this commit. `thought`: whether it counts as an iteration.

    A fused turn has no state of its own in the execution's history; its calls may get theirs. An execution that makes a
    turn waits for nobody: recovery need not look whether it was woken.
    """
    run = _run(change)
    moved = {
        "turn": run.turn + 1,
        "first": change.number,
        "iteration": run.iteration + (1 if thought else 0),
        "events": run.events + (0 if change.is_fused else EVENTS_PER_TURN) + EVENTS_PER_CALL * calls,
        "parked": False,
    }
    change.set(run=run.model_copy(update=moved), wait=None)


def turn_again(change: Change) -> None:
    """Moves the run on without a reply, so that a further error has commit keys of its own. Where calls are open, the
    log is still read from the commit that has them.
    """
    run = _run(change)
    moved = {
        "turn": run.turn + 1,
        "first": run.first if change.head.unfinished_calls else change.number,
        "events": run.events + EVENTS_PER_TURN,
        "parked": False,
    }
    change.set(run=run.model_copy(update=moved), wait=None)


def count_again(change: Change, calls: int) -> None:
    """Counts the entries that so many calls, and the turn before them, leave in the execution's history because they
    run once more.
    """
    run = _run(change)
    added = EVENTS_PER_TURN + EVENTS_PER_CALL * calls
    change.set(run=run.model_copy(update={"events": run.events + added}))


def _run(change: Change) -> Run:
    if change.head.run is None:
        raise Fenced("the session has no run")
    return change.head.run


def or_roll_over(head: Head, after_events: int, decision: Decision | None) -> Decision | None:
    """The decision, or a roll-over where the history of this execution has `after_events` entries
    (docs/design/engine.md 30): `Settings.roll_over_events`.
    """
    full = head.run is not None and head.run.events >= after_events
    if decision is None or not full or decision.next in ("done", "failed"):
        return decision
    return Decision(next="roll_over", at=decision.at)
