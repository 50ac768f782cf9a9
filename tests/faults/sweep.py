"""Every fault of the scenario, one run each: what must come of it, and what did."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tests.e2e.support.behind import Behind
from tests.faults.calls import INDEX, SINK, Call
from tests.faults.point import KILLS, RECOVER, Fault, Kind
from tests.faults.scenario import Play, Run
from tests.faults.script import CHARGE
from tests.faults.stand import Stand

WARM_RUNS = 2
"""Ahead of the clean run, so that it finds processes as the runs after it do."""
ATTEMPTS = 3
"""At a fault whose call did not come up: which of two warm processes is asked is chance, and so is what they know. So
the later attempts begin with cold ones.
"""
TROUBLES: tuple[Kind, ...] = ("throttle", "fail", "cut")
TROUBLED_CALLS = 4
"""In a row: one more than the SDK makes of one, so the engine or a person has to come again as well."""
TROUBLED_REPLIES = 2
"""Of the model, whose SDK does not repeat anything."""
LOST_START = Fault("start states:StartExecution execution 1", "before")
"""What recovery mends in the run in which it is disturbed itself."""


class Case(NamedTuple):
    """One run: `faults`, the first of which it is about, at a call of `group` (function, operation)."""

    group: tuple[str, str]
    faults: tuple[Fault, ...]
    left: bool = False

    @property
    def name(self) -> str:
        return f"{'left ' if self.left else ''}{self.faults[0]}"


class Verdict(NamedTuple):
    """`problems`: what differs from the clean run, or why there is nothing to compare. `unfired`: what came up instead
    of a fault's call, in the last attempt.
    """

    case: Case
    fired: bool
    asked: tuple[str, ...]
    problems: tuple[str, ...]
    seconds: float
    unfired: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        return self.fired and not self.problems


def clean_run(stand: Stand, scenario: type[Play] = Play) -> Run:
    for _ in range(WARM_RUNS):
        scenario(stand).run()
    return scenario(stand).run()


def deaths(calls: Iterable[Call]) -> list[Case]:
    """For each call a kill ahead of it and one behind it; for each write a lost answer as well."""
    found: list[Case] = []
    for call in calls:
        kinds: tuple[Kind, ...] = (*KILLS, "lose") if call.subject.is_write else KILLS
        found += [Case(call.group, (Fault(call.name, kind),)) for kind in kinds]
    return found


def troubles(calls: Iterable[Call]) -> list[Case]:
    """For each operation of each function: asked for less, failing, out of reach, for a few calls in a row."""
    found: list[Case] = []
    for group in dict.fromkeys(call.group for call in calls):
        service = group[1].partition(":")[0]
        times = TROUBLED_CALLS if service not in ("model", SINK) else TROUBLED_REPLIES
        for kind in troubles_of(group[1]):
            fault = Fault(" ".join(group), kind, times=1 if service == SINK else times, prefix=True)
            found.append(Case(group, (fault,)))
    return found


def troubles_of(operation: str) -> tuple[Kind, ...]:
    """A tool's service that answers with an error has answered."""
    return ("cut",) if operation.partition(":")[0] == SINK else TROUBLES


def left_alone(calls: Iterable[Call]) -> list[Case]:
    """Requests that died when something was written already, and nobody comes back."""
    found = []
    for call in calls:
        if call.function in ("start", "intervene") and call.subject.is_write and call.subject.what != "ask":
            found += [Case(call.group, (Fault(call.name, kind),), left=True) for kind in KILLS]
    return found


def recovery_calls(stand: Stand) -> list[Case]:
    """Recovery itself dies, and comes again. The rounds of each minute are off meanwhile: what they ask for is no part
    of the round that is looked at, and does not come up again when a fault waits for it.
    """
    with Behind(stand.stack.aws_endpoint_url, stand.stack.credentials).unscheduled():
        run = Play(stand, LOST_START, left=True).run()
    calls = [call for call in run.track.listing.calls.values() if call.function == RECOVER]
    return [
        case._replace(faults=(*case.faults, LOST_START), left=True)
        for case in deaths(first_and_last(calls, INDEX))
    ]


def first_and_last(calls: Iterable[Call], kind: str = "") -> list[Call]:
    """Of the calls of one kind the first and the last. `kind`: only of those that begin so; all others are kept."""
    calls = list(calls)
    most = Counter((call.group, call.subject.what) for call in calls)
    return [
        call
        for call in calls
        if not call.subject.what.startswith(kind) or call.nth in (1, most[call.group, call.subject.what])
    ]


def judge(stand: Stand, clean: Run, case: Case, scenario: type[Play] = Play) -> Verdict:
    """Repeats a run in which a fault's call did not come up, with new processes of its function."""
    began = time.monotonic()
    verdict = Verdict(case, False, (), (), 0.0)
    for attempt in range(ATTEMPTS):
        if attempt:
            stand.cool(*{fault.function for fault in case.faults})
        play = scenario(stand, *case.faults, left=case.left)
        problems: list[str] = []
        try:
            run = play.run()
        except AssertionError as stuck:
            problems.append(f"{type(stuck).__name__}: {str(stuck)[:500]}")
        else:
            problems += run.ending.differences(clean.ending, run.asked)
        problems += [f"asked about {tool}" for tool in play.asked if tool != CHARGE]
        seconds = time.monotonic() - began
        track = play.track
        unfired = tuple(track.why_unfired(fault) for fault in case.faults if not track.has_fired(fault))
        verdict = Verdict(case, not unfired, tuple(play.asked), tuple(problems), seconds, unfired)
        if verdict.fired or problems:
            break
    return verdict


def sweep(
    stand: Stand,
    clean: Run,
    cases: Sequence[Case],
    told: Callable[[Verdict], object] = lambda verdict: None,
    scenario: type[Play] = Play,
) -> list[Verdict]:
    verdicts = []
    for case in cases:
        verdicts.append(judge(stand, clean, case, scenario))
        told(verdicts[-1])
    return verdicts
