"""A session's budgets: what the next model call may use, what it has used, and what is left (docs/design/budgets.md).

Before a call, its tokens and the most that they may cost are reserved. The turn's commit charges the tokens that the
provider counted. An attempt that gave no usage may have to be paid for: it is charged at its reservation, and is
counted before the next call is made. At a limit the run asks a person instead of calling the model: nothing is killed.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from math import ceil, floor, fsum
from typing import TYPE_CHECKING, Any, NamedTuple

from acta.engine.errors import (
    ModelRefused,
    PoisonedSession,
    ProviderTimeout,
    SessionError,
    StreamBroken,
    TransientError,
)
from acta.engine.limits.shares import parts_of
from acta.engine.log.beside import ANSWERED, Attempt, AttemptStore, open_attempts
from acta.engine.log.commit import Change, StepRecord, milliseconds
from acta.engine.log.events import BudgetWarning, ModelRetried
from acta.engine.log.head import BYTES_PER_TOKEN, Budget, Head
from acta.engine.models.providers import (
    NamedModel,
    charged_tokens,
    cost_usd,
    dearest_usd,
    is_priced,
    most_output,
    most_usd,
)
from acta.engine.usage.tally import ModelUse

if TYPE_CHECKING:  # most functions show budgets and ask no model
    from acta.engine.models.model import ModelReply

MIN_OUTPUT_TOKENS = 256
"""A call that may write less than this is not made."""
ROUNDING = 1e-9
"""US dollars by which a sum of reservations that were made to fit exactly may exceed its limit."""
WARN_AT = 0.8
"""The share of a limit at which the warning is due."""
MARGIN = 0.9
"""A measured number of bytes per token is reduced to this share, so that the next estimate is high, not low."""
MIN_BYTES_PER_TOKEN = 0.25
"""A lower measurement is not believed: the provider must have counted something other than the request."""
VANISHED = "VANISHED"
"""The error of an attempt of which nothing came back: its worker died, or was still at it when another took over."""


class CallReservation(NamedTuple):
    """What is reserved for a call. `input`: tokens, an estimate. `output`: the call's `max_tokens`. `usd`: the most
    that both may cost; None: no price is known. `unpriced`: a model that may answer has no known price.
    """

    input: int
    output: int
    usd: float | None = None
    unpriced: bool = False

    @property
    def tokens(self) -> int:
        return self.input + self.output

    @property
    def day_usd(self) -> float:
        """What it takes of the tenant's day, in which a model without a known price counts as the dearest one."""
        known = self.usd or 0.0
        if self.usd is not None and not self.unpriced:
            return known
        return max(known, dearest_usd(self.input, self.output))


def all_tokens(budget: Budget) -> int:
    """The tokens charged to the session and its children since it began, estimates included."""
    return budget.charged_tokens + budget.vanished_tokens + budget.children_tokens


def tokens_used(head: Head) -> int:
    """The tokens charged to the token budget in the running window."""
    return all_tokens(head.budget) - head.budget.window_base


def tokens_left(head: Head) -> int:
    """What is left of the token budget; never negative."""
    return max(0, head.budget.token_budget - tokens_used(head))


def reserved(head: Head) -> tuple[int, float]:
    """The tokens and US dollars of the session's budget that its children may still use."""
    at_work = head.children_at_work
    return sum(child.tokens for child in at_work), fsum(child.usd or 0.0 for child in at_work)


def renewed(budget: Budget, now: datetime, window: float) -> Budget:
    """The budget for a call that begins now. If the last window has ended, a new one begins.

    `window`: seconds; 0: there are none."""
    is_running = budget.window_ends is not None and now < budget.window_ends
    if not window or is_running or not budget.renews:
        return budget
    ends = now + timedelta(seconds=window)
    if budget.window_ends is None:  # tokens used before the first window count in it
        return budget.model_copy(update={"window_ends": ends})
    return budget.model_copy(update={"window_ends": ends, "window_base": all_tokens(budget), "warned": False})


def spent_usd(head: Head) -> float:
    """US dollars charged to the cost budget, for the session and its children."""
    return round(head.budget.charged_usd + head.budget.children_usd, 6)


