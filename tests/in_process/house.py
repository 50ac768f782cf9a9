"""All of Acta in one process (`acta.testing`), with what only Acta's own tests ask of it."""

from dataclasses import replace
from typing import Any

from acta.engine.app import App
from acta.engine.limits.caps import LimitValues
from acta.engine.log.commit import Decision, Position
from acta.engine.log.head import Head
from acta.engine.models.model import Model
from acta.engine.people.requester import Requester
from acta.engine.plans.edit import Operation, PlanEdit, edit_plan
from acta.engine.recovery.recovery import Recovery
from acta.engine.sessions.control import NewLimits, change_limits
from acta.engine.sessions.delete import delete as delete_session
from acta.engine.sessions.poll import Cursor, SessionSnapshot, poll
from acta.engine.telemetry import Telemetry
from acta.engine.turn.engine import position
from acta.testing.in_process import TENANT as TENANT
from acta.testing.in_process import USER as USER
from acta.testing.in_process import InProcess
from tests.doubles.secret_values import MemoryToolSecretValues
from tests.in_process.whole import WholeHistory

START = Cursor()
RECOVER = Telemetry("recover")


class House(InProcess):
    """Without Python tools of its own. `settings`: as `InProcess` takes them."""

    decides = True
    """False: whoever acts has the token of a program, and people alone decide."""

    def __init__(self, model: Model, **settings: Any) -> None:
        self.secret_values = MemoryToolSecretValues()
        super().__init__(model, **settings)

    def app(self, **parts: Any) -> App:
        secrets = {"secret_values": self.secret_values, "secret_reader": self.secret_values}
        return super().app(**{**secrets, **parts})

    @property
    def requester(self) -> Requester:
        return super().requester._replace(decides=self.decides)

    def recovery(self, **parts: Any) -> Recovery:
        """What the function `recover` does, one session after the other. `parts`: as `app` takes them."""
        return replace(self.app(telemetry=RECOVER, **{"load": None, **parts}).recovery, threads=1)

    def history(self, session_id: str) -> WholeHistory:
        return WholeHistory(self.stored_history(session_id))

    def limit(self, session_id: str, **limits: Any) -> Head:
        return change_limits(self.app(), self.requester, session_id, NewLimits(LimitValues(**limits)))

    def edit_plan(self, session_id: str, *operations: Operation, version: int | None = None) -> Head:
        """`version`: what the person has seen; None: they take whatever there is."""
        edit = PlanEdit(operations, lambda there: version in (None, there), self.comment or "")
        return edit_plan(self.app(), self.requester, session_id, edit)

    def delete(self, session_id: str) -> None:
        delete_session(
            self.fresh_repository(),
            self.workflow,
            self.log,
            self.index,
            self.blobs,
            self.requester,
            session_id,
            lambda: self.app().family,
        )

    def poll(self, session_id: str, after: Cursor = START) -> SessionSnapshot:
        return poll(self.log, self.clock, TENANT, session_id, after, 0)

    def time_out(self, session_id: str) -> None:
        """The engine's wait is over: Ask is entered again with a new token."""
        head = self.head(session_id)
        assert head.wait is not None
        self.workflow.expire(head.wait.token)
        self._state(Decision(next="ask", at=position(head)))

    def parks(self, at: Position) -> None:
        """The engine has waited for people for long, and nothing is due: it parks the session, or waits again."""
        self.go_on(self._parked(at))

    def go_on(self, decision: Decision) -> None:
        """As the engine does with a step whose worker died: it is made again, and the execution goes on."""
        self._execute(decision, lambda _: None)
