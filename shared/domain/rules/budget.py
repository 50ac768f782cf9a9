"""What a call may cost before it is made, and what is left (design §5). Pure.

A call's reservation is a function of committed state (the request it leads to and the limits), so a repeated attempt
reserves the same and nothing has to be stored for it. When the turn commits, the reservation is settled: the tokens
the provider counted are charged, and every attempt that vanished, which may have been paid for, at its reservation.
"""

from typing import NamedTuple

from shared.domain.session.head import BYTES_PER_TOKEN, Budget, Head

MIN_OUTPUT_TOKENS = 256
"""A call that may not even write so much is not worth making."""
WARN_AT = 0.8
MARGIN = 0.9
LEAST_BYTES_PER_TOKEN = 0.25
"""A provider that counts more tokens than that counts something else; the next call can still be estimated."""


class Reservation(NamedTuple):
    """Tokens: `input` estimated, `output` the call's `max_tokens`."""

    input: int
    output: int

    @property
    def tokens(self) -> int:
        return self.input + self.output


def tokens_used(head: Head) -> int:
    return head.usage.total_tokens + head.budget.vanished_tokens


def tokens_left(head: Head) -> int:
    return max(0, head.budget.token_budget - tokens_used(head))


def spent_usd(head: Head) -> float:
    """What the cost budget is checked against, whether or not `usage.cost_usd` is wholly known. A session that an
    earlier release began has its sum there only.
    """
    return max(head.usage.cost_usd or 0.0, head.budget.charged_usd)


def reserve(head: Head, request_bytes: int, max_output: int) -> Reservation | None:
    """What the next call may use; None: the budget does not carry another call."""
    cost = head.budget.cost_budget_usd
    if cost is not None and spent_usd(head) >= cost:
        return None
    wanted = int(request_bytes / head.budget.bytes_per_token) + 1
    output = min(max_output, tokens_left(head) - wanted)
    return Reservation(wanted, output) if output >= min(MIN_OUTPUT_TOKENS, max_output) else None


def needed(head: Head, request_bytes: int, max_output: int) -> int:
    """The token budget with which the next call could be made in full."""
    return tokens_used(head) + int(request_bytes / head.budget.bytes_per_token) + 1 + max_output


def calibrated(budget: Budget, request_bytes: int, input_tokens: int) -> Budget:
    """Learns from a call how many bytes a token has, on the side of too few; never more than at the beginning."""
    if not input_tokens or not request_bytes:
        return budget
    shown = min(BYTES_PER_TOKEN, max(LEAST_BYTES_PER_TOKEN, MARGIN * request_bytes / input_tokens))
    return budget.model_copy(update={"bytes_per_token": round(shown, 3)})


def warning_due(head: Head) -> bool:
    """Once per limit: when most of the tokens or of the money is used."""
    budget = head.budget
    if budget.warned:
        return False
    cost = budget.cost_budget_usd
    dear = cost is not None and spent_usd(head) >= cost * WARN_AT
    return dear or tokens_used(head) >= budget.token_budget * WARN_AT


def raised(budget: Budget, token_budget: int | None, cost_budget_usd: float | None) -> Budget:
    """New limits; the warning may come again."""
    return budget.model_copy(
        update={
            "token_budget": token_budget if token_budget is not None else budget.token_budget,
            "cost_budget_usd": cost_budget_usd if cost_budget_usd is not None else budget.cost_budget_usd,
            "warned": False,
        }
    )