class PendingCharges(NamedTuple):
    """What attempts that no commit has charged yet may cost."""

    tokens: int = 0
    usd: float = 0.0
    day_usd: float = 0.0
    """US dollars of the tenant's day."""

    @classmethod
    def of(cls, attempts: Iterable[Attempt]) -> "PendingCharges":
        known = tuple(attempts)
        day_usd = 0.0
        for one in (each for each in known if each.billed):
            unpriced = not is_priced(one.provider, one.model)
            reserved = CallReservation(one.input_tokens, one.output_tokens, one.cost_usd, unpriced)
            day_usd += one.billed * reserved.day_usd
        return cls(
            sum(one.estimated_tokens for one in known),
            sum(one.estimated_usd for one in known),
            day_usd,
        )


NOTHING_PENDING = PendingCharges()


def reserve(
    head: Head,
    request_bytes: int,
    max_output: int,
    models: Sequence[NamedModel] = (),
    pending: PendingCharges = NOTHING_PENDING,
) -> CallReservation | None:
    """What the next call may use; None: the budget does not allow another call.

    `request_bytes`: the length of the request. `max_output`: the most tokens that the answer should have, which is
    `Turn.max_output_tokens` for a turn. `models`: those that may answer.
    """
    wanted = int(request_bytes / head.budget.bytes_per_token) + 1
    output = min(max_output, tokens_left(head) - pending.tokens - wanted)
    cost = head.budget.cost_budget_usd
    if cost is not None:
        left = cost - spent_usd(head) - pending.usd
        output = min(output, most_output(models, wanted, left, max_output)) if left > 0 else -1
    if output < min(MIN_OUTPUT_TOKENS, max_output):
        return None
    unpriced = not all(is_priced(*each) for each in models)
    return CallReservation(wanted, output, most_usd(models, wanted, output), unpriced)


def carries(head: Head, pending: PendingCharges) -> bool:
    """Whether both budgets carry all that these attempts may cost."""
    cost = head.budget.cost_budget_usd
    has_dollars = cost is None or spent_usd(head) + pending.usd <= cost + ROUNDING
    return has_dollars and pending.tokens <= tokens_left(head)


def fits_new_window(head: Head, request_bytes: int, max_output: int) -> bool:
    """Whether a window in which nothing is used yet would carry the call."""
    wanted = int(request_bytes / head.budget.bytes_per_token) + 1
    return head.budget.token_budget - wanted >= min(MIN_OUTPUT_TOKENS, max_output)


def lacks_money(
    head: Head, request_bytes: int, max_output: int, models: Sequence[NamedModel], pending: PendingCharges
) -> bool:
    """Whether the dollars carry no call, however many tokens are left."""
    endless = head.budget.model_copy(
        update={"token_budget": all_tokens(head.budget) + pending.tokens + 10**12}
    )
    rich = head.model_copy(update={"budget": endless})
    return reserve(rich, request_bytes, max_output, models, pending) is None


class NeededLimits(NamedTuple):
    """The limits that the next call needs if it writes all of its output. None: that limit is high enough as it is."""

    token_budget: int | None
    cost_budget_usd: float | None
    """Rounded up to whole cents."""


def needed_limits(
    head: Head, request_bytes: int, max_output: int, models: Sequence[NamedModel]
) -> NeededLimits:
    """Which limits are too low for the next call, and how high they would have to be. Nothing may be pending."""
    wanted = int(request_bytes / head.budget.bytes_per_token) + 1
    tokens = dollars = None
    if tokens_left(head) - wanted < min(MIN_OUTPUT_TOKENS, max_output):
        tokens = tokens_used(head) + wanted + max_output
    limit = head.budget.cost_budget_usd
    if limit is not None and lacks_money(head, request_bytes, max_output, models, NOTHING_PENDING):
        whole_call = spent_usd(head) + (most_usd(models, wanted, max_output) or 0.0)
        cents = ceil(round(whole_call * 100, 4))
        dollars = max(cents, floor(round(limit * 100, 4)) + 1) / 100
    return NeededLimits(tokens, dollars)


def calibrated(budget: Budget, request_bytes: int, input_tokens: int) -> Budget:
    """Measures the bytes per token in a finished call, for the next estimate. `input_tokens`: as the provider
    counted.
    """
    if not input_tokens or not request_bytes:
        return budget
    measured = min(BYTES_PER_TOKEN, max(MIN_BYTES_PER_TOKEN, MARGIN * request_bytes / input_tokens))
    return budget.model_copy(update={"bytes_per_token": round(measured, 3)})


