"""How long a model call may take."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acta.engine.models.providers import DEFAULT_SPEED, PROVIDERS, AnswerTime, known_model

MODELS = st.lists(
    st.sampled_from(["claude-sonnet-5-5", "gpt-6-sol", "own", ""]), min_size=1, max_size=4, unique=True
)


def test_thirty_two_thousand_tokens_at_sixty_a_second_have_nine_minutes_and_the_time_to_begin() -> None:
    assert round(AnswerTime(tokens_per_second=60).of_call(["m"], 32_000)) == 563


def test_a_short_answer_has_what_the_setting_says_and_no_answer_has_more_than_there_is() -> None:
    timing = AnswerTime(least=100, most=300, tokens_per_second=50)
    assert timing.of_call(["m"], 10) == 100
    assert timing.of_call(["m"], 100_000) == 300


def test_every_model_that_may_be_asked_has_time_for_a_whole_answer() -> None:
    timing = AnswerTime(first_token=20, tokens_per_second=50)
    assert timing.of_call(["a", "b", "c"], 4_000) == 3 * 100


@settings(derandomize=True)
@given(MODELS, st.floats(min_value=150, max_value=900), st.floats(min_value=1, max_value=30))
def test_the_longest_answer_fits_into_the_call_of_the_slowest_model_after_all_others_were_silent(
    models: list[str], most: float, first: float
) -> None:
    timing = AnswerTime(most=most, first_token=first)
    tokens = timing.most_tokens(models)
    slowest = min(models, key=timing.speed)
    assert (len(models) - 1) * first + timing.of_answer(slowest, tokens) <= most + 1e-6
    assert (len(models) - 1) * first + timing.of_answer(slowest, tokens + 1) > most - 1e-6


@settings(derandomize=True)
@given(MODELS, st.floats(min_value=1, max_value=900), st.integers(min_value=1, max_value=40_000))
def test_the_share_of_a_model_is_never_more_than_an_equal_one(
    others: list[str], left: float, tokens: int
) -> None:
    assert 0 < AnswerTime().begins_within(left, others, tokens) <= left / (len(others) + 1)


def test_the_speed_of_a_default_model_is_that_of_the_slowest_one() -> None:
    speeds = {known_model(each.default_model).speed for each in PROVIDERS.values() if each.name != "offline"}
    assert min(speeds) == DEFAULT_SPEED


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("eu.anthropic.claude-opus-5-5-20260501-v1:0", "claude-opus-5-5"),
        ("global.anthropic.claude-haiku-5-5", "claude-haiku-5-5"),
        ("openai/gpt-5-mini", "gpt-5-mini"),
    ],
)
def test_what_providers_put_around_a_name_changes_nothing(name: str, like: str) -> None:
    assert known_model(name) == known_model(like)
