"""The engine: it runs a session's steps one after the other."""

from collections.abc import Iterable
from typing import Literal, Protocol

from shared.domain.session.commit import Decision

ExecutionStatus = Literal["absent", "running", "closed"]
"""`absent`: it was never started, or the engine has forgotten it. A closed execution never runs again."""


class TokenGone(Exception):
    """The engine does not wait for this token any more."""


class Workflow(Protocol):
    """All methods raise StoreThrottled and StoreUnavailable."""

    def start(self, decision: Decision) -> bool:
        """Starts the execution that the decision's session, run and generation name. Starting it twice is harmless.

        False: this execution was started before and is closed.
        """
        ...

    def wake(self, token: str, decision: Decision) -> None:
        """The execution that waits for this token goes on with `decision`. Raises TokenGone."""
        ...

    def stop(self, session_id: str, run_id: str, generation: int) -> None:
        """Ends the execution, if it runs. This only tidies up: commits of a worker that runs on are refused by
        the log.
        """
        ...

    def status(self, session_id: str, run_id: str, generation: int) -> ExecutionStatus:
        """The execution's status. One that was started a moment ago may still be `absent`."""
        ...

    def running(self) -> Iterable[str]:
        """The ids of the sessions with a running execution. Eventually consistent; an id may come twice."""
        ...
