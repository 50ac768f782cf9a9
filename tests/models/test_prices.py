"""What calls cost, to the millionth of a dollar."""

import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.app import App
from acta.engine.models import providers
from acta.engine.models.model import TokenUsage
from acta.engine.models.providers import (
    OFFLINE,
    PRICED_AT,
    PROVIDERS,
    UNKNOWN,
    NamedModel,
    Price,
    Rates,
    charged_tokens,
    cost_usd,
    is_priced,
    known_model,
    most_output,
    most_usd,
    price_of,
    read_models,
)
from acta.engine.settings import Settings, SettingsError

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("provider", "model", "used", "dollars"),
    [
        ("anthropic", "claude-sonnet-5-5", TokenUsage(MILLION, 0), 2.0),
        ("anthropic", "claude-sonnet-5-5", TokenUsage(0, MILLION), 10.0),
        ("anthropic", "claude-sonnet-5-5", TokenUsage(MILLION, 0, cached_input=MILLION), 0.1),
        ("anthropic", "claude-sonnet-5-5", TokenUsage(MILLION, 0, cache_write=MILLION), 2.5),
        ("anthropic", "claude-opus-5", TokenUsage(10_000, 500, 8_000, 1_000), 0.027_75),
        ("openai", "gpt-6-sol", TokenUsage(100_000, 1_000, 60_000, 20_000), 0.112),
        ("openai", "gpt-4.1", TokenUsage(1_000, 100, 400, 300), 0.002_2),
        ("openai", "gpt-5-nano", TokenUsage(1, 0), 0.0),
        ("openai", "gpt-5-nano", TokenUsage(10, 0), 0.000_001),
        ("offline", "offline-rules", TokenUsage(MILLION, MILLION), 0.0),
        ("anthropic", "claude-opus-5-5", TokenUsage(), 0.0),
    ],
)
def test_each_kind_of_token_is_charged_at_its_price(
    provider: str, model: str, used: TokenUsage, dollars: float
) -> None:
    assert cost_usd(provider, model, used) == dollars


@pytest.mark.parametrize(
    ("model", "used", "dollars"),
    [
        ("gpt-6.2-sol", TokenUsage(272_000, 0), 0.544),
        ("gpt-6.2-sol", TokenUsage(272_001, 0), 1.088_004),
        ("gpt-6.2-sol", TokenUsage(300_000, 1_000, 200_000, 100_000), 0.04 + 0.5 + 0.015),
    ],
)
def test_a_long_prompt_is_charged_at_the_long_price_as_a_whole(
    model: str, used: TokenUsage, dollars: float
) -> None:
    assert cost_usd("openai", model, used) == pytest.approx(dollars, abs=1e-9)


PRICES = {
    each.name: {name: row.price for name, row in each.models.items() if row.price is not None}
    for each in PROVIDERS.values()
    if each.key_variable
}


def test_a_long_prompt_to_haiku_costs_five_times_as_much() -> None:
    short, long = TokenUsage(100_000, 100), TokenUsage(100_001, 100)

    assert cost_usd("anthropic", "claude-haiku-5-5", short) == 0.010_050
    assert cost_usd("anthropic", "claude-haiku-5-5", long) == 0.050_251  # 0.0502505 is rounded half up


@pytest.mark.parametrize(
    ("provider", "snapshot", "alias"),
    [
        ("anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("openai", "gpt-5.4-mini-2026-03-17", "gpt-5.4-mini"),
        ("openai", "gpt-4o-2024-08-06", "gpt-4o"),
        ("openai", "gpt-5.6", "gpt-5.6-sol"),
    ],
)
def test_a_dated_name_costs_what_its_alias_costs(provider: str, snapshot: str, alias: str) -> None:
    assert price_of(provider, snapshot) == price_of(provider, alias) is not None


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-sonnet-5-6"),
        ("anthropic", "claude-mythos-5-2"),
        ("anthropic", "gpt-6-sol"),
        ("openai", "claude-sonnet-5-5"),
        ("openai", "gpt-6"),
        ("openai", "gpt-6-sol-fast"),
        ("openai", "vendor/gpt-6-sol"),
        ("openai", "my-own-model"),
        ("scripted", "gpt-6-sol"),
    ],
)
def test_a_model_that_is_not_listed_has_no_price_and_borrows_none(provider: str, model: str) -> None:
    assert cost_usd(provider, model, TokenUsage(100, 100)) is None


