"""What a session has used of AWS and of its models, in counts: the sums in its head, from which its receipt is made
(`shared/domain/spending/receipt.py`, ADR 61).

Every commit adds what its invocation did since it began, or since its last commit, the commit's own write included.
So counting writes nothing of its own. Tuples instead of names keep the head small.
"""

from datetime import datetime
from typing import Annotated, NamedTuple

from pydantic import Field

from shared.domain.schema.stored_model import StoredModel
from shared.domain.spending.used import Used

SPENT_SINCE = 2
"""The schema version from which on a head has these sums."""
MAX_MODELS = 4
"""Models of one session with sums of their own."""
OTHERS = "others"
"""All further ones together."""
MAX_FUNCTIONS = 8
"""Acta has fewer that commit."""


class FunctionUse(NamedTuple):
    """`mb_ms`: milliseconds times the memory in MB, which another release may have changed in between."""

    invocations: int = 0
    ms: int = 0
    mb_ms: int = 0


class ModelUse(NamedTuple):
    """`input`: tokens, those read from the provider's cache (`cached`) among them. `microdollars`: of the calls with
    a known price; `unpriced`: how many calls had none.
    """

    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    microdollars: int = 0
    unpriced: int = 0


class StoreUse(NamedTuple):
    """Requests and units of DynamoDB, and requests to S3, as in `Used`."""

    reads: int = 0
    half_rru: int = 0
    writes: int = 0
    wcu: int = 0
    gets: int = 0
    puts: int = 0


class Spent(StoredModel):
    """`since`: when counting began, where a release before made the first commits; None: with the session. `models`:
    by the name of the model.
    """

    since: datetime | None = None
    transitions: int = 0
    functions: Annotated[dict[str, FunctionUse], Field(max_length=MAX_FUNCTIONS)] = Field(
        default_factory=dict
    )
    stores: StoreUse = StoreUse()
    models: Annotated[dict[str, ModelUse], Field(max_length=MAX_MODELS + 1)] = Field(default_factory=dict)

    def with_invocation(self, used: Used) -> "Spent":
        return self.model_copy(
            update={
                "transitions": self.transitions + used.transitions,
                "functions": self._functions_with(used),
                "stores": _sum(self.stores, StoreUse(*(getattr(used, name) for name in StoreUse._fields))),
            }
        )

    def with_write(self, units: int) -> "Spent":
        """One write more to DynamoDB, of `units` write units."""
        return self.model_copy(update={"stores": _sum(self.stores, StoreUse(writes=1, wcu=units))})

    def with_call(self, model: str, use: ModelUse) -> "Spent":
        """One model call more."""
        name = model if model in self.models or len(self.models) < MAX_MODELS else OTHERS
        before = self.models.get(name, ModelUse())
        return self.model_copy(update={"models": {**self.models, name: _model_sum(before, use)}})

    def _functions_with(self, used: Used) -> dict[str, FunctionUse]:
        if not used.function or (
            used.function not in self.functions and len(self.functions) == MAX_FUNCTIONS
        ):
            return self.functions
        before = self.functions.get(used.function, FunctionUse())
        now = FunctionUse(
            before.invocations + used.invocations,
            before.ms + used.ms,
            before.mb_ms + used.ms * used.memory_mb,
        )
        return {**self.functions, used.function: now}


def _sum(one: StoreUse, other: StoreUse) -> StoreUse:
    return StoreUse(*(a + b for a, b in zip(one, other, strict=True)))


def _model_sum(one: ModelUse, other: ModelUse) -> ModelUse:
    return ModelUse(*(a + b for a, b in zip(one, other, strict=True)))
