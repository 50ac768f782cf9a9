"""What a session has done, in counts that its head holds: the tenant's usage is made from them (ADR 67).

Every commit adds what its own events say, so counting writes nothing of its own, and a commit that is repeated counts
once. A tuple instead of names keeps the head small.
"""

from collections.abc import Iterable
from typing import Annotated, NamedTuple

from pydantic import Field

from acta.engine.people.intervention import Intervention
from acta.engine.store.schema import StoredModel

MAX_MODELS = 4
"""Models of one session with sums of their own."""
OTHER_MODELS = "others"
"""All further ones together."""
MAX_ENDS = 12
"""Ways in which runs of one session have ended, with counts of their own."""
OTHER_END = "other"
"""All further ones together."""


class ModelUse(NamedTuple):
    """What the answered calls of one model used. A NamedTuple is stored as a list, which keeps the head small."""

    calls: int = 0
    input: int = 0
    """Tokens, those read from the provider's cache (`cached`) among them."""
    cached: int = 0
    output: int = 0
    microdollars: int = 0
    """Of the calls whose price is known."""
    unpriced: int = 0
    """Calls whose price is not known."""

    def plus(self, other: "ModelUse") -> "ModelUse":
        return ModelUse(*(one + more for one, more in zip(self, other, strict=True)))


class Done(NamedTuple):
    """`runs`: how many have begun. `user_messages`: messages from people. `agent_messages`: replies with a text.
    `plans`: plans that were made; a revision of one is not counted. `goals_met`: runs that met their goal. `unaided`:
    runs that were completed without an answer of a person. `asked`: interventions that were opened. Each that
    is closed counts as `answered`, `expired` or `withdrawn`, and `waited_ms` is how long they were open, in all.
    `tools_ok`, `tools_failed`: calls with a result, by whether they succeeded.

    The rest is what the estimate of AWS's bill is computed from (`acta/engine/usage/aws_estimate.py`).
    `calling_turns`: turns that asked for calls. `fused_turns`, `fused_calls`: made without a state of the engine.
    `first_writes`: calls whose start was committed before they ran. `waits`: states in which the engine waited.
    `executions`: of the engine, without the first one of each run. `step_ms`: how long models and fused calls took, and
    `tool_ms`: how long the other calls took, in all, while a function waited for them.
    """

    runs: int = 0
    user_messages: int = 0
    agent_messages: int = 0
    plans: int = 0
    plans_completed: int = 0
    asked: int = 0
    answered: int = 0
    expired: int = 0
    withdrawn: int = 0
    waited_ms: int = 0
    tools_ok: int = 0
    tools_failed: int = 0
    calling_turns: int = 0
    fused_turns: int = 0
    fused_calls: int = 0
    first_writes: int = 0
    waits: int = 0
    executions: int = 0
    step_ms: int = 0
    tool_ms: int = 0
    goals_met: int = 0
    unaided: int = 0


class Tally(StoredModel):
    """`ended`: how runs ended -> how often: `completed/plan_completed`, `failed/plan_failed`, `cancelled`.
    `models`: what each model was used for, by its name.
    """

    done: Done = Done()
    models: Annotated[dict[str, ModelUse], Field(max_length=MAX_MODELS + 1)] = Field(default_factory=dict)
    ended: Annotated[dict[str, int], Field(max_length=MAX_ENDS + 1)] = Field(default_factory=dict)

    def with_end(self, end: str) -> "Tally":
        """`end`: how a run has ended, as of `RunFinished`."""
        if end not in self.ended and len(self.ended) >= MAX_ENDS:
            end = OTHER_END
        return self.model_copy(update={"ended": {**self.ended, end: self.ended.get(end, 0) + 1}})

    def with_closed(self, interventions: Iterable[Intervention]) -> "Tally":
        """Interventions that a commit has closed."""
        tally = self
        for one in interventions:
            name = {"resolved": "answered", "expired": "expired", "withdrawn": "withdrawn"}.get(one.state)
            if name is not None and one.resolved_at is not None:
                waited = max(0, round((one.resolved_at - one.created_at).total_seconds() * 1_000))
                tally = tally.plus(**{name: 1}, waited_ms=waited)
        return tally

    def with_call(self, model: str, use: ModelUse) -> "Tally":
        """Adds an answered model call."""
        name = model if model in self.models or len(self.models) < MAX_MODELS else OTHER_MODELS
        summed = self.models.get(name, ModelUse()).plus(use)
        return self.model_copy(update={"models": {**self.models, name: summed}})

    def plus(self, **more: int) -> "Tally":
        done = self.done._replace(**{name: getattr(self.done, name) + add for name, add in more.items()})
        return self.model_copy(update={"done": done})
