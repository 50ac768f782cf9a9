"""How long a turn's model call may take, and how much it may write in that time (docs/design/providers.md 13)."""

from typing import Any

import pytest

from acta.engine.agents.agent import AgentDefinition, Fallback, Limits
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.turn.turn import take_turn
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, plans

INVOCATION = 892.0
"""Seconds that `step` has in AWS when a turn begins."""


class Timed(ScriptedModel):
    """Remembers how long each call might have taken."""

    def __init__(self) -> None:
        super().__init__([plans("do it")])
        self.timeouts: list[float] = []

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self.timeouts.append(timeout)
        return super().complete(request, timeout=timeout)


def first_call(invocation: float, agent: AgentDefinition | None = None, **settings: Any) -> tuple[int, float]:
    """The first call's output limit, and the seconds it was given. `invocation`: seconds that are left of it."""
    model = Timed()
    house = House(model, output_tokens_per_second=50, **settings)
    if agent is not None:
        house.definitions.create_agent(TENANT, agent)
    house.start("Do it", agent_id=agent.agent_id if agent is not None else "default")
    started = house.workflow.take()
    assert started is not None
    assert take_turn(house.worker, "plan", started.at, 0, invocation).decision.next == "think"
    return model.requests[0].max_tokens, model.timeouts[0]


def writer(max_output_tokens: int, **more: Any) -> AgentDefinition:
    limits = Limits(max_output_tokens=max_output_tokens)
    return AgentDefinition(agent_id="writer", name="Writer", limits=limits, version=1, **more)


def test_a_call_has_the_time_that_its_output_limit_needs() -> None:
    assert first_call(INVOCATION, writer(32_000)) == (32_000, 30 + 640)


def test_a_short_answer_has_what_the_setting_says() -> None:
    assert first_call(INVOCATION, writer(500), step_deadline_seconds=100) == (500, 100)


def test_an_agent_of_before_that_asks_for_more_than_fits_is_kept_to_what_fits() -> None:
    assert first_call(INVOCATION, writer(128_000)) == (40_500, 840)


def test_so_is_a_deployment_s_own_limit() -> None:
    assert first_call(INVOCATION, max_output_tokens=100_000, longest_model_seconds=130) == (5_000, 130)


@pytest.mark.parametrize("fallbacks", [1, 3])
def test_each_model_that_may_be_asked_adds_its_time(fallbacks: int) -> None:
    others = tuple(Fallback(model=f"other-{number}") for number in range(fallbacks))
    assert first_call(INVOCATION, writer(4_000, fallbacks=others)) == (4_000, (1 + fallbacks) * 110)


def test_a_call_ends_while_the_invocation_can_still_commit() -> None:
    assert first_call(60.0, writer(32_000)) == (32_000, 60)