@pytest.mark.parametrize(
    "model",
    [
        "anthropic.claude-sonnet-5-5",
        "global.anthropic.claude-sonnet-5-5",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "claude-sonnet-5-5",
    ],
)
def test_what_bedrock_charges_is_not_taken_from_anthropics_list(model: str) -> None:
    assert price_of("bedrock", model) is None
    assert not is_priced("bedrock", model)


def test_what_costs_nothing_counts_as_priced_and_so_does_what_is_listed() -> None:
    assert is_priced(OFFLINE, "whatever")
    assert is_priced("anthropic", "claude-sonnet-5-5")
    assert not is_priced("anthropic", "somebodys-own")


PUBLISHED: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "anthropic": {
        "claude-fable-5-2": (8, 0.2, 10, 40),
        "claude-fable-5-1": (10, 0.25, 12.5, 50),
        "claude-mythos-5-1": (10, 0.25, 12.5, 50),
        "claude-fable-5": (10, 1, 12.5, 50),
        "claude-mythos-5": (10, 1, 12.5, 50),
        "claude-opus-5-5": (4, 0.2, 5, 20),
        "claude-opus-5": (5, 0.5, 6.25, 25),
        "claude-opus-4-8": (5, 0.5, 6.25, 25),
        "claude-opus-4-7": (5, 0.5, 6.25, 25),
        "claude-opus-4-6": (5, 0.5, 6.25, 25),
        "claude-opus-4-5": (5, 0.5, 6.25, 25),
        "claude-sonnet-5-5": (2, 0.1, 2.5, 10),
        "claude-sonnet-5": (2, 0.2, 2.5, 10),
        "claude-sonnet-4-6": (3, 0.3, 3.75, 15),
        "claude-sonnet-4-5": (3, 0.3, 3.75, 15),
        "claude-haiku-5-5": (0.1, 0.01, 0.125, 0.5),
        "claude-haiku-4-5": (1, 0.1, 1.25, 5),
    },
    "openai": {
        "gpt-6.2-astra": (8, 0.4, 10, 40),
        "gpt-6.2-sol": (2, 0.1, 2.5, 10),
        "gpt-6.1-sol": (2, 0.1, 2.5, 10),
        "gpt-6.1-terra": (1, 0.05, 1.25, 5),
        "gpt-6-astra": (10, 1, 12.5, 50),
        "gpt-6-sol": (2, 0.2, 2.5, 10),
        "gpt-6-luna": (0.1, 0.01, 0.125, 0.5),
        "gpt-5.6": (4, 0.4, 5, 20),
        "gpt-5.6-sol": (4, 0.4, 5, 20),
        "gpt-5.6-terra": (2, 0.2, 2.5, 12),
        "gpt-5.6-luna": (0.2, 0.02, 0.25, 1.2),
        "gpt-5.5": (5, 0.5, 5, 30),
        "gpt-5.4": (2.5, 0.25, 2.5, 15),
        "gpt-5.4-mini": (0.75, 0.075, 0.75, 4.5),
        "gpt-5.4-nano": (0.2, 0.02, 0.2, 1.25),
        "gpt-5.2": (1.75, 0.175, 1.75, 14),
        "gpt-5.1": (1.25, 0.125, 1.25, 10),
        "gpt-5": (1.25, 0.125, 1.25, 10),
        "gpt-5-mini": (0.25, 0.025, 0.25, 2),
        "gpt-5-nano": (0.05, 0.005, 0.05, 0.4),
        "gpt-4.1": (2, 0.5, 2, 8),
        "gpt-4.1-mini": (0.4, 0.1, 0.4, 1.6),
        "gpt-4.1-nano": (0.1, 0.025, 0.1, 0.4),
        "gpt-4o": (2.5, 1.25, 2.5, 10),
        "gpt-4o-mini": (0.15, 0.075, 0.15, 0.6),
        "o3": (2, 0.5, 2, 8),
        "o4-mini": (1.1, 0.275, 1.1, 4.4),
        "o3-mini": (1.1, 0.55, 1.1, 4.4),
        "o1": (15, 7.5, 15, 60),
    },
}
"""Dollars per million tokens: input, read from the cache, written to the cache, output."""

