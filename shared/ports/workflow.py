"""The engine that sequences a session's steps."""

from collections.abc import Iterable
from typing import Literal, Protocol

from shared.domain.session.commit import Decision

ExecutionStatus = Literal["absent", "running", "closed"]
"""`absent`: never started, or forgotten since. Once closed an execution stays so."""


class TokenGone(Exception):
    """The engine does not wait on that token any more."""


class Workflow(Protocol):
    def start(self, decision: Decision) -> bool:
        """Starts the execution named by the decision's session, run and generation. Starting it twice is harmless;
        False: an execution of that name exists and is closed. Raises StoreThrottled, StoreUnavailable.
        """
        ...

    def wake(self, token: str, decision: Decision) -> None:
        """Lets the waiting execution go on with the decision. Raises TokenGone."""
        ...

    def stop(self, session_id: str, run_id: str, generation: int) -> None:
        """Ends that execution where it still runs; for tidiness only, the log is the fence."""
        ...

    def status(self, session_id: str, run_id: str, generation: int) -> ExecutionStatus:
        """Of that execution; a start of a moment ago may not show yet."""
        ...

    def running(self) -> Iterable[str]:
        """The ids of the sessions that have an execution running, as of a moment ago; one may come twice."""
        ...
