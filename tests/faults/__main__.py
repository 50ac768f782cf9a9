"""`make faults`: the whole sweep, or with ONLY="step:PutItem tool::lose" the parts that are named so.

A part is `function:operation:kind`, each of which may be left out. Ends with 1 where a run differs from the clean one
or a fault did not fire.
"""

import sys
import time
from collections.abc import Sequence

from infra.local.progress import Silent
from infra.local.toolchain import ROOT
from tests.faults import report
from tests.faults.stand import Stand, is_supported
from tests.faults.sweep import Case, Verdict, clean_run, deaths, left_alone, recovery_calls, sweep, troubles

OUT = ROOT / "build" / "faults.json"


def main(parts: Sequence[str]) -> int:
    if not is_supported():
        print("the sweep finds processes by their connections, which it can on Linux only", file=sys.stderr)
        return 2
    began = time.monotonic()
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
    seconds = time.monotonic() - began
    print(f"\n{report.table(verdicts)}\n\n{seconds / 60:.1f} minutes")
    report.write(OUT, list(calls), verdicts, seconds)
    return 0 if verdicts and all(verdict.is_good for verdict in verdicts) else 1


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