PUBLISHED_LONG: dict[str, tuple[int, float, float, float, float]] = {
    "claude-haiku-5-5": (100_000, 0.5, 0.05, 0.625, 2.5),
    "gpt-6.2-astra": (272_000, 16, 0.8, 20, 60),
    "gpt-6.2-sol": (272_000, 4, 0.2, 5, 15),
    "gpt-6.1-sol": (272_000, 4, 0.2, 5, 15),
    "gpt-6.1-terra": (272_000, 2, 0.1, 2.5, 7.5),
    "gpt-6-astra": (272_000, 20, 2, 25, 75),
    "gpt-6-sol": (272_000, 4, 0.4, 5, 15),
    "gpt-6-luna": (272_000, 0.2, 0.02, 0.25, 0.75),
    "gpt-5.6": (272_000, 8, 0.8, 10, 30),
    "gpt-5.6-sol": (272_000, 8, 0.8, 10, 30),
    "gpt-5.6-terra": (272_000, 4, 0.4, 5, 18),
    "gpt-5.6-luna": (272_000, 0.4, 0.04, 0.5, 1.8),
    "gpt-5.5": (272_000, 10, 1, 10, 45),
    "gpt-5.4": (272_000, 5, 0.5, 5, 22.5),
}
"""The longest prompt, in tokens, at the prices above; then the same four prices of a longer one."""


def thousandths(*dollars: float) -> Rates:
    return Rates(*(round(each * 1_000) for each in dollars))


def test_every_model_of_the_list_has_its_published_price() -> None:
    listed = {
        provider: {model: price.rates for model, price in prices.items()}
        for provider, prices in PRICES.items()
    }
    assert listed == {
        provider: {model: thousandths(*dollars) for model, dollars in prices.items()}
        for provider, prices in PUBLISHED.items()
    }


def test_every_long_prompt_has_its_published_price() -> None:
    listed = {
        model: (price.long_above, price.long)
        for prices in PRICES.values()
        for model, price in prices.items()
        if price.long is not None
    }
    assert listed == {
        model: (above, thousandths(*dollars)) for model, (above, *dollars) in PUBLISHED_LONG.items()
    }


def test_the_list_says_of_which_day_it_is_and_where_it_stands() -> None:
    assert datetime.date.fromisoformat(PRICED_AT)
    assert all(each.source for each in PROVIDERS.values() if each.key_variable)


OWN = {
    "openai": {
        "my-model": {"input": 0.5, "output": 2, "window": 128_000, "source": "contract, 2026-11"},
        "gpt-6-sol": {"input": 1, "cached_input": 0.1, "cache_write": 1.25, "output": 5},
    },
    "bedrock": {
        "global.anthropic.claude-haiku-5-5": {
            "input": 0.1,
            "output": 0.5,
            "above": {"prompt_tokens": 100_000, "input": 0.5, "output": 2.5},
        }
    },
}
"""As an operator writes it."""


def test_an_operator_gives_price_window_and_parameters_of_models_that_are_not_listed() -> None:
    rows = read_models(OWN)
    mine, theirs = rows["openai", "my-model"], rows["openai", "gpt-6-sol"]
    assert mine == UNKNOWN._replace(
        price=Price(thousandths(0.5, 0.5, 0.5, 2)), window=128_000, source="contract, 2026-11"
    )
    assert theirs.price == Price(thousandths(1, 0.1, 1.25, 5))
    assert (theirs.window, theirs.efforts) == (922_000, known_model("gpt-6-sol").efforts)
    at_aws = rows["bedrock", "global.anthropic.claude-haiku-5-5"]
    assert at_aws.price == Price(thousandths(0.1, 0.1, 0.1, 0.5), 100_000, thousandths(0.5, 0.5, 0.5, 2.5))
    assert at_aws.window == 1_000_000


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"nobody": {"m": {"window": 1}}}, "a provider is one of"),
        ({"openai": {"m": {"price": 1}}}, "a row has input"),
        ({"openai": {"m": {"input": 1}}}, "output is a number from 0"),
        ({"openai": {"m": {"input": -1, "output": 1}}}, "input is a number from 0"),
        ({"openai": {"m": {"input": True, "output": 1}}}, "input is a number from 0"),
        ({"openai": {"m": {"window": "128k"}}}, "window is a number from 0"),
        ({"openai": {"m": {"input": 1, "output": 1, "above": {"input": 1, "output": 1}}}}, "prompt_tokens"),
        ({"openai": {"m": {"efforts": ["much"]}}}, "an effort is one of none, minimal"),
        ({"openai": {"m": 5}}, "openai, m:"),
    ],
)
def test_a_row_that_cannot_be_used_stops_the_cold_start_with_a_sentence(
    told: dict[str, Any], why: str
) -> None:
    with pytest.raises(SettingsError, match=why):
        Settings(env="test", table="t", bucket="b", models=told)


