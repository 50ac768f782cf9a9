"""Fencing: whether another run, generation or turn has taken over, so that a late worker commits and starts nothing.

A cancel is no fencing: a result that comes after it is still recorded (`_finish` in `shared/agent/tools/execute.py`).
The guard in the store is that a commit's number is taken once: `append` in `shared/adapters/dynamodb/session_log.py`.
"""

from shared.domain.errors import Fenced
from shared.domain.session.commit import Position
from shared.domain.session.head import Head


def check_turn(head: Head, at: Position) -> None:
    """Raises Fenced where another run, generation or turn has taken over."""
    check_run(head, at)
    if head.run is not None and head.run.turn != at.turn and not head.is_over:
        raise Fenced("the session is at another turn")


def check_run(head: Head, at: Position) -> None:
    """Raises Fenced where another run or generation has the session."""
    if is_overtaken(head, at):
        raise Fenced("another run or generation has the session")


def is_overtaken(head: Head, at: Position) -> bool:
    """Whether another run or generation has the session: a worker standing at `at` may not commit."""
    return head.run is None or head.run.run_id != at.run_id or head.run.generation != at.generation


def is_at(head: Head, at: Position) -> bool:
    """Whether the session stands in this very turn."""
    return not is_overtaken(head, at) and head.run is not None and head.run.turn == at.turn
