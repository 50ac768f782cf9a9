"""What a provider's headers say that it takes in a minute."""

import pytest

from acta.engine.models.calls import limits_in
from acta.engine.queue.places import LEARN, ProviderLimits


def test_both_providers_names_are_read() -> None:
    anthropic = {
        "anthropic-ratelimit-requests-limit": "1000",
        "anthropic-ratelimit-tokens-limit": "96000",
        "anthropic-ratelimit-tokens-remaining": "95000",
    }
    openai = {"x-ratelimit-limit-requests": "60", "x-ratelimit-limit-tokens": "150000"}
    assert limits_in(anthropic) == ProviderLimits(96_000, 1_000)
    assert limits_in(openai) == ProviderLimits(150_000, 60)


def test_one_of_the_two_is_enough() -> None:
    assert limits_in({"x-ratelimit-limit-requests": "60"}) == ProviderLimits(None, 60)


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "many", "9" * 30, "٣"])
def test_what_is_no_number_is_not_there(text: str) -> None:
    assert limits_in({"x-ratelimit-limit-requests": text}) == LEARN