def test_what_an_operator_gives_holds_for_the_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "_ADDED", {})
    settings = Settings(env="test", table="t", bucket="b", models=OWN)
    before = settings.allowed.refusal("openai", "my-model")
    assert before is not None
    assert "`models`" in before
    App(settings)
    assert cost_usd("openai", "my-model", TokenUsage(MILLION, MILLION)) == 2.5
    assert cost_usd("anthropic", "my-model", TokenUsage(MILLION, MILLION)) is None
    assert cost_usd("openai", "gpt-6-sol", TokenUsage(MILLION, 0, MILLION)) == 0.1
    assert known_model("my-model").window == 128_000
    assert settings.allowed.refusal("openai", "my-model") is None
    assert settings.allowed.refusal("anthropic", "my-model") is not None


counts = st.integers(min_value=0, max_value=2_000_000)
models = st.sampled_from([(provider, model) for provider in PRICES for model in PRICES[provider]])


@given(models, counts, counts, counts, counts)
def test_the_sum_is_exact_and_rounded_once(
    name: tuple[str, str], fresh: int, read: int, written: int, output: int
) -> None:
    used = TokenUsage(fresh + read + written, output, read, written)
    price = PRICES[name[0]][name[1]]
    long = price.long if price.long_above is not None and used.input > price.long_above else None
    rates = long or price.rates
    dollars = sum(
        Decimal(tokens) * Decimal(rate) / 1000 / MILLION
        for tokens, rate in (
            (fresh, rates.input),
            (read, rates.cached_input),
            (written, rates.cache_write),
            (output, rates.output),
        )
    )

    millionths = int((Decimal(dollars) * MILLION).quantize(Decimal(1), ROUND_HALF_UP))
    assert cost_usd(*name, used) == millionths / MILLION


@pytest.mark.parametrize(
    ("model", "cached", "charged"),
    [
        (NamedModel("anthropic", "claude-opus-4-8"), 9_000, 1_000 + 900 + 50),
        (NamedModel("anthropic", "claude-sonnet-5-5"), 9_001, 999 + 451 + 50),
        (NamedModel("openai", "gpt-4o"), 10_000, 5_000 + 50),
        (NamedModel("anthropic", "claude-opus-4-8"), 0, 10_050),
        (NamedModel("somebody", "unknown"), 9_000, 10_050),
        (NamedModel("offline", "offline"), 9_000, 10_050),
    ],
)
def test_input_from_the_cache_counts_by_its_price(model: NamedModel, cached: int, charged: int) -> None:
    assert charged_tokens(model, TokenUsage(10_000, 50, cached)) == charged


@pytest.mark.parametrize("usd", [0.0, 0.001, 0.0251, 0.05, 0.3])
def test_the_output_that_dollars_carry_costs_no_more_than_they_are(usd: float) -> None:
    models = (NamedModel("anthropic", "claude-sonnet-5-5"), NamedModel("openai", "gpt-6-sol"))
    output = most_output(models, 8_000, usd, 4_096)
    if output < 0:
        least = most_usd(models, 8_000, 0)
        assert least is not None
        assert least > usd
        return
    dearest = most_usd(models, 8_000, output)
    assert dearest is not None
    assert dearest <= usd + 1e-6
    for used in (
        TokenUsage(8_000, output),
        TokenUsage(8_000, output, 0, 8_000),
        TokenUsage(8_000, output, 8_000),
    ):
        for model in models:
            cost = cost_usd(*model, used)
            assert cost is not None
            assert cost <= dearest + 1e-6
