"""An upgrade and a rollback of the deployed local stack, by its aliases, with sessions in mid-work (ADR 83)."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from acta.cli.exit_codes import CliError
from acta.engine.store.schema import CURRENT
from tests.faults.scenario import LONGEST_SECONDS, Run
from tests.releases.fleet import Fleet
from tests.releases.kept import BEFORE, NEXT, RAISED, HeldPlay, go, kept, live, releases_met

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]

CHARGED, LAST = 2, 5
"""Places of replies in the script: the one that asks for a call that runs once, and the last one."""


def comes(event: Event) -> None:
    assert event.wait(LONGEST_SECONDS)


def test_sessions_amid_an_upgrade_and_a_rollback_end_as_the_undisturbed_one(fleet: Fleet, clean: Run) -> None:
    """One is in a turn at both, with the model asked; one waits for a person at the upgrade, and one at the rollback,
    which the newer release began."""
    in_turn, waiting, late = HeldPlay(fleet), HeldPlay(fleet), HeldPlay(fleet)
    at_upgrade, at_rollback = fleet.hold(in_turn.tag, CHARGED), fleet.hold(in_turn.tag, LAST)
    with kept(fleet, BEFORE, NEXT) as clients, ThreadPoolExecutor(3) as pool:
        go(clients, BEFORE)
        running = [pool.submit(in_turn.run), pool.submit(waiting.run)]
        comes(at_upgrade.asked_for)
        comes(waiting.is_asked)

        go(clients, NEXT)
        assert live(clients) == NEXT
        at_upgrade.may_go.set()
        waiting.may_decide.set()
        running.append(pool.submit(late.run))
        comes(in_turn.is_asked)
        in_turn.may_decide.set()
        comes(at_rollback.asked_for)
        comes(late.is_asked)

        go(clients, None)
        assert live(clients) == BEFORE
        at_rollback.may_go.set()
        late.may_decide.set()

        runs = [each.result() for each in running]
        for run in runs:
            assert (run.ending.differences(clean.ending, run.asked), run.asked) == ([], ())
        met = [releases_met(fleet, clients, run.execution) for run in runs]
        assert met[0][:2] == [BEFORE, NEXT], "the session in a turn has met both"
        assert met[1][0] == BEFORE
        assert met[1][-1] == NEXT
        assert met[2][0] == NEXT
        assert met[2][-1] == BEFORE


def test_what_was_written_by_the_newer_release_is_not_left_to_one_that_does_not_know_it(fleet: Fleet) -> None:
    with kept(fleet, BEFORE, NEXT, RAISED) as clients:
        assert live(clients) == RAISED
        with pytest.raises(CliError, match=f"schema version {CURRENT + 1} was written since"):
            go(clients, BEFORE)
        go(clients, None)
        assert live(clients) == NEXT
        with pytest.raises(CliError, match=f"schema version {CURRENT + 1} was written since"):
            go(clients, None)
