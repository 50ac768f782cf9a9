"""A worker may die before and after each outgoing call of a run whose tool answers later, and of what brings the answer
(docs/design/tools.md 62).
"""

from collections.abc import Mapping, Sequence

import pytest

from acta.engine.bound_tenant import bound_to
from acta.engine.errors import Conflict
from acta.engine.log.conversation import AssistantEntry
from acta.engine.log.head import Head
from acta.engine.log.repository import SessionRepository
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.tools.callbacks import answer_once
from acta.engine.tools.tool import Effect
from tests.in_process.deaths import PORTS, Deaths, Died, Port, driven, new_worker, points
from tests.in_process.house import TENANT
from tests.tools.test_callbacks import BUILD, Site

GREEN = {"state": "green"}


class ByPlace:
    """Answers what belongs to the conversation it is shown, whoever asks and however often."""

    provider = "scripted"

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        reply = BUILD[sum(isinstance(entry, AssistantEntry) for entry in request.entries)]
        assert isinstance(reply, ModelReply)
        return reply


class Mortal(Site):
    """The session has been started: its workers are who die. `asked`: how often a person was asked whether the
    call happened. `told`: what was said to a delivery that was sent again.
    """

    def __init__(self, effect: Effect, deaths: Deaths) -> None:
        super().__init__(effect)
        house = self.house
        house.model = ByPlace()
        self.quiet = SessionRepository(house.log, house.blobs, house.clock)
        self.asked = 0
        self.told: Mapping[str, Sequence[str]] | None = None
        for name in PORTS:
            setattr(house, name, Port(getattr(house, name), name, deaths))
        house.runtime = house.runtime._replace(toolbox=Port(self.tool, "toolbox", deaths))
        new_worker(house)

    @property
    def head(self) -> Head:
        return self.quiet.newest(TENANT, self.session).head

    def deliver(self) -> None:
        """The builder's program sends its answer until it is told that it was recorded."""
        (call,) = self.head.calls
        for _ in range(2):
            try:
                with bound_to(TENANT):
                    answer_once(self.house.app(), TENANT, self.session, call.call_id, GREEN, None)
            except Died:
                continue
            except Conflict as told:
                self.told = told.details
            return

    def go_to_the_end(self) -> None:
        for _ in range(8):
            self.drive()
            if self.head.is_over:
                return
            if (
                self.tool.urls
                and self.head.open_call(self.head.calls[0].call_id)
                and not self.head.answered_calls
            ):
                self.deliver()
            elif self.head.interventions:  # the call did not reach the tool
                self.asked += 1
                self.house.resolve(self.session, self.head.interventions[0], "retry")
            else:
                self.recover()

    def drive(self) -> None:
        driven(self.house)
        self.house.decisions.clear()

    def recover(self) -> None:
        try:
            self.house.recover()
        except Died:
            self.house.recover()


@pytest.mark.parametrize(
    "effect",
    ["once", *(pytest.param(effect, marks=pytest.mark.thorough) for effect in ("idempotent", "read"))],
)
def test_a_call_that_is_answered_later_is_made_once_and_answered_wherever_a_worker_dies(
    effect: Effect,
) -> None:
    def whole_run(deaths: Deaths) -> Mortal:
        made = Mortal(effect, deaths)
        made.go_to_the_end()
        return made

    numbers = list(points(whole_run))
    assert len(numbers) > 40
    for number in numbers:
        deaths = Deaths(number)
        ran = whole_run(deaths)
        died_at = deaths.met[number - 1]
        assert ran.head.state == "completed", died_at
        assert ran.results == [('{"state": "green"}', True)], died_at
        assert len(set(ran.tool.urls)) == 1, died_at
        assert len(ran.tool.urls) == 1 or effect != "once", died_at
        assert ran.asked == 0 or effect == "once", died_at
        assert ran.told is None or ran.told["by"] == ["callback"], died_at