def warning_due(head: Head) -> bool:
    """Whether most of the tokens or of the dollars are used, and no warning was given since the limits were set."""
    budget = head.budget
    if budget.warned:
        return False
    cost = budget.cost_budget_usd
    most_is_spent = cost is not None and spent_usd(head) >= cost * WARN_AT
    return most_is_spent or tokens_used(head) >= budget.token_budget * WARN_AT


def with_limits(budget: Budget, token_budget: int | None, cost_budget_usd: float | None) -> Budget:
    """The budget with new limits; None: that limit stays. The warning may be given again."""
    return budget.model_copy(
        update={
            "token_budget": token_budget if token_budget is not None else budget.token_budget,
            "cost_budget_usd": cost_budget_usd if cost_budget_usd is not None else budget.cost_budget_usd,
            "warned": False,
        }
    )


def with_outcome(
    attempt: Attempt, answer: "ModelReply | SessionError | TransientError", now: datetime
) -> Attempt:
    """The attempt with what came of it. Silence and half an answer come without a count and may have to be paid for. A
    refusal after which another model is asked comes with one, and is charged at it."""
    if isinstance(answer, ModelRefused) and answer.usage is not None:
        model, used = NamedModel(attempt.provider, attempt.model), answer.usage
        cost, tokens = cost_usd(*model, used), charged_tokens(model, used)
        counted = {"input_tokens": tokens - used.output, "output_tokens": used.output}
        if cost is not None:
            counted["cost_usd"] = cost
        return attempt.model_copy(update={**counted, "outcome": answer.code, "billed": 1, "ended": now})
    outcome = answer.code if isinstance(answer, SessionError | TransientError) else ANSWERED
    billed = int(isinstance(answer, ProviderTimeout | StreamBroken))
    return attempt.model_copy(update={"outcome": outcome, "billed": billed, "ended": now})


def attempts_so_far(store: AttemptStore, head: Head) -> tuple[Attempt, ...] | None:
    """The attempts that a commit that ends a run has to charge. None: the marker cannot be read now, and the session's
    next run charges them."""
    try:
        return store.read(head.tenant, head.session_id).attempts
    except (TransientError, PoisonedSession):
        return None


def charge_attempts(
    change: Change, attempts: Iterable[Attempt] | None, window: float, *, with_running: bool = False
) -> None:
    """Charges attempts that gave no usage at what they may have cost, to the session and to the tenant's hour, each
    once. Each gets a row of the step log, before the row of the reply.

    Every call passes here before it is settled, so the token window that it was made in begins here. `attempts` None:
    they cannot be read. `window`: in seconds. `with_running`: also charges the attempt whose answer is being made in
    the background, because nobody will fetch it.
    """
    if attempts is None:
        keep_what_is_uncharged(change)
        return
    response = change.head.background
    running = response.attempt_id if response is not None and not with_running else ""
    known = tuple(one for one in attempts if one.attempt_id != running)
    if not known:
        return
    budget = change.head.budget
    for one in open_attempts(change.head, known):
        budget = renewed(budget, one.started, window)
        if one.outcome != ANSWERED:
            change.failed_attempt(_row(one, change))
        estimated = PendingCharges.of((one,))
        budget = _with_estimate(budget, estimated.tokens, estimated.usd)
        charge_leases(change, estimated.tokens, estimated.day_usd)
    settled = tuple(one.attempt_id for one in known)
    change.set(budget=budget.model_copy(update={"settled": settled}))


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


def _with_estimate(budget: Budget, tokens: int, usd: float) -> Budget:
    """The budget, charged with an estimate where the provider gave no count."""
    if not tokens and not usd:
        return budget
    charged = {
        "vanished_tokens": budget.vanished_tokens + tokens,
        "charged_usd": round(budget.charged_usd + usd, 6),
    }
    return budget.model_copy(update=charged)


def keep_what_is_uncharged(change: Change) -> None:
    """For a commit that may end a run without knowing what the run's lost calls have used. The rest of its lease of the
    tenant's hour and day is not given back: others would spend what those calls may have used."""
    change.set(lease=None, day_lease=None)


def charge_leases(change: Change, tokens: int, usd: float) -> None:
    """Charges the session's leases of the tenant's hour and day. If these are over, this does no harm."""
    lease, day_lease = change.head.lease, change.head.day_lease
    if lease is not None and tokens:
        change.set(lease=lease.charged(tokens))
    if day_lease is not None and usd:
        change.set(day_lease=day_lease.charged(parts_of(usd)))


