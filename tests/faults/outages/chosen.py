"""The outages that are named, or all, on a stand of their own."""

from collections.abc import Sequence

from tests.faults.outages.outage import OutageCase
from tests.faults.outages.report import line
from tests.faults.outages.run import OutageVerdict, cases, outage_stand, run_all, undisturbed

OUTAGE = "outage"
"""How the name of a part of `make faults` begins that is an outage: `outage:service:kind`."""


def outlast(parts: Sequence[str]) -> list[OutageVerdict]:
    """What came of each, printed as it comes. `parts`: as above; none: all."""
    chosen = [case for case in cases() if is_named(case, parts)]
    print(f"{len(chosen)} outages", flush=True)
    with outage_stand() as stand:
        return run_all(
            stand, undisturbed(stand), chosen, told=lambda verdict: print(line(verdict), flush=True)
        )


def is_named(case: OutageCase, parts: Sequence[str]) -> bool:
    for part in parts or [OUTAGE]:
        _, service, kind = [*part.split(":"), "", ""][:3]
        if service in ("", case.service) and kind in ("", case.kind):
            return True
    return False
