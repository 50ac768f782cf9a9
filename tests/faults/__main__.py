"""`make faults`: the whole sweep and every outage, or with ONLY="step:PutItem outage:s3" the parts that are named so.

The sweep is made on two stands side by side, on which an invocation of `step` makes 1 turn and 8.

A part is `function:operation:kind` or `outage:service:kind`; what follows a colon may be left out, and so may the
function. `cap1`, `cap8`: on that stand alone. `python:…`: amid calls of Python tools, on a third stand. `tree:…`: in
a tree of sessions, on a fourth.

Ends with 1 where a run differs from the clean one, a fault did not fire or an outage was not felt, with 2 at once where
a part names nothing.
"""

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from acta.infra.toolchain import ROOT
from tests.faults import report
from tests.faults.chosen import sweep_all, sweep_tree
from tests.faults.naming import PYTHON, TREE, unknown, what_there_is
from tests.faults.outages import report as outages_report
from tests.faults.outages.chosen import OUTAGE, outlast
from tests.faults.python_tools.chosen import sweep_python
from tests.faults.stand import is_supported

CAPS = (1, 8)
OUT = ROOT / "build" / "faults.json"


def main(parts: Sequence[str]) -> int:
    if not is_supported():
        print("the sweep finds processes by their connections, which it can on Linux only", file=sys.stderr)
        return 2
    began = time.monotonic()
    caps = [cap for cap in CAPS if f"cap{cap}" in parts] or CAPS
    parts = [part for part in parts if part not in [f"cap{cap}" for cap in CAPS]]
    unmet = unknown(parts)
    if unmet:
        print(
            f"faults: no fault and no outage is named {', '.join(unmet)}.\n{what_there_is()}", file=sys.stderr
        )
        return 2
    named = [part for part in parts if part.startswith(OUTAGE)]
    python = [part for part in parts if part.partition(":")[0] == PYTHON]
    tree = [part for part in parts if part.partition(":")[0] == TREE]
    faults = [part for part in parts if part not in (*named, *python, *tree)]
    # Each on a stand of its own, where it mostly waits. Three at a time were too many for two cores: sessions took
    # longer than the outages' patience.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as beside:
        outlasting = beside.submit(outlast, named) if named or not parts else None
        sweeping = {
            f"cap {cap}": beside.submit(sweep_all, faults, cap)
            for cap in (caps if faults or not parts else [])
        }
        if python or not parts:
            sweeping[PYTHON] = beside.submit(sweep_python, python)
        if tree or not parts:
            sweeping[TREE] = beside.submit(sweep_tree, tree)
        swept = {stand: sweep.result() for stand, sweep in sweeping.items()}
        met = outlasting.result() if outlasting is not None else []
    seconds = time.monotonic() - began
    tables = [report.table(one.verdicts, stand) for stand, one in swept.items() if one.verdicts]
    tables += [outages_report.table(met)] * bool(met)
    print("", *tables, f"{seconds / 60:.1f} minutes", sep="\n\n")
    report.write(OUT, swept, outages_report.content(met), seconds)
    verdicts = [verdict for one in swept.values() for verdict in one.verdicts]
    good = [*(verdict.is_good for verdict in verdicts), *(verdict.is_good for verdict in met)]
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
