"""Usage in dollars: as a receipt, but of many sessions together. An unknown price makes unknown what it is part of."""

from typing import NamedTuple

from shared.domain.spending.aws_prices import UNITS_PER_USD, AwsPrices
from shared.domain.spending.usage import Amounts

_MB_MS_PER_GB_SECOND = 1_024 * 1_000


class UsageCost(NamedTuple):
    """US dollars; None: a price is unknown."""

    models_usd: float | None
    aws_usd: float | None

    @property
    def total_usd(self) -> float | None:
        if self.models_usd is None or self.aws_usd is None:
            return None
        return round(self.models_usd + self.aws_usd, 9)


def cost_of(amounts: Amounts, prices: AwsPrices, architecture: str) -> UsageCost:
    """`architecture`: of the functions, as the system names it."""
    return UsageCost(
        None if amounts.unpriced else round(amounts.microdollars / 1_000_000, 6),
        _aws(amounts, prices, architecture),
    )


def _aws(used: Amounts, prices: AwsPrices, architecture: str) -> float | None:
    """The divisor comes third: a price is of so many of them."""
    priced = (
        (used.transitions, prices.transition, 1),
        (used.invocations, prices.invocation, 1),
        (used.mb_ms, prices.gb_second(architecture), _MB_MS_PER_GB_SECOND),
        (used.wcu, prices.write_unit, 1),
        (used.half_rru, prices.read_unit, 2),
        (used.gets, prices.get, 1),
        (used.puts, prices.put, 1),
    )
    units = 0
    for count, price, of in priced:
        if count and price is None:
            return None
        units += count * (price or 0) // of
    return round(units / UNITS_PER_USD, 9)
