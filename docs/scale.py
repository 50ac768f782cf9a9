"""`make scale`: at how many sessions a day each quota of AWS, of a model provider and of Acta's own design is used up.

Prints one table, which docs/scale.md explains, and what it costs that turns wait for their model (docs/costs.md, ADR
208). Other assumptions go on the command line:

    make scale WITH="model_calls=30 peak=5 region=us-east-1"
"""

import math
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from acta.engine.usage.aws_prices import UNITS_PER_USD, prices_in
from acta.infra.sizing import SIZES
from docs.quotas import QUOTAS

DAY = 86_400
GRANTS_A_SECOND = 50
"""Changes of one item in transactions. Estimated, the low end."""
LOADS = (1, 100, 10_000, 100_000)
"""Sessions a day in the table of what waiting costs."""
HOURS = 730
"""Of a month."""
# Lambda Managed Instances. ADR 208 says where each figure stands.
INSTANCE = 0.0816
"""USD an hour, on demand, for an m7g.large of 2 vCPUs and 8 GB in US East (N. Virginia)."""
FEE = 0.15
FEWEST = 3
AT_ONCE = 2 * 16
"""Invocations of Python on one such instance, each in a process of its own."""
USED = 0.5
"""The share of this that is used. By default Lambda keeps enough free for the load to double in five minutes."""
GATEWAYS = 3 * 0.045 * HOURS
"""USD a month for a NAT gateway in each of three zones, without the data that goes through."""


class Workload(NamedTuple):
    """One session, and how sessions are spread over the day and over tenants."""

    model_calls: float = 11
    model_seconds: float = 12
    session_seconds: float = 160
    """From the start to the end, without waiting for people."""
    transitions: float = 21.6
    """Of Step Functions with eight turns per state and four calls of tools that the engine makes. Counted."""
    write_units: float = 82
    """Counted (docs/costs.md)."""
    input_tokens: float = 2_704
    """Tokens that are in no cache. Counted."""
    output_tokens: float = 752
    asking: float = 0.1
    """Share of sessions that wait for a person once. After ten minutes a waiting session has no execution."""
    watched: float = 0.2
    """Share of sessions that somebody watches, each for `watched_seconds`."""
    watched_seconds: float = 150
    largest_tenant: float = 0.2
    """Share of all sessions that the largest tenant starts."""
    peak: float = 3
    """Load of the busiest minute divided by the mean load."""
    region: str = "eu-central-1"


class Ceiling(NamedTuple):
    """`need`: what one session a second uses of it. `limit`: how much of it there is, in the same unit."""

    what: str
    whose: str
    need: float
    limit: float
    raised_by: str

    def breaks_at(self, peak: float) -> float:
        """Sessions a day at which the busiest minute needs all of it."""
        return self.limit / (self.need * peak) * DAY


