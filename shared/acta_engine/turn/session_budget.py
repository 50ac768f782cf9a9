"""A session's budget: checked before a model call, settled in the commit after it. At a limit the run asks a
person instead of calling the model: nothing is killed (design §5).
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from acta_engine.errors import (
    PoisonedSession,
    ProviderTimeout,
    SessionError,
    StreamBroken,
    TransientError,
)
from acta_engine.log.attempt import ANSWERED, Attempt, open_attempts
from acta_engine.log.attempts import AttemptStore
from acta_engine.log.change import Change
from acta_engine.log.commit import StepRecord, milliseconds
from acta_engine.log.events import BudgetWarning, ModelRetried
from acta_engine.log.head import Head
from acta_engine.models.model import ModelReply
from acta_engine.models.prices import NamedModel, charged_tokens, cost_usd
from acta_engine.people.opening import AskingRules, open_question, wait_for_people
from acta_engine.turn import budget
from acta_engine.turn.budget import NeededLimits, spent_usd
from acta_engine.usage.tally import ModelUse

VANISHED = "VANISHED"
"""The error of an attempt of which nothing came back: its worker died, or was still at it when another took over."""


def open_budget_question(change: Change, rules: AskingRules, needed: NeededLimits) -> None:
    """The context has `token_budget_needed` or `cost_budget_usd_needed` for each limit that is too low for the call."""
    more = {f"{limit}_needed": value for limit, value in needed._asdict().items() if value is not None}
    text = "The session's budget does not carry another call."
    open_question(change, "budget_exceeded", text, rules, **_figures(change.head), **more)
    wait_for_people(change)


def with_outcome(
    attempt: Attempt, answer: ModelReply | SessionError | TransientError, now: datetime
) -> Attempt:
    """The attempt with what came of it. Silence and half an answer may have to be paid for, and say no count."""
    outcome = ANSWERED if isinstance(answer, ModelReply) else answer.code
    billed = int(isinstance(answer, ProviderTimeout | StreamBroken))
    return attempt.model_copy(update={"outcome": outcome, "billed": billed, "ended": now})


def attempts_so_far(store: AttemptStore, head: Head) -> tuple[Attempt, ...] | None:
    """What a commit that ends a run charges, so far as it is open. None: the marker cannot be read now, and the
    session's next run charges it.
    """
    try:
        return store.read(head.tenant, head.session_id).attempts
    except (TransientError, PoisonedSession):
        return None


def charge_attempts(
    change: Change, attempts: Iterable[Attempt] | None, window: float, *, with_running: bool = False
) -> None:
    """Charges what attempts may have cost that gave no usage, to the session and to the tenant's hour, each once: a row
    of the step log for each. It comes before the row of the reply.

    Every call passes here before it is settled, so the token window that it was made in begins here. `attempts` None:
    they cannot be read. `window`: in seconds. `with_running`: also the one whose answer is being made in the
    background, because nobody will fetch it.
    """
    if attempts is None:
        keep_what_is_uncharged(change)
        return
    response = change.head.background
    running = response.attempt_id if response is not None and not with_running else ""
    known = tuple(one for one in attempts if one.attempt_id != running)
    for one in open_attempts(change.head, known):
        change.set(budget=budget.renewed(change.head, one.started, window))
        if one.outcome != ANSWERED:
            change.failed_attempt(_row(one, change))
        _estimate(change, one.estimated_tokens, one.estimated_usd)
    if known:
        settled = tuple(one.attempt_id for one in known)
        change.set(budget=change.head.budget.model_copy(update={"settled": settled}))


def _row(one: Attempt, change: Change) -> StepRecord:
    ended = one.ended or one.started
    return StepRecord(
        step_number=change.next_step,
        kind=one.kind,
        name=one.model,
        started_at=one.started,
        completed_at=ended,
        duration_ms=milliseconds(one.started, ended),
        attempt=one.number,
        cost_usd=0.0,
        error=one.outcome or VANISHED,
        estimated_tokens=one.estimated_tokens,
        estimated_cost_usd=one.estimated_usd,
    )


def _estimate(change: Change, tokens: int, usd: float) -> None:
    before = change.head.budget
    charged = {
        "vanished_tokens": before.vanished_tokens + tokens,
        "charged_usd": round(spent_usd(change.head) + usd, 6),
    }
    change.set(budget=before.model_copy(update=charged))
    charge_lease(change, tokens)


def keep_what_is_uncharged(change: Change) -> None:
    """For a commit that may end a run without knowing what the run's lost calls have used: what is left of its lease of
    the tenant's hour is not given back, or others would spend it once more.
    """
    change.set(lease=None)


def charge_lease(change: Change, tokens: int) -> None:
    """Charges the tenant's hour. A lease of an hour that is over takes it without harm."""
    lease = change.head.lease
    if lease is not None and tokens:
        change.set(lease=lease.charged(tokens))


