"""At a limit the run asks a person instead of calling the model: nothing is killed (design §5)."""

from collections.abc import Callable
from contextlib import suppress

from shared.agent.journal import Draft, Journal
from shared.agent.people import Timeouts, asking, resumed
from shared.agent.thread import Thread, fence
from shared.domain.change import Change
from shared.domain.commit import Decision, Position


class _Settled(Exception):
    """Something is open already, or the run has ended: nothing to write."""


def ask_at_limit(
    journal: Journal,
    thread: Thread,
    at: Position,
    kind: str,
    timeouts: Timeouts,
    ask: Callable[[Change], None],
) -> Decision:
    """Commits what `ask` opens, once per `kind`. Raises Fenced where another run, generation or turn has taken over."""

    def build(_: Thread, change: Change) -> Draft:
        fence(change.head, at)
        if change.head.interventions or change.head.is_over:
            raise _Settled
        ask(change)
        return Draft(change)

    with suppress(_Settled):
        journal.commit(thread, at.key(kind), build)
    head = thread.head
    return asking(head, timeouts) if head.interventions else resumed(head)
