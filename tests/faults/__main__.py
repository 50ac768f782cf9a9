"""`make faults`: the whole sweep and every outage, or with ONLY="step:PutItem outage:s3" the parts that are named so.

A part is `function:operation:kind` or `outage:service:kind`; what follows a colon may be left out, and so may the
function. Ends with 1 where a run differs from the clean one, a fault did not fire or an outage was not felt.
"""

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from infra.local.progress import Silent
from infra.local.toolchain import ROOT
from tests.faults import report
from tests.faults.outages import report as outages_report
from tests.faults.outages.chosen import OUTAGE, outlast
from tests.faults.stand import Stand, is_supported
from tests.faults.sweep import Case, Verdict, clean_run, deaths, left_alone, recovery_calls, sweep, troubles

OUT = ROOT / "build" / "faults.json"


def main(parts: Sequence[str]) -> int:
    if not is_supported():
        print("the sweep finds processes by their connections, which it can on Linux only", file=sys.stderr)
        return 2
    began = time.monotonic()
    named = [part for part in parts if part.startswith(OUTAGE)]
    faults = [part for part in parts if part not in named]
    with ProcessPoolExecutor(
        1, mp_context=get_context("spawn")
    ) as beside:  # on a stand of its own it mostly waits
        outlasting = beside.submit(outlast, named) if named or not parts else None
        calls, verdicts = sweep_all(faults) if faults or not parts else ([], [])
        met = outlasting.result() if outlasting is not None else []
    seconds = time.monotonic() - began
    tables = [report.table(verdicts)] * bool(verdicts) + [outages_report.table(met)] * bool(met)
    print("", *tables, f"{seconds / 60:.1f} minutes", sep="\n\n")
    report.write(OUT, calls, verdicts, outages_report.content(met), seconds)
    good = [*(verdict.is_good for verdict in verdicts), *(verdict.is_good for verdict in met)]
    return 0 if good and all(good) else 1


def sweep_all(parts: Sequence[str]) -> tuple[list[str], list[Verdict]]:
    """The calls of the scenario, and what came of each fault."""
    with Stand(Silent()) as stand:
        clean = clean_run(stand)
        calls = clean.track.listing.calls
        everything = [
            *deaths(calls.values()),
            *troubles(calls.values()),
            *left_alone(calls.values()),
            *recovery_calls(stand),
        ]
        chosen = [case for case in everything if is_meant(case, parts)]
        print(f"{len(calls)} calls, {len(chosen)} faults", flush=True)
        verdicts = sweep(stand, clean, chosen, show)
    return list(calls), verdicts


def show(verdict: Verdict) -> None:
    print(report.line(verdict), flush=True)


def is_meant(case: Case, parts: Sequence[str]) -> bool:
    """`left` is a kind as well: of those where nobody comes back."""
    function, operation = case.group
    having = ({function}, {operation.partition(":")[2]}, {case.faults[0].kind, "left" if case.left else ""})
    for part in parts or [""]:
        wanted = [*part.split(":"), "", ""][:3]
        if all(not want or want in have for want, have in zip(wanted, having, strict=True)):
            return True
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
