"""At a limit the run asks a person instead of calling the model: nothing is killed (design §5)."""

from collections.abc import Callable
from contextlib import suppress

from shared.agent.session.position import Timeouts, asking, fence, resumed
from shared.agent.session.repository import Draft, Journal
from shared.agent.session.session import Thread
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision, Position


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
