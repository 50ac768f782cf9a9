"""The faults that are named, or all, on a stand of their own."""

from collections.abc import Sequence

from acta.infra.local.deploy import Silent
from tests.faults import report
from tests.faults.naming import TREE, is_meant, without_prefix
from tests.faults.stand import Stand
from tests.faults.sweep import clean_run, deaths, first_and_last, left_alone, recovery_calls, sweep, troubles
from tests.faults.tree import TreePlay, TreeProvider


def sweep_all(parts: Sequence[str], cap: int) -> report.Swept:
    """The calls of the scenario, and what came of each fault, where an invocation makes at most `cap` turns.
    With more than one, sessions that wait for people are parked as well.
    """
    with Stand(Silent(), cap=cap, traces=True, parks=cap > 1) as stand:
        clean = clean_run(stand)
        calls = clean.track.listing.calls
        everything = [
            *deaths(calls.values()),
            *troubles(calls.values()),
            *left_alone(calls.values()),
            *recovery_calls(stand),
        ]
        chosen = [case for case in everything if is_meant(case, parts)]
        print(f"cap {cap}: {len(calls)} calls, {len(chosen)} faults", flush=True)
        verdicts = sweep(
            stand, clean, chosen, lambda verdict: print(report.line(verdict, f"cap {cap}"), flush=True)
        )
    return report.Swept(list(calls), verdicts)


def sweep_tree(parts: Sequence[str]) -> report.Swept:
    """The same of the scenario as a tree, at its writes; what it reads is what every session reads. Sessions of one
    agent write the same, so of many writes of one kind the first and the last are disturbed.
    """
    with Stand(Silent(), model=TreeProvider()) as stand:
        clean = clean_run(stand, TreePlay)
        calls = clean.track.listing.calls
        everything = deaths(first_and_last(call for call in calls.values() if call.subject.is_write))
        chosen = [case for case in everything if is_meant(case, without_prefix(parts))]
        print(f"{TREE}: {len(calls)} calls, {len(chosen)} faults", flush=True)
        verdicts = sweep(
            stand, clean, chosen, lambda verdict: print(report.line(verdict, TREE), flush=True), TreePlay
        )
    return report.Swept(list(calls), verdicts)