def settle_call(
    change: Change, attempts: tuple[Attempt, ...], window: float, asked: NamedModel, reply: "ModelReply"
) -> None:
    """Charges a call that was answered: the attempts before it, and its own tokens. If another worker took the call for
    vanished and charged its reservation, that charge is taken back. `attempts`: the call's own is the last. `window`:
    of the token budget, in seconds."""
    own = attempts[-1]
    was_charged = own.attempt_id in change.head.budget.settled
    charge_attempts(change, attempts, window)
    taken_back = own.model_copy(update={"billed": own.billed - 1}) if was_charged else None
    record_call(change, asked, reply, own, taken_back)
    if warning_due(change.head):
        warn(change)


def warn(change: Change) -> None:
    """Adds the event that the budget is nearly used up, once per budget. No limit is reached without this warning."""
    head = change.head
    if not head.budget.warned:
        change.set(budget=head.budget.model_copy(update={"warned": True}))
        change.event(BudgetWarning(**figures(head)))


def record_call(
    change: Change,
    asked: NamedModel,
    reply: "ModelReply",
    attempt: Attempt,
    taken_back: Attempt | None = None,
) -> None:
    """Adds a model call to the step log, to the session's sums and to the tenant's hour, from the same numbers
    (docs/design/api.md 25).

    The call stands under the name, and at the price, of the model that answered. A fallback without a known price is
    charged to the cost budget at the price of the first, and to the tenant's day at that of the dearest known model.
    `attempt`: the one that was answered. `taken_back`: what had been charged for it, as negative amounts; None:
    nothing.
    """
    answered = NamedModel(reply.provider or asked.provider, reply.model or asked.model)
    model, used, cost = answered.model, reply.usage, cost_usd(*answered, reply.usage)
    tokens, head = charged_tokens(answered, used), change.head
    started, ended = attempt.started, attempt.ended or change.now
    charged = cost if cost is not None else cost_usd(*asked, used)
    estimated = PendingCharges.of((taken_back,)) if taken_back is not None else NOTHING_PENDING
    if taken_back is not None and head.is_over and head.parent is not None:
        # Its parent is charged what the run had used at its end, so that stays what this session is charged, too.
        estimated = estimated._replace(tokens=-tokens, usd=-(charged or 0.0))
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
            estimated_tokens=estimated.tokens,
            estimated_cost_usd=estimated.usd,
        )
    )
    for one in reply.failed_models:
        why = {"category": one.category} if one.category else {}
        change.event(ModelRetried(code=one.code, wait_seconds=0, model=one.model, answered_by=model, **why))
    before = head.usage
    total = before.cost_usd + cost if before.cost_usd is not None and cost is not None else None
    sums = {
        "input_tokens": before.input_tokens + used.input,
        "output_tokens": before.output_tokens + used.output,
        "cached_input_tokens": before.cached_input_tokens + used.cached_input,
        "llm_calls": before.llm_calls + 1,
        "cost_usd": round(total, 6) if total is not None else None,
    }
    charges = {
        "vanished_tokens": head.budget.vanished_tokens + estimated.tokens,
        "charged_usd": round(head.budget.charged_usd + estimated.usd + (charged or 0.0), 6),
        "charged_tokens": head.budget.charged_tokens + tokens,
    }
    use = ModelUse(
        calls=1,
        input=used.input,
        cached=used.cached_input,
        output=used.output,
        microdollars=round((cost or 0.0) * 1_000_000),
        unpriced=int(cost is None),
    )
    change.set(
        usage=before.model_copy(update=sums),
        budget=head.budget.model_copy(update=charges),
        tally=head.tally.with_call(model, use),
    )
    of_day = cost if cost is not None else dearest_usd(used.input, used.output)
    charge_leases(change, estimated.tokens + tokens, estimated.day_usd + of_day)


def figures(head: Head) -> dict[str, Any]:
    return {
        "total_tokens": tokens_used(head),
        "token_budget": head.budget.token_budget,
        "cost_usd": head.usage.cost_usd if head.budget.cost_budget_usd is None else spent_usd(head),
        "cost_budget_usd": head.budget.cost_budget_usd,
    }
