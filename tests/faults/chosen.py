"""The faults that are named, or all, on a stand of their own."""

from collections.abc import Sequence

from acta.infra.local.deploy import Silent
from tests.faults import report
from tests.faults.naming import is_meant
from tests.faults.stand import Stand
from tests.faults.sweep import clean_run, deaths, left_alone, recovery_calls, sweep, troubles


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
