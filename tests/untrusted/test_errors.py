"""What ends a run is told to a person."""

import pytest

from acta.engine import errors
from acta.engine.errors import ProviderKeyRefused, SessionError

NAMED = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, SessionError)]
ENDS = [one for one in NAMED if one is not SessionError]


@pytest.mark.parametrize("error", ENDS)
def test_what_ends_a_run_has_a_code_of_its_own_and_says_what_to_do(error: type[SessionError]) -> None:
    assert [one.code for one in NAMED].count(error.code) == 1
    assert error.remedy.endswith(".")


@pytest.mark.parametrize("error", ENDS)
def test_what_to_do_names_no_variable_and_no_secret(error: type[SessionError]) -> None:
    assert not any(word.isupper() and len(word) > 1 for word in error.remedy.replace(".", " ").split())
    assert "/" not in error.remedy


@pytest.mark.parametrize(
    "reason", ["anthropic: 401 (authentication_error)", "The key was refused.", " Why? "]
)
def test_the_reason_and_what_to_do_are_two_sentences(reason: str) -> None:
    told = ProviderKeyRefused(reason).explained
    said, remedy = told[: -len(ProviderKeyRefused.remedy)], told[-len(ProviderKeyRefused.remedy) :]
    assert remedy == ProviderKeyRefused.remedy
    assert said[-2] in ".?"
    assert said.count(".") <= 1
    assert said[-1] == " "


def test_an_error_without_a_reason_is_its_remedy() -> None:
    assert ProviderKeyRefused("").explained == ProviderKeyRefused.remedy
