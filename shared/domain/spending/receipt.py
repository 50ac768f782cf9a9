"""A session's receipt: what its models cost, counted, and what AWS asks for it, estimated (ADR 114). A price that is
unknown makes unknown what it is part of, never 0.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from shared.domain.session.head import Head
from shared.domain.spending.aws_estimate import AwsEstimate, AwsRates, estimated, total_usd
from shared.domain.spending.tally import ModelUse

NOT_COUNTED = (
    "files and results that are larger or smaller than the bench's 2 KB, and what retries and lost attempts add",
    "looks at an answer in the background and at a server's task, polls, the tenant's limits, recovery, notifications",
    "model calls without an answer: they are in the budget as vanished_tokens",
    "the gateway, secrets, logs, traces, metrics, indexes of the table and what is stored",
    "what tools cost where they run",
)
"""Told with each receipt."""


class Receipt(NamedTuple):
    """US dollars; None: a price is unknown. `models`: what each was used for, by its name."""

    models: Mapping[str, ModelUse]
    models_usd: float | None
    aws: AwsEstimate

    @property
    def total_usd(self) -> float | None:
        return total_usd(self.models_usd, self.aws.usd)


def receipt_of(head: Head, rates: AwsRates) -> Receipt:
    tally = head.tally
    aws = estimated(tally.done, head.usage.llm_calls, rates)
    return Receipt(tally.models, models_usd(tally.models.values()), aws)


def models_usd(uses: Iterable[ModelUse]) -> float | None:
    total = ModelUse()
    for use in uses:
        total = total.plus(use)
    return None if total.unpriced else total.microdollars / 1_000_000
