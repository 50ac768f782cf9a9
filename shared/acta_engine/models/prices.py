"""What a model call costs.

All numbers are integers. Prices are thousandths of a dollar per million tokens, so tokens times price are billionths of
a dollar. The sum is rounded once, half up, to millionths.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from acta_engine.models.providers import PROVIDERS, Price, Rates

_SNAPSHOT = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})\Z")
_BILLIONTHS = 1_000


class PricedTokens(Protocol):
    """The tokens of a call. `input` includes `cached_input` (read from the cache) and `cache_write` (written to it)."""

    @property
    def input(self) -> int: ...
    @property
    def output(self) -> int: ...
    @property
    def cached_input(self) -> int: ...
    @property
    def cache_write(self) -> int: ...


def cost_usd(provider: str, model: str, used: PricedTokens) -> float | None:
    """US dollars, with six decimals; None: the model's price is unknown."""
    cost = cost_microdollars(provider, model, used)
    return None if cost is None else cost / 1_000_000


def cost_microdollars(provider: str, model: str, used: PricedTokens) -> int | None:
    """Millionths of a US dollar; None: the model's price is unknown."""
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


class NamedModel(NamedTuple):
    """A model, and the provider that is asked for it."""

    provider: str
    model: str


def most_usd(models: Sequence[NamedModel], input_tokens: int, output_tokens: int) -> float | None:
    """US dollars that a call may cost, whichever of the models answers: nothing is read from the cache, and all of the
    input may be written to it. None: no model has a known price.
    """
    costs = [
        input_tokens * rates.dearest_input + output_tokens * rates.output
        for rates in _known_rates(models, input_tokens)
    ]
    return -(-max(costs) // _BILLIONTHS) / 1_000_000 if costs else None


def most_output(models: Sequence[NamedModel], input_tokens: int, usd: float, at_most: int) -> int:
    """The tokens of output, `at_most` or fewer, that `usd` US dollars carry after the input, whichever model answers.
    Below 0: not even the input. A model without a known price is not looked at.
    """
    billionths = int(usd * 1_000_000) * _BILLIONTHS
    return min(
        (
            (billionths - input_tokens * rates.dearest_input) // rates.output
            for rates in _known_rates(models, input_tokens)
            if rates.output
        ),
        default=at_most,
    )


def charged_tokens(model: NamedModel, used: PricedTokens) -> int:
    """The tokens that a call counts in a token budget: input that was read from the cache counts by its price relative
    to fresh input, rounded up. Where the price is unknown it counts in full.
    """
    price = price_of(*model)
    rates = _rates(price, used.input) if price is not None else None
    read = min(used.cached_input, used.input)
    if rates is None or not rates.input:
        return used.input + used.output
    return used.input - read + -(-read * rates.cached_input // rates.input) + used.output


_FREE = Price(Rates(0, 0, 0, 0))


def price_of(provider: str, model: str) -> Price | None:
    """The price of the model; None: unknown. A dated snapshot (`…-2026-05-01`) has the price of the name without the
    date. The price of a similar model is never taken.
    """
    row = PROVIDERS.get(provider)
    if row is None:
        return None
    return _FREE if row.is_free else row.prices.get(model) or row.prices.get(_SNAPSHOT.sub("", model))


def is_priced(provider: str, model: str) -> bool:
    """Whether the cost of a call is known."""
    return price_of(provider, model) is not None


def _known_rates(models: Sequence[NamedModel], input_tokens: int) -> list[Rates]:
    prices = (price_of(provider, model) for provider, model in models)
    return [_rates(price, input_tokens) for price in prices if price is not None]


def _rates(price: Price, prompt_tokens: int) -> Rates:
    if price.long is not None and price.long_above is not None and prompt_tokens > price.long_above:
        return price.long
    return price.rates
