"""A scripted model that answers in the background, as far as its provider goes."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from acta.engine.agents.agent import AgentDefinition
from acta.engine.errors import ActaError, StreamBroken
from acta.engine.models.model import BackgroundResponse, ModelReply, ModelRequest
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn

AGENT = "patient"


class BackgroundModel(ScriptedModel):
    """Its own `in_background`. Each answer is there `seconds` after its request; 0: at once.

    `running`: by id, when a response is there, and the request. `made`, `cancelled`, `forgotten`: ids, in their order.
    `failing`: what the next response ends with. `away`: what the provider raises while it cannot be asked. `withheld`:
    what it answers every look with.
    """

    def __init__(self, turns: Iterable[Turn], seconds: float = 100) -> None:
        super().__init__(turns)
        self.seconds = seconds
        self.now: Callable[[], datetime]
        self.running: dict[str, tuple[datetime, ModelRequest]] = {}
        self.answers: dict[str, ModelReply | ActaError] = {}
        self.made: list[str] = []
        self.cancelled: list[str] = []
        self.forgotten: list[str] = []
        self.looks = 0
        self.failing: ActaError | None = None
        self.away: Exception | None = None
        self.withheld: Exception | None = None

    @property
    def in_background(self) -> "BackgroundModel":
        return self

    def start(self, request: ModelRequest, *, timeout: float) -> str | ModelReply:
        self._asked()
        response_id = f"resp_{len(self.made) + 1}"
        self.made.append(response_id)
        if not self.seconds:
            return self.complete(request, timeout=timeout)._replace(response_id=response_id)
        self.running[response_id] = (self.now() + timedelta(seconds=self.seconds), request)
        return response_id

    def result(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        self.looks += 1
        self._asked()
        if self.withheld is not None:
            raise self.withheld
        response_id = response.response_id
        if response_id in self.cancelled:
            return StreamBroken("cancelled")
        if response_id not in self.running:
            return StreamBroken("kept no longer")
        there, request = self.running[response_id]
        if self.now() < there:
            return None
        if response_id not in self.answers:
            if self.failing is not None:
                self.answers[response_id], self.failing = self.failing, None
            else:
                self.answers[response_id] = self.complete(request, timeout=timeout)
        return self.answers[response_id]

    def cancel(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        found = self.result(response, timeout=timeout)
        if found is not None:
            return found
        self.cancelled.append(response.response_id)
        return StreamBroken("cancelled")

    def forget(self, response: BackgroundResponse, *, timeout: float) -> None:
        self._asked()
        self.forgotten.append(response.response_id)
        self.running.pop(response.response_id, None)

    @property
    def bought(self) -> int:
        """Responses that nobody cancelled."""
        return len(set(self.made) - set(self.cancelled))

    def _asked(self) -> None:
        if self.away is not None:
            raise self.away


def patient_house(model: BackgroundModel, **settings: Any) -> House:
    """With an agent whose model answers in the background."""
    house = House(model, **settings)
    model.now = house.clock.now
    now = house.clock.now()
    agent = AgentDefinition(
        agent_id=AGENT, name="Patient", background=True, version=1, created_at=now, updated_at=now
    )
    house.definitions.create_agent(TENANT, agent)
    return house


def begun(house: House, message: str = "Do it", **limits: Any) -> str:
    return house.start(message, agent_id=AGENT, **limits).session_id
