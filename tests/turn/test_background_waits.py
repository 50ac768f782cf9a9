"""The pauses between two looks at an answer that is made in the background (docs/design/providers.md 21)."""

from itertools import accumulate

from acta.engine.models.providers import FIRST_WAIT, LONGEST_WAIT, looks, next_wait
from acta.engine.settings import Settings

LONGEST = int(Settings.fields["background_seconds"].most or 0)
"""That a deployment may allow."""


def pauses(seconds: int) -> list[int]:
    made: list[int] = []
    while sum(made) < seconds:
        made.append(next_wait(sum(made)))
    return made


def test_the_pauses_grow_from_ten_seconds_to_less_than_five_minutes() -> None:
    made = pauses(LONGEST)
    assert made == sorted(made)
    assert (made[0], made[-1]) == (FIRST_WAIT, LONGEST_WAIT)
    assert LONGEST_WAIT < 300


def test_an_answer_is_late_by_a_third_of_its_time_at_most() -> None:
    made = pauses(LONGEST)
    for pause, there in zip(made, accumulate(made), strict=True):
        assert pause <= max(FIRST_WAIT, there / 3 + 1)


def test_the_looks_are_counted_from_the_time_alone() -> None:
    for seconds in (0, 1, 10, 11, 600, 3_600):
        assert looks(seconds) == len(pauses(seconds))
    assert looks(3_600) < 25
