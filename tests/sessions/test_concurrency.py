"""Several engines at one session: one set of commits, each effect once (docs/design/log.md 10, tools.md 12)."""

from random import Random

import pytest

from tests.in_process.house import TENANT
from tests.runs.engines import Engines, clean, conversation

CLEAN = clean()
SCHEDULES = [(2, seed, 1) for seed in range(40)] + [(10, seed, 1) for seed in range(6)]
FUSED = [(2, seed, 8) for seed in range(40)]
"""Where an invocation of `step` makes up to eight turns."""


@pytest.mark.parametrize(("count", "seed", "cap"), [*SCHEDULES, *FUSED])
def test_many_engines_at_one_session_leave_the_log_of_one(count: int, seed: int, cap: int) -> None:
    engines = Engines("idempotent", Random(seed).choice, cap)
    engines.run(count)
    assert engines.house.head(engines.session).state == "completed"
    assert sorted(map(str, engines.told)) == sorted(map(str, CLEAN))
    assert len(set(engines.notes.effects)) == 3
    keys = [commit.key for commit in engines.house.log.read(TENANT, engines.session, 1).commits]
    assert len(keys) == len(set(keys))
    calls, results = conversation(engines)
    assert sorted(calls) == sorted(results)


@pytest.mark.parametrize("cap", [1, 8])
@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=pytest.mark.thorough if n >= 10 else ()) for n in range(40)]
)
def test_a_call_that_runs_once_has_its_effect_once_however_many_engines_there_are(
    seed: int, cap: int
) -> None:
    """An engine that finds a call begun cannot know that the other still lives: a person is asked, and whatever the
    person says of a call that ended meanwhile, nothing happens twice and the run goes on to its end.
    """
    engines = Engines("once", Random(seed).choice, cap)
    engines.run(3)
    house, option = engines.house, Random(seed).choice(["retry", "record", "skip"])
    house.runtime = house.runtime._replace(
        registry=house.registry, toolbox=engines.notes.hand(lambda: None, house.runtime.toolbox)
    )
    for _ in range(10):
        head = house.head(engines.session)
        if head.is_over:
            break
        for one in head.interventions:
            given = {"result": "Noted."} if option == "record" else {}
            house.resolve(engines.session, one, option, **given)
        house.run()
    assert house.head(engines.session).state == "completed"
    assert len(engines.notes.effects) == len(set(engines.notes.effects)) == 3
    calls, results = conversation(engines)
    assert sorted(calls) == sorted(results)