def settle_call(
    change: Change, attempts: tuple[Attempt, ...], window: float, asked: NamedModel, reply: ModelReply
) -> None:
    """Charges a call that was answered: the attempts before it, and its own tokens. Where another worker took it for
    vanished and charged its reservation, that is taken back. `attempts`: its own is the last. `window`: of the token
    budget, in seconds.
    """
    own = attempts[-1]
    was_charged = own.attempt_id in change.head.budget.settled
    charge_attempts(change, attempts, window)
    taken_back = own.model_copy(update={"billed": own.billed - 1}) if was_charged else None
    record_call(change, asked, reply, own, taken_back)
    charge_lease(change, charged_tokens(_answered_by(asked, reply), reply.usage))
    if budget.warning_due(change.head):
        warn(change)


def warn(change: Change) -> None:
    """Adds the event that the budget is nearly used up, once per budget. A limit is never met without it."""
    head = change.head
    if not head.budget.warned:
        change.set(budget=head.budget.model_copy(update={"warned": True}))
        change.event(BudgetWarning(**_figures(head)))


def record_call(
    change: Change, asked: NamedModel, reply: ModelReply, attempt: Attempt, taken_back: Attempt | None = None
) -> None:
    """Adds a model call to the step log and to the session's sums, from the same numbers (design §3).

    The call stands under the name, and at the price, of the model that answered. A fallback without a known price is
    charged to the cost budget at the price of the first. `attempt`: the one that was answered. `taken_back`: what had
    been charged for it, below 0; None: nothing.
    """
    provider, model = _answered_by(asked, reply)
    used, cost = reply.usage, cost_usd(provider, model, reply.usage)
    started, ended = attempt.started, attempt.ended or change.now
    estimated = (
        (taken_back.estimated_tokens, taken_back.estimated_usd) if taken_back is not None else (0, 0.0)
    )
    change.step(
        StepRecord(
            step_number=change.next_step,
            kind=attempt.kind,
            name=model,
            started_at=started,
            completed_at=ended,
            duration_ms=milliseconds(started, ended),
            attempt=attempt.number,
            input_tokens=used.input,
            output_tokens=used.output,
            cached_input_tokens=used.cached_input,
            cost_usd=cost,
            estimated_tokens=estimated[0],
            estimated_cost_usd=estimated[1],
        )
    )
    _estimate(change, *estimated)
    for one in reply.failed_models:
        change.event(ModelRetried(code=one.code, wait_seconds=0, model=one.model, answered_by=model))
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
    of_budget = change.head.budget
    charges = {
        "charged_usd": round(spent_usd(change.head) + (charged or 0.0), 6),
        "charged_tokens": of_budget.charged_tokens + charged_tokens(NamedModel(provider, model), used),
    }
    change.set(usage=before.model_copy(update=sums), budget=of_budget.model_copy(update=charges))
    use = ModelUse(
        calls=1,
        input=used.input,
        cached=used.cached_input,
        output=used.output,
        microdollars=round((cost or 0.0) * 1_000_000),
        unpriced=int(cost is None),
    )
    change.set(tally=change.head.tally.with_call(model, use))


def _answered_by(asked: NamedModel, reply: ModelReply) -> NamedModel:
    return NamedModel(reply.provider or asked.provider, reply.model or asked.model)


def _figures(head: Head) -> dict[str, Any]:
    return {
        "total_tokens": budget.tokens_used(head),
        "token_budget": head.budget.token_budget,
        "cost_usd": head.usage.cost_usd if head.budget.cost_budget_usd is None else budget.spent_usd(head),
        "cost_budget_usd": head.budget.cost_budget_usd,
    }
