"""A session's budget: checked before a call is made, settled after it (design §5)."""

from datetime import datetime
from typing import Any, Literal, NamedTuple

from shared.agent.budget.gate import ask_at_limit
from shared.agent.interventions.opening import open_question, wait_for_people
from shared.agent.model_call.context import Mind
from shared.agent.session.session import Session
from shared.domain.errors import ActaError, ProviderOverloaded, ProviderTimeout, StreamBroken
from shared.domain.rules import budget
from shared.domain.rules.budget import Reservation, spent_usd
from shared.domain.rules.prices import cost_usd
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision, Position, StepRecord, milliseconds
from shared.domain.session.conversation import AssistantEntry, Entry
from shared.domain.session.head import Head
from shared.ports.model import ModelReply, ModelRequest


class Sized(NamedTuple):
    """A request and the bytes its tokens are estimated from, which take a walk over the whole conversation."""

    request: ModelRequest
    bytes: int


def sized(request: ModelRequest) -> Sized:
    tools = sum(len(tool.description) + len(str(tool.input_schema)) for tool in request.tools)
    entries = sum(map(_entry_bytes, request.entries))
    return Sized(request, len(request.system) + tools + entries + len(request.tail))


class Bill(NamedTuple):
    """A call's reservation, the bytes it was estimated from, and how many attempts before it vanished."""

    reservation: Reservation
    bytes: int
    vanished: int


def affordable(head: Head, asked: Sized) -> tuple[ModelRequest, Reservation] | None:
    """The request with no more output than the budget carries; None: not even a small one."""
    reservation = budget.reserve(head, asked.bytes, asked.request.max_tokens)
    if reservation is None:
        return None
    return asked.request._replace(max_tokens=reservation.output), reservation


def _entry_bytes(entry: Entry) -> int:
    calls = sum(len(str(call.input)) for call in entry.calls) if isinstance(entry, AssistantEntry) else 0
    return entry.content.bytes + calls


def charge_vanished(change: Change, bill: Bill) -> None:
    if bill.vanished:
        before, lost = change.head.budget, bill.vanished * bill.reservation.tokens
        change.set(budget=before.model_copy(update={"vanished_tokens": before.vanished_tokens + lost}))
        charge_lease(change, lost)


def lost(answer: ModelReply | ActaError) -> int:
    """Models that were asked, gave no answer that told its tokens, and may have to be paid for all the same."""
    match answer:
        case ModelReply():
            return sum(one.lost for one in answer.passed_over)
        case ProviderOverloaded():
            return answer.lost
        case ProviderTimeout() | StreamBroken():
            return 1
        case _:
            return 0


def learn(change: Change, bill: Bill, input_tokens: int) -> None:
    """What the call showed about how long a token is."""
    change.set(budget=budget.calibrated(change.head.budget, bill.bytes, input_tokens))


def charge_lease(change: Change, tokens: int) -> None:
    """What was used of the tenant's hour. A lease of an hour that is over takes it without harm."""
    lease = change.head.lease
    if lease is not None and tokens:
        change.set(lease=lease.charged(tokens))


def warn_if_due(change: Change) -> None:
    head = change.head
    if budget.warning_due(head):
        change.set(budget=head.budget.model_copy(update={"warned": True}))
        change.event("budget.warning", _figures(head))


def ask_for_budget(mind: Mind, session: Session, at: Position, asked: Sized) -> Decision:
    """The session's budget is used up."""
    needed = budget.needed(session.head, asked.bytes, asked.request.max_tokens)
    return ask_at_limit(
        mind.worker.repository,
        session,
        at,
        f"budget-{session.head.last_seq}",  # asked anew after each answer that does not help: not one key a turn
        mind.timeouts,
        lambda change: open_budget_question(mind, change, needed),
    )


def open_budget_question(mind: Mind, change: Change, needed: int | None = None) -> None:
    """`needed`: the token budget that the next call takes, where it is known."""
    more: dict[str, Any] = {"token_budget_needed": needed} if needed is not None else {}
    open_question(
        change,
        "budget_exceeded",
        "The session's budget does not carry another call.",
        mind.clock,
        mind.agent.interventions,
        **_figures(change.head),
        **more,
    )
    wait_for_people(change)


def _figures(head: Head) -> dict[str, Any]:
    return {
        "total_tokens": budget.tokens_used(head),
        "token_budget": head.budget.token_budget,
        "cost_usd": head.usage.cost_usd if head.budget.cost_budget_usd is None else budget.spent_usd(head),
        "cost_budget_usd": head.budget.cost_budget_usd,
    }


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
