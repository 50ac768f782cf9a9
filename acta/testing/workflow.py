"""The engine in memory: it remembers what it was asked, and a test moves it on.

A driver takes the next started or woken decision, runs what it says, and closes the execution at the end:

    while decision := workflow.take():
        ...
"""

from collections.abc import Iterable

from acta.engine.log.commit import Decision
from acta.engine.turn.engine import ExecutionStatus, TokenGone


class MemoryWorkflow:
    """`executions`: for each name whether the execution still runs. `waiting`: the tokens that someone may send, each
    with its execution.
    """

    def __init__(self) -> None:
        self.executions: dict[str, bool] = {}
        self.waiting: dict[str, str] = {}
        self._decisions: list[Decision] = []
        self._tokens = 0

    def start(self, decision: Decision) -> bool:
        name = _name(decision)
        if name not in self.executions:
            self.executions[name] = True
            self._decisions.append(decision)
        return self.executions[name]

    def wake(self, token: str, decision: Decision) -> None:
        execution = self.waiting.pop(token, None)
        if execution is None or not self.executions.get(execution):
            raise TokenGone
        self._decisions.append(decision)

    def stop(self, session_id: str, run_id: str, generation: int) -> None:
        name = f"{session_id}-{run_id}-{generation}"
        if name in self.executions:
            self.executions[name] = False

    def status(self, session_id: str, run_id: str, generation: int) -> ExecutionStatus:
        running = self.executions.get(f"{session_id}-{run_id}-{generation}")
        return "absent" if running is None else "running" if running else "closed"

    def running(self) -> Iterable[str]:
        return [name.partition("-")[0] for name, running in self.executions.items() if running]

    def take(self) -> Decision | None:
        """The next decision with which an execution starts or goes on, oldest first. None if every execution waits or
        is closed.
        """
        return self._decisions.pop(0) if self._decisions else None

    def wait(self, decision: Decision) -> str:
        """Makes an execution that was told to ask wait, and returns its token."""
        self._tokens += 1
        token = f"token-{self._tokens}-{_name(decision)}"
        self.waiting[token] = _name(decision)
        return token

    def expire(self, token: str) -> None:
        """Ends the wait because its time is over."""
        self.waiting.pop(token, None)

    def close(self, decision: Decision) -> None:
        """Ends the execution."""
        self.executions[_name(decision)] = False


def _name(decision: Decision) -> str:
    return f"{decision.at.session_id}-{decision.at.run_id}-{decision.at.generation}"
