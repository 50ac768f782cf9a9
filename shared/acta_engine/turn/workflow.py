"""The engine: it runs a session's steps one after the other."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from acta_engine.log.commit import Decision

ExecutionStatus = Literal["absent", "running", "closed"]
"""`absent`: it was never started, or the engine has forgotten it. A closed execution never runs again."""


class EndedExecution(NamedTuple):
    """An execution that was stopped, failed or ran out of time, as the engine tells it.

    `tenant` None: the engine does not say whose session it was. `run_id` empty: it has no name of Acta's, so a person
    has started it.
    """

    session_id: str
    tenant: str | None = None
    run_id: str = ""
    generation: int = 0


class ExecutionEvents(Protocol):
    def is_one(self, event: Mapping[str, Any]) -> bool:
        """Whether the function was called because an execution has ended."""

    def ended(self, event: Mapping[str, Any]) -> EndedExecution | None:
        """None: the execution was no session's. Raises Refused for an event of another form."""


class TokenGone(Exception):
    """The engine does not wait for this token any more."""


class Workflow(Protocol):
    """All methods raise StoreThrottled and StoreUnavailable."""

    def start(self, decision: Decision) -> bool:
        """Starts the execution that the decision's session, run and generation name. Starting it twice is harmless.

        False: this execution was started before and is closed.
        """

    def wake(self, token: str, decision: Decision) -> None:
        """The execution that waits for this token goes on with `decision`. Raises TokenGone."""

    def stop(self, session_id: str, run_id: str, generation: int) -> None:
        """Ends the execution, if it runs. This only tidies up: commits of a worker that runs on are refused by
        the log.
        """

    def status(self, session_id: str, run_id: str, generation: int) -> ExecutionStatus:
        """The execution's status. One that was started a moment ago may still be `absent`."""

    def running(self) -> Iterable[str]:
        """The ids of the sessions with a running execution. Eventually consistent; an id may come twice."""
