"""A session's budget: checked before a model call, settled in the commit after it (design §5)."""

from datetime import datetime
from typing import Any, Literal, NamedTuple

from shared.agent.budget.commit_question import ask_at_limit
from shared.agent.interventions.opening import AskingRules, open_question, wait_for_people
from shared.agent.session.engine_decision import Timeouts
from shared.agent.session.repository import SessionRepository
from shared.agent.session.session import Session
from shared.domain.errors import ActaError, ProviderOverloaded, ProviderTimeout, StreamBroken
from shared.domain.rules import budget
from shared.domain.rules.budget import Reservation, spent_usd
from shared.domain.rules.prices import cost_usd
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision, Position, StepRecord, milliseconds
from shared.domain.session.head import Head
from shared.ports.model import ModelReply, ModelRequest


class SizedRequest(NamedTuple):
    """A request, and the bytes that its tokens are estimated from."""

    request: ModelRequest
    bytes: int


class Bill(NamedTuple):
    """What one call may cost: its reservation, the bytes that was estimated from, and how many attempts before it
    vanished and may have been paid for.
    """

    reservation: Reservation
    bytes: int
    vanished: int


def affordable(head: Head, asked: SizedRequest) -> tuple[ModelRequest, Reservation] | None:
    """The request with no more output than the budget carries; None: not even a small one."""
    reservation = budget.reserve(head, asked.bytes, asked.request.max_tokens)
    if reservation is None:
        return None
    return asked.request._replace(max_tokens=reservation.output), reservation


def ask_for_budget(
    repository: SessionRepository,
    session: Session,
    at: Position,
    timeouts: Timeouts,
    rules: AskingRules,
    asked: SizedRequest,
) -> Decision:
    """Asks a person for a budget that carries `asked`. Raises Fenced."""
    needed = budget.needed_token_budget(session.head, asked.bytes, asked.request.max_tokens)
    # asked anew after each answer that does not help: not one key a turn
    kind = f"budget-{session.head.last_seq}"
    return ask_at_limit(
        repository, session, at, kind, timeouts, lambda change: open_budget_question(change, rules, needed)
    )


def open_budget_question(change: Change, rules: AskingRules, needed: int | None = None) -> None:
    """`needed`: the token budget that the next call takes, where it is known."""
    more: dict[str, Any] = {"token_budget_needed": needed} if needed is not None else {}
    text = "The session's budget does not carry another call."
    open_question(change, "budget_exceeded", text, rules, **_figures(change.head), **more)
    wait_for_people(change)


def unanswered_calls(answer: ModelReply | ActaError) -> int:
    """How many models were asked, gave no answer with a count of its tokens, and may have to be paid for all the
    same.
    """
    match answer:
        case ModelReply():
            return sum(one.unanswered for one in answer.failed_models)
        case ProviderOverloaded():
            return answer.unanswered
        case ProviderTimeout() | StreamBroken():
            return 1
        case _:
            return 0


def charge_vanished(change: Change, bill: Bill) -> None:
    """Charges vanished attempts at their reservation, to the session and to the tenant's hour."""
    if bill.vanished:
        before, lost = change.head.budget, bill.vanished * bill.reservation.tokens
        change.set(budget=before.model_copy(update={"vanished_tokens": before.vanished_tokens + lost}))
        charge_lease(change, lost)


def charge_lease(change: Change, tokens: int) -> None:
    """Charges the tenant's hour. A lease of an hour that is over takes it without harm."""
    lease = change.head.lease
    if lease is not None and tokens:
        change.set(lease=lease.charged(tokens))


def calibrate(change: Change, bill: Bill, input_tokens: int) -> None:
    """Takes in what the call showed about how many bytes a token has."""
    change.set(budget=budget.calibrated(change.head.budget, bill.bytes, input_tokens))


def warn_if_due(change: Change) -> None:
    """Adds the event that the budget is nearly used up, once per budget."""
    head = change.head
    if budget.warning_due(head):
        change.set(budget=head.budget.model_copy(update={"warned": True}))
        change.event("budget.warning", _figures(head))


def record_call(
    change: Change,
    asked: tuple[str, str],
    reply: ModelReply,
    *,
    kind: Literal["plan", "llm"],
    attempt: int,
    started: datetime,
) -> None:
    """Adds a model call to the step log and to the session's sums, from the same numbers (design §3).

    `asked`: provider and name of the model that was asked. The call stands under the name, and at the price, of the
    model that answered. A fallback without a known price is charged to the cost budget at the price of the first.
    `attempt`: the engine's retry count. `started`: when the turn began to look.
    """
    provider, model = reply.provider or asked[0], reply.model or asked[1]
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
    for one in reply.failed_models:
        data = {"code": one.code, "wait_seconds": 0, "model": one.model, "answered_by": model}
        change.event("llm.retried", data)
    before = change.head.usage
    total = before.cost_usd + cost if before.cost_usd is not None and cost is not None else None
    sums = {
        "input_tokens": before.input_tokens + used.input,
        "output_tokens": before.output_tokens + used.output,
        "cached_input_tokens": before.cached_input_tokens + used.cached_input,
        "llm_calls": before.llm_calls + 1,
        "cost_usd": round(total, 6) if total is not None else None,
    }
    charged = cost if cost is not None else cost_usd(*asked, used)
    spent = round(spent_usd(change.head) + (charged or 0.0), 6)
    change.set(
        usage=before.model_copy(update=sums),
        budget=change.head.budget.model_copy(update={"charged_usd": spent}),
    )


def _figures(head: Head) -> dict[str, Any]:
    return {
        "total_tokens": budget.tokens_used(head),
        "token_budget": head.budget.token_budget,
        "cost_usd": head.usage.cost_usd if head.budget.cost_budget_usd is None else budget.spent_usd(head),
        "cost_budget_usd": head.budget.cost_budget_usd,
    }
