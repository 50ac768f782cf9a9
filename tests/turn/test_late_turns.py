"""What Acta itself does in a turn is the same however many turns came before."""

import sys
from types import FrameType
from typing import Any

from acta.engine.models.anthropic import request as anthropic
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.models.openai import chat as chat_request
from acta.engine.models.openai import responses as responses_request
from acta.engine.turn import turn as of_ours
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

TURNS = 100
SETTLED = 40
"""By then the head's list of the last calls is full."""
OURS = of_ours.__file__.partition("agent")[0]
"""The folder of the product's code."""
VARIES = 1.1
"""Some turns end a segment, and numbers get longer."""


class Rendering(ScriptedModel):
    """Makes each request as all adapters would."""

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        anthropic.to_body(request)
        responses_request.to_body(request, official=True)
        chat_request.to_body(request, official=True)
        return super().complete(request, timeout=timeout)


def test_a_late_turn_makes_no_more_calls_of_functions_than_an_early_one() -> None:
    reads = [says(f"Turn {turn}.", call("read_file", path=f"{turn}.md")) for turn in range(TURNS)]
    house = House(
        Rendering([plans("read"), *reads, says("", step(1, "completed", "ok")), completes("Done.")]),
        tenant_tokens_per_hour=0,
    )
    for turn in range(TURNS):
        house.files.write(TENANT, f"{turn}.md", b"x" * 2_000)
    made: list[int] = []
    take, count = house.step, 0

    def counting(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call") and frame.f_code.co_filename.startswith(OURS)

    def counted(*asked: Any, **more: Any) -> Any:
        nonlocal count
        count = 0
        sys.setprofile(counting)
        try:
            return take(*asked, **more)
        finally:
            sys.setprofile(None)
            made.append(count)

    house.step = counted  # type: ignore[method-assign]
    house.start("Read all", max_steps=TURNS + 10, token_budget=100_000_000)
    house.run()

    early, late = made[SETTLED : SETTLED + 20], made[TURNS - 20 : TURNS]
    assert len(made) > TURNS
    assert max(late) <= VARIES * max(early), (early, late)
