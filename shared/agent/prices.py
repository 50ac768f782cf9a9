"""What a call costs: US dollars per million tokens, as published at the date below; unknown models cost None."""

from typing import NamedTuple

from shared.ports.model import TokenUsage

PRICED_AT = "2026-11-01"


class Price(NamedTuple):
    input: float
    output: float
    cached_input: float


PRICES: dict[tuple[str, str], Price] = {
    ("offline", "rules"): Price(0, 0, 0),
}


def cost_usd(provider: str, model: str, usage: TokenUsage) -> float | None:
    price = PRICES.get((provider, model)) or (PRICES["offline", "rules"] if provider == "offline" else None)
    if price is None:
        return None
    fresh = usage.input - usage.cached_input
    total = fresh * price.input + usage.cached_input * price.cached_input + usage.output * price.output
    return round(total / 1_000_000, 6)
