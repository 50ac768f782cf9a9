"""Lambdas of two releases side by side bring sessions to the same end (docs/design/releases.md 1); all of it: `make
mixed-fleet`."""

from collections.abc import Sequence

import pytest

from tests.faults.scenario import Run
from tests.releases.fleet import (
    ALTERNATING,
    CARRIED,
    COURSES,
    RAISED,
    Fleet,
    Mix,
    MixedTree,
    TooLateRollback,
)

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]


def test_a_session_whose_functions_change_between_releases_at_every_turn_ends_as_the_undisturbed_one(
    fleet: Fleet, clean: Run
) -> None:
    run = fleet.play(*ALTERNATING)
    assert (run.ending.differences(clean.ending, run.asked), run.asked) == ([], ())
    assert fleet.drawn() == {None}, "while the older version is written a new field is left out"


@pytest.mark.parametrize("name", COURSES)
def test_every_other_mix_and_course_does_so_too(fleet: Fleet, clean: Run, name: str) -> None:
    run = fleet.play(*COURSES[name])
    assert (run.ending.differences(clean.ending, run.asked), run.asked) == ([], ())
    assert (max(fleet.counted), fleet.counted[-1]) == (1, 0), "open while it lasts, and not when it has ended"


def test_what_the_newer_release_has_written_is_carried_through_the_older_one(
    fleet: Fleet, clean: Run
) -> None:
    run = fleet.play(*CARRIED)
    assert (run.ending.differences(clean.ending, run.asked), run.asked) == ([], ())
    (value,) = fleet.drawn()
    assert value, "every commit has the field, with the value of the first one"


def test_what_a_function_of_the_release_before_cannot_read_waits_for_one_that_can(
    fleet: Fleet, clean: Run
) -> None:
    fleet.take(RAISED._replace(old=frozenset({"step"}), too_old=True))
    play = TooLateRollback(fleet)
    run = play.run()
    assert play.met
    assert (run.ending.differences(clean.ending, run.asked), run.asked) == ([], ())


@pytest.mark.parametrize("course", [ALTERNATING, COURSES["rolled back"], COURSES["rolled out for good"]])
def test_a_tree_of_sessions_ends_as_the_undisturbed_one_in_a_fleet_that_changes(
    fleet: Fleet, clean_tree: Run, course: Sequence[Mix]
) -> None:
    run = fleet.play(*course, scenario=MixedTree)
    assert (run.ending.differences(clean_tree.ending, run.asked), run.asked) == ([], ())
    assert len(run.ending.below) == 4