def ceilings(of: Workload) -> Iterator[Ceiling]:
    open_seconds = of.session_seconds + of.asking * 600
    at_work = of.model_calls * of.model_seconds + of.watched * of.watched_seconds
    for name, whose, need in (
        ("ModelRequests", "provider", of.model_calls * 60),
        ("ModelInput", "provider", of.input_tokens * 60),
        ("ModelOutput", "provider", of.output_tokens * 60),
        ("Concurrency", "AWS", at_work),
        ("StateTransition", "AWS", of.transitions),
        ("StartExecution", "AWS", 1 + of.asking),
        ("OpenExecutions", "AWS", open_seconds),
        ("ListExecutions", "AWS", open_seconds / 1_000 / 60),
        ("TableWrites", "AWS", of.write_units),
        ("Requests", "AWS", 2 + of.watched * of.watched_seconds / 20),
    ):
        quota = QUOTAS[name]
        raised_by = "the provider, or a second key" if whose == "provider" else "a quota request"
        yield Ceiling(f"{quota.what}, {quota.unit}", whose, need, quota.of(of.region), raised_by)
    partition = QUOTAS["PartitionWrites"].large
    alone = "a deployment of its own for that tenant"
    another = "a second deployment, in an account of its own"
    tenant = of.largest_tenant
    # Each row names the part of Acta that makes the limit; docs/scale.md says where each number comes from.
    yield Ceiling("calls out of a provider's line, a minute", "AWS", of.model_calls * 60,
                  QUOTAS["StartExecution"].of(of.region) * 60 * 2 / 3, "a quota request")  # fmt: skip
    yield Ceiling("grants of a tenant's hour, a second", "Acta", (of.model_calls * 6 / 49 + 1) * tenant,
                  GRANTS_A_SECOND * 32, alone)  # fmt: skip
    yield Ceiling("starts and ends in a tenant's counts, a second", "Acta", 2 * tenant,
                  GRANTS_A_SECOND * 10, alone)  # fmt: skip
    yield Ceiling("write units under a tenant's key, a second", "Acta", 12 * tenant, partition, alone)
    yield Ceiling("write units of the index of live sessions, a second", "Acta", 4, partition * 16, another)
    yield Ceiling("open executions that a scan lists", "Acta", open_seconds, 100_000, another)
    yield Ceiling("calls that a provider's bucket counts, a second", "Acta", of.model_calls, partition,
                  "a second provider, or naming no limit")  # fmt: skip


def table(of: Workload) -> Iterator[str]:
    yield f"| limit | whose | of it | used up at, sessions a day ({of.region}) | raised by |"
    yield "|---|---|---|---|---|"
    for one in sorted(ceilings(of), key=lambda each: each.breaks_at(of.peak)):
        sessions = _two_digits(one.breaks_at(of.peak))
        yield f"| {one.what} | {one.whose} | {one.limit:,.0f} | {sessions} | {one.raised_by} |"


class Waiting(NamedTuple):
    """Turns that wait for their model day and night, and what that costs in USD a month in US East (N. Virginia)."""

    at_once: float
    on_lambda: float
    on_instances: float


def waiting(of: Workload, sessions: float) -> Waiting:
    """`sessions`: a day."""
    at_once = sessions * of.model_calls * of.model_seconds / DAY
    gb_second = (prices_in("us-east-1").gb_second("arm64") or 0) / UNITS_PER_USD
    gigabytes = SIZES["step"].memory / 1_024
    instances = max(FEWEST, at_once / (AT_ONCE * USED))
    on_instances = instances * INSTANCE * (1 + FEE) * HOURS + GATEWAYS
    return Waiting(at_once, at_once * gigabytes * gb_second * HOURS * 3_600, on_instances)


def break_even(of: Workload) -> float:
    """Sessions a day at which the fewest instances cost what waiting on Lambda costs."""
    least, at_one = waiting(of, 0).on_instances, waiting(of, 1).on_lambda
    return least / at_one


def costs_of_waiting(of: Workload) -> Iterator[str]:
    yield "| sessions a day | turns that wait at once | Lambda, USD a month | Managed Instances, USD a month |"
    yield "|---|---|---|---|"
    for sessions in sorted((*LOADS, break_even(of))):
        at_once, on_lambda, on_instances = waiting(of, sessions)
        count = f"{sessions:,}" if sessions in LOADS else f"{_two_digits(sessions)}, break-even"
        yield f"| {count} | {at_once:,.1f} | {on_lambda:,.2f} | {on_instances:,.0f} |"


def _two_digits(number: float) -> str:
    return f"{round(number, 1 - math.floor(math.log10(number))):,.0f}"


def main(assignments: Sequence[str]) -> int:
    usual = Workload()._asdict()
    given = dict(each.split("=", 1) for each in assignments)
    unknown = sorted(given.keys() - usual.keys())
    if unknown:
        print(f"There is no {', '.join(unknown)}. There are: {', '.join(usual)}.", file=sys.stderr)
        return 2
    of = Workload(**{name: type(usual[name])(text) for name, text in given.items()})
    print(*table(of), "", *costs_of_waiting(of), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
