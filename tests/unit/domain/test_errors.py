"""What ends a run is told to a person."""

import pytest

from shared.domain import errors
from shared.domain.errors import SessionError

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
