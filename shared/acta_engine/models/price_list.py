"""The providers' prices as published on `PRICED_AT`: standard processing, global endpoints, no volume discount.

Sources: platform.claude.com/docs/en/about-claude/pricing and the models' overview pages;
developers.openai.com/api/docs/pricing and the models' pages. The price of writing to the cache is that of the shortest
retention, which Acta uses. A model that is not in the list has an unknown price.
"""

from typing import NamedTuple

PRICED_AT = "2026-11-18"


class Rates(NamedTuple):
    """Thousandths of a US dollar per million tokens. `input`: tokens neither read from the cache nor written to it."""

    input: int
    cached_input: int
    cache_write: int
    output: int

    @property
    def dearest_input(self) -> int:
        return max(self.input, self.cache_write)


class Price(NamedTuple):
    """All tokens of a request with more than `long_above` input tokens cost `long` instead of `rates`."""

    rates: Rates
    long_above: int | None = None
    long: Rates | None = None


def _claude(input: int, cached_input: int, output: int) -> Price:
    """Writing to the cache for five minutes costs 1.25 times the input."""
    return Price(Rates(input, cached_input, input * 5 // 4, output))


def _gpt(input: int, cached_input: int, output: int) -> Price:
    """Up to GPT-5.5, writing to the cache costs no more than the input."""
    return Price(Rates(input, cached_input, input, output))


def _long(rates: Rates) -> Price:
    """From GPT-5.4 on, above 272,000 input tokens: input and cache cost 2 times as much, output 1.5 times."""
    double = Rates(rates.input * 2, rates.cached_input * 2, rates.cache_write * 2, rates.output * 3 // 2)
    return Price(rates, 272_000, double)


def _gpt_6(input: int, cached_input: int, output: int) -> Price:
    """From GPT-5.6 on, writing to the cache costs 1.25 times the input."""
    return _long(Rates(input, cached_input, input * 5 // 4, output))


_FABLE_5_1 = _claude(10_000, 250, 50_000)
_FABLE_5 = _claude(10_000, 1_000, 50_000)
_OPUS = _claude(5_000, 500, 25_000)
_SONNET_4 = _claude(3_000, 300, 15_000)
_GPT_5 = _gpt(1_250, 125, 10_000)
_GPT_5_2 = _gpt(1_750, 175, 14_000)
_GPT_5_6_SOL = _gpt_6(4_000, 400, 20_000)

PRICES: dict[str, dict[str, Price]] = {
    "anthropic": {
        "claude-fable-5-2": _claude(8_000, 200, 40_000),
        "claude-fable-5-1": _FABLE_5_1,
        "claude-mythos-5-1": _FABLE_5_1,
        "claude-fable-5": _FABLE_5,
        "claude-mythos-5": _FABLE_5,
        "claude-opus-5-5": _claude(4_000, 200, 20_000),
        "claude-opus-5": _OPUS,
        "claude-opus-4-8": _OPUS,
        "claude-opus-4-7": _OPUS,
        "claude-opus-4-6": _OPUS,
        "claude-opus-4-5": _OPUS,
        "claude-sonnet-5-5": _claude(2_000, 100, 10_000),
        "claude-sonnet-5": _claude(2_000, 200, 10_000),
        "claude-sonnet-4-6": _SONNET_4,
        "claude-sonnet-4-5": _SONNET_4,
        "claude-haiku-5-5": Price(Rates(100, 10, 125, 500), 100_000, Rates(500, 50, 625, 2_500)),
        "claude-haiku-4-5": _claude(1_000, 100, 5_000),
    },
    "openai": {
        "gpt-6.2-astra": _gpt_6(8_000, 400, 40_000),
        "gpt-6.2-sol": _gpt_6(2_000, 100, 10_000),
        "gpt-6.1-sol": _gpt_6(2_000, 100, 10_000),
        "gpt-6.1-terra": _gpt_6(1_000, 50, 5_000),
        "gpt-6-astra": _gpt_6(10_000, 1_000, 50_000),
        "gpt-6-sol": _gpt_6(2_000, 200, 10_000),
        "gpt-6-luna": _gpt_6(100, 10, 500),
        "gpt-5.6": _GPT_5_6_SOL,
        "gpt-5.6-sol": _GPT_5_6_SOL,  # a promotion, published until 2026-11-21 at least
        "gpt-5.6-terra": _gpt_6(2_000, 200, 12_000),
        "gpt-5.6-luna": _gpt_6(200, 20, 1_200),
        "gpt-5.5": _long(Rates(5_000, 500, 5_000, 30_000)),
        "gpt-5.4": _long(Rates(2_500, 250, 2_500, 15_000)),
        "gpt-5.4-mini": _gpt(750, 75, 4_500),
        "gpt-5.4-nano": _gpt(200, 20, 1_250),
        "gpt-5.2": _GPT_5_2,
        "gpt-5.1": _GPT_5,
        "gpt-5": _GPT_5,
        "gpt-5-mini": _gpt(250, 25, 2_000),
        "gpt-5-nano": _gpt(50, 5, 400),
        "gpt-4.1": _gpt(2_000, 500, 8_000),
        "gpt-4.1-mini": _gpt(400, 100, 1_600),
        "gpt-4.1-nano": _gpt(100, 25, 400),
        "gpt-4o": _gpt(2_500, 1_250, 10_000),
        "gpt-4o-mini": _gpt(150, 75, 600),
        "o3": _gpt(2_000, 500, 8_000),
        "o4-mini": _gpt(1_100, 275, 4_400),
        "o3-mini": _gpt(1_100, 550, 4_400),
        "o1": _gpt(15_000, 7_500, 60_000),
    },
}
