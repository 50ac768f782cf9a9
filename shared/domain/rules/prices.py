"""What a model call costs.

All numbers are integers. Prices are thousandths of a dollar per million tokens, so tokens times price are billionths of
a dollar. The sum is rounded once, half up, to millionths.
"""

import re
from typing import Protocol

from shared.domain.rules.price_list import PRICES, Price, Rates

FREE_PROVIDER = "offline"
"""The provider whose models cost nothing."""

_SNAPSHOT = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})\Z")
_BILLIONTHS = 1_000


class Tokens(Protocol):
    """The tokens of a call. `input` includes `cached_input` (read from the cache) and `cache_write` (written to it)."""

    @property
    def input(self) -> int: ...
    @property
    def output(self) -> int: ...
    @property
    def cached_input(self) -> int: ...
    @property
    def cache_write(self) -> int: ...


def cost_usd(provider: str, model: str, used: Tokens) -> float | None:
    """US dollars, with six decimals; None: the model's price is unknown."""
    cost = cost_microdollars(provider, model, used)
    return None if cost is None else cost / 1_000_000


def cost_microdollars(provider: str, model: str, used: Tokens) -> int | None:
    """Millionths of a US dollar; None: the model's price is unknown."""
    if provider == FREE_PROVIDER:
        return 0
    price = price_of(provider, model)
    if price is None:
        return None
    rates = _rates(price, used.input)
    read = min(used.cached_input, used.input)
    written = min(used.cache_write, used.input - read)
    billionths = (
        (used.input - read - written) * rates.input
        + read * rates.cached_input
        + written * rates.cache_write
        + used.output * rates.output
    )
    return (billionths + _BILLIONTHS // 2) // _BILLIONTHS


def price_of(provider: str, model: str) -> Price | None:
    """The price of the model; None: unknown. A dated snapshot (`…-2026-05-01`) has the price of the name without the
    date. The price of a similar model is never taken.
    """
    prices = PRICES.get(provider, {})
    return prices.get(model) or prices.get(_SNAPSHOT.sub("", model))


def is_priced(provider: str, model: str) -> bool:
    """Whether the cost of a call is known."""
    return provider == FREE_PROVIDER or price_of(provider, model) is not None


def _rates(price: Price, prompt_tokens: int) -> Rates:
    if price.long is not None and price.long_above is not None and prompt_tokens > price.long_above:
        return price.long
    return price.rates
