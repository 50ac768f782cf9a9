"""The step log's row of a model call and the session's sums, from the same numbers (design §3)."""

from datetime import datetime
from typing import Literal

from shared.agent.worker import Mind
from shared.domain.budget import spent_usd
from shared.domain.change import Change
from shared.domain.commit import StepRecord, milliseconds
from shared.domain.prices import cost_usd
from shared.ports.model import ModelReply


def record_call(
    change: Change,
    mind: Mind,
    reply: ModelReply,
    *,
    kind: Literal["plan", "llm"],
    attempt: int,
    started: datetime,
) -> None:
    """In the name, and at the price, of the model that answered. `started`: when the turn began to look; `attempt`:
    the engine's retry count. A fallback without a known price is charged to the cost budget at the first model's.
    """
    provider, model = reply.provider or mind.model.provider, reply.model or mind.model_name
    used, cost = reply.usage, cost_usd(provider, model, reply.usage)
    change.step(
        lambda number: StepRecord(
            step_number=number,
            kind=kind,
            name=model,
            started_at=started,
            completed_at=change.now,
            duration_ms=milliseconds(started, change.now),
            attempt=attempt,
            input_tokens=used.input,
            output_tokens=used.output,
            cached_input_tokens=used.cached_input,
            cost_usd=cost,
        )
    )
    for one in reply.passed_over:
        said = {"code": one.code, "wait_seconds": 0, "model": one.model, "answered_by": model}
        change.event("llm.retried", said)
    before = change.head.usage
    total = before.cost_usd + cost if before.cost_usd is not None and cost is not None else None
    sums = {
        "input_tokens": before.input_tokens + used.input,
        "output_tokens": before.output_tokens + used.output,
        "cached_input_tokens": before.cached_input_tokens + used.cached_input,
        "llm_calls": before.llm_calls + 1,
        "cost_usd": round(total, 6) if total is not None else None,
    }
    charged = cost if cost is not None else cost_usd(mind.model.provider, mind.model_name, used)
    spent = round(spent_usd(change.head) + (charged or 0.0), 6)
    change.set(
        usage=before.model_copy(update=sums),
        budget=change.head.budget.model_copy(update={"charged_usd": spent}),
    )
