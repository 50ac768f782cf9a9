"""A session's budgets: what the next model call may use, and what is left (docs/design/budgets.md). Pure functions.

Before a call, its tokens and the most that they may cost are reserved. The turn's commit charges the tokens that the
provider counted. An attempt that gave no usage may have to be paid for: it is charged at its reservation, and counts
already before the next call is made.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from math import ceil, floor
from typing import NamedTuple

from acta_engine.log.attempt import Attempt
from acta_engine.log.head import BYTES_PER_TOKEN, Budget, Head
from acta_engine.models.prices import NamedModel, most_output, most_usd

MIN_OUTPUT_TOKENS = 256
"""A call that may write less than this is not made."""
ROUNDING = 1e-9
"""US dollars. A sum of reservations that were made to fit exactly may be so much above."""
WARN_AT = 0.8
"""The share of a limit at which the warning is due."""
MARGIN = 0.9
"""A measured number of bytes per token is reduced to this share, so that the next estimate is high, not low."""
MIN_BYTES_PER_TOKEN = 0.25
"""A lower measurement is not believed: the provider counts something else than the request."""


class Reservation(NamedTuple):
    """What is reserved for a call. `input`: tokens, an estimate. `output`: the call's `max_tokens`. `usd`: the most
    that both may cost; None: no price is known.
    """

    input: int
    output: int
    usd: float | None = None

    @property
    def tokens(self) -> int:
        return self.input + self.output


def all_tokens(head: Head) -> int:
    """The tokens charged to the session since it began, estimates included."""
    return head.budget.charged_tokens + head.budget.vanished_tokens


def tokens_used(head: Head) -> int:
    """The tokens charged to the token budget in the running window."""
    return all_tokens(head) - head.budget.window_base


def tokens_left(head: Head) -> int:
    """What is left of the token budget; never negative."""
    return max(0, head.budget.token_budget - tokens_used(head))


def renewed(head: Head, now: datetime, window: float) -> Budget:
    """The budget as it is for a call that begins now: of a new window, where the last one has ended.

    `window`: seconds; 0: there are none.
    """
    budget = head.budget
    is_running = budget.window_ends is not None and now < budget.window_ends
    if not window or is_running:
        return budget
    ends = now + timedelta(seconds=window)
    if budget.window_ends is None:  # what was used before the first window counts in it
        return budget.model_copy(update={"window_ends": ends})
    return budget.model_copy(update={"window_ends": ends, "window_base": all_tokens(head), "warned": False})


def spent_usd(head: Head) -> float:
    """US dollars charged to the cost budget."""
    return head.budget.charged_usd


class Pending(NamedTuple):
    """What attempts that no commit has charged yet may cost."""

    tokens: int = 0
    usd: float = 0.0

    @classmethod
    def of(cls, attempts: Iterable[Attempt]) -> "Pending":
        known = tuple(attempts)
        return cls(sum(one.estimated_tokens for one in known), sum(one.estimated_usd for one in known))


NOTHING_PENDING = Pending()


def reserve(
    head: Head,
    request_bytes: int,
    max_output: int,
    models: Sequence[NamedModel] = (),
    pending: Pending = NOTHING_PENDING,
) -> Reservation | None:
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
    return Reservation(wanted, output, most_usd(models, wanted, output))


def carries(head: Head, pending: Pending) -> bool:
    """Whether both budgets carry all that these attempts may cost."""
    cost = head.budget.cost_budget_usd
    has_dollars = cost is None or spent_usd(head) + pending.usd <= cost + ROUNDING
    return has_dollars and pending.tokens <= tokens_left(head)


def fits_new_window(head: Head, request_bytes: int, max_output: int) -> bool:
    """Whether a window in which nothing is used yet would carry the call."""
    wanted = int(request_bytes / head.budget.bytes_per_token) + 1
    return head.budget.token_budget - wanted >= min(MIN_OUTPUT_TOKENS, max_output)


def lacks_money(
    head: Head, request_bytes: int, max_output: int, models: Sequence[NamedModel], pending: Pending
) -> bool:
    """Whether the dollars carry no call, however many tokens are left."""
    endless = head.budget.model_copy(update={"token_budget": all_tokens(head) + pending.tokens + 10**12})
    rich = head.model_copy(update={"budget": endless})
    return reserve(rich, request_bytes, max_output, models, pending) is None


class NeededLimits(NamedTuple):
    """The limits that the next call needs, each with all of its output. None: that limit is high enough as it is."""

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
