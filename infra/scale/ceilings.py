"""Where a deployment breaks: what a session needs of each quota and of each limit of Acta's own, and how many sessions
a day that is enough for.

What is counted comes from `make bench`, by way of `infra/costs.py`, which a test compares with docs/costs.md. Quotas
come from `infra/scale/quotas.py`. What is neither says where it is from.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from infra.costs import COUNTED_TURNS, PER_TURN, TOKEN_TURNS, TOKENS, total
from infra.scale.quotas import QUOTAS, recovery_workers
from infra.scale.workload import DAY, Workload
from shared.domain.limits import shared_counts
from shared.domain.rules.tenant_hour import MOST_SHARES
from shared.ports.deployment.recovery_workers import SHARE
from shared.ports.log import LIVE_SHARDS

Whose = Literal["provider", "AWS", "Acta"]

FUSED, UNFUSED = 8, 1
"""`turns_per_step` that were counted."""
TRANSITIONS_OF_A_CALL = 4
"""Of one call that the engine makes (design §2)."""
PARKED_AFTER = 600
"""Seconds. What waits for longer has no execution (ADR 104)."""
MOST_LISTED = 100_000
"""Running executions that a scan asks for; a test compares it with `shared/agent/recovery/sweep.py`."""
INDEX_UNITS = 4
"""Write units of a session in the index of live sessions, at most: a start, an end, a wait between. Estimated."""
TENANT_UNITS = 10
"""Write units of a session under its tenant's key: 6 of a start and 4 of the tenant's limits (docs/costs.md)."""
GRANTS_OF_A_HOUR = 50
"""A second, of one item that is changed on the condition of what was read. Estimated, the low end."""
CHANGES_OF_COUNTS, UNITS_OF_A_CHANGE = 2, 2
"""Of a session, where its tenant's starts or open sessions are limited: its start and its end (ADR 65), all in one
partition (ADR 107)."""
COMMITS_OF_LEASES, LEASED_TURNS = 6, 49
"""Counted (docs/costs.md, "What safety costs")."""
SCAN_SECONDS = 45
"""Of a scan, for sessions."""
POLL_SECONDS = 20
BATCH, PACE, THREADS = 100, 25, 4
"""Of an invocation that admits a part of a long line: sessions, a second, at once; a test compares them with
`shared/agent/recovery/`.
"""
REQUESTS_ALONE = 7
"""Of one admission by a dispatcher alone."""
REQUESTS_OF_A_LOOK, REQUESTS_OF_ONE = 18, 4
"""Of a look at a long line with six workers, and of each of the 600 admissions that they make then. Counted
(`tests/integration/agent/budget/test_long_line.py`).
"""
REQUEST_SECONDS = 0.01
"""Of one request; an assumption, as in the simulation of recovery."""
REQUESTS_OF_A_START = 2


class Ceiling(NamedTuple):
    """`need`: of one session a second. `limit`: in the same unit. `peak`: as in `Workload`."""

    what: str
    whose: Whose
    need: float
    limit: float
    unit: str
    raised_by: str
    peak: float

    @property
    def sessions(self) -> float:
        """A day at which the busiest minute needs all of it."""
        return self.limit / (self.need * self.peak) * DAY

    def used(self, sessions: float) -> float:
        """The part of the limit that is needed in the busiest minute."""
        return sessions / self.sessions


REQUEST = "a quota request"


def ceilings(of: Workload) -> list[Ceiling]:
    """The lowest first."""
    found = [
        *_of_provider(of),
        *_of_aws(of, _transitions(of, FUSED), _open_seconds(of)),
        *_of_acta(of, LIVE_SHARDS, MOST_SHARES, shared_counts.MOST_SHARES, _open_seconds(of)),
        _of_bucket(of),
        _of_dispatcher(of, admissions(of.region), "AWS"),
    ]
    return sorted(found, key=lambda one: one.sessions)


def ceilings_before(of: Workload) -> list[Ceiling]:
    """As it was: each turn a state of the engine, an execution for whoever waits, one index partition, no count of what
    a provider takes, and a look at each active session by one invocation a minute.
    """
    waiting = of.session_seconds + of.asking * of.waiting_hours * 3_600
    looks = QUOTAS["DescribeExecution"].of(of.region) * SCAN_SECONDS / 60
    found = [
        *_of_provider(of),
        *_of_aws(of, _transitions(of, UNFUSED), waiting),
        *_of_acta(of, 1, 1, 1, waiting),
        _of_dispatcher(of, 60 / (REQUESTS_ALONE * REQUEST_SECONDS), "Acta"),
        Ceiling(
            "looks at executions, one for each that is older than a minute",
            "Acta",
            max(0.0, of.session_seconds - 60) / 60,
            looks,
            "a second",
            "asking only for those that no list has (done)",
            of.peak,
        ),
    ]
    return sorted(found, key=lambda one: one.sessions)


def restart_minutes(of: Workload, sessions: float) -> float:
    """Until all that are at work at the busiest time run again, where all lost their executions at once."""
    at_work = _open_seconds(of) * sessions / DAY * of.peak
    return at_work / ((recovery_workers(of.region, SHARE) + 1) * SHARE)


def _of_provider(of: Workload) -> list[Ceiling]:
    more = "the provider raises it, or a second key"
    return [
        _of_quota("ModelRequests", "provider", of.model_calls * 60, more, of),
        _of_quota("ModelInput", "provider", _tokens("not from the cache", of) * 60, more, of),
        _of_quota("ModelOutput", "provider", _tokens("output", of) * 60, more, of),
    ]


def _of_aws(of: Workload, transitions: float, open_seconds: float) -> list[Ceiling]:
    waiting = of.model_calls * of.model_seconds + of.watched * of.watched_seconds
    requests = REQUESTS_OF_A_START + of.watched * of.watched_seconds / POLL_SECONDS
    return [
        _of_quota("Concurrency", "AWS", waiting, f"{REQUEST} (tens of thousands)", of),
        _of_quota("StateTransition", "AWS", transitions, REQUEST, of),
        _of_quota("StartExecution", "AWS", 1 + of.asking, REQUEST, of),
        _of_quota("OpenExecutions", "AWS", open_seconds, REQUEST, of),
        _of_quota("ListExecutions", "AWS", open_seconds / 1_000 / 60, REQUEST, of),
        _of_quota(
            "TableWrites", "AWS", total(COUNTED_TURNS, _counted("write units"), of.model_calls), REQUEST, of
        ),
        _of_quota("Requests", "AWS", requests, REQUEST, of),
    ]


def _of_acta(of: Workload, shards: int, shares: int, counts: int, open_seconds: float) -> list[Ceiling]:
    partition = QUOTAS["PartitionWrites"].large
    grants = of.model_calls * COMMITS_OF_LEASES / LEASED_TURNS * of.largest_tenant
    another = "a second deployment, in an account of its own"
    return [
        Ceiling(f"grants of the largest tenant's hour, {shares} item{'s' * (shares > 1)}", "Acta", grants,
                GRANTS_OF_A_HOUR * shares, "a second",
                "no limit on that tenant's hour; its own deployment", of.peak),
        Ceiling(f"starts and ends in the largest tenant's counts, {counts} item{'s' * (counts > 1)}", "Acta",
                CHANGES_OF_COUNTS * of.largest_tenant,
                min(GRANTS_OF_A_HOUR * counts, partition / UNITS_OF_A_CHANGE), "a second",
                "no limit on that tenant's starts and open sessions", of.peak),
        Ceiling("write units under the largest tenant's key", "Acta", TENANT_UNITS * of.largest_tenant, partition,
                "a second", "that tenant's own deployment", of.peak),
        Ceiling(f"write units of the index of live sessions, {shards} part{'s' * (shards > 1)}", "Acta", INDEX_UNITS,
                partition * shards, "a second", another, of.peak),
        Ceiling("open executions that a scan lists", "Acta", open_seconds, MOST_LISTED, "at once", another, of.peak),
    ]  # fmt: skip


def _of_bucket(of: Workload) -> Ceiling:
    """Where the environment names a provider's limits (ADR 106)."""
    partition = QUOTAS["PartitionWrites"].large
    return Ceiling(
        "calls that a provider's bucket counts, one item",
        "Acta",
        of.model_calls,
        partition,
        "a second",
        "a second provider, or no limit named",
        of.peak,
    )


def _of_dispatcher(of: Workload, a_minute: float, whose: Whose) -> Ceiling:
    """Where the environment names a provider's limits, and each call comes out of the line. What bounds a long line is
    AWS's quota of starts.
    """
    return Ceiling(
        "calls that come out of a provider's line",
        whose,
        of.model_calls * 60,
        a_minute,
        "a minute",
        "a quota request for starts of executions, with `recovery_workers`",
        of.peak,
    )


def admissions(region: str) -> float:
    """A minute, out of a long line: the lowest of what the dispatcher can choose, what those that it asks can do, and
    the starts of executions that recovery allows itself.
    """
    workers = recovery_workers(region, SHARE)
    a_look = workers * BATCH
    chosen = a_look / (REQUESTS_OF_A_LOOK / 6 * workers * REQUEST_SECONDS) * 60
    done = workers * min(PACE, THREADS / (REQUESTS_OF_ONE * REQUEST_SECONDS)) * 60
    return min(chosen, done, workers * SHARE)


def _of_quota(name: str, whose: Whose, need: float, raised_by: str, of: Workload) -> Ceiling:
    quota = QUOTAS[name]
    return Ceiling(quota.what, whose, need, quota.of(of.region), quota.unit, raised_by, of.peak)


def _open_seconds(of: Workload) -> float:
    """An execution of a session is open for so long."""
    return of.session_seconds + of.asking * min(PARKED_AFTER, of.waiting_hours * 3_600)


def _transitions(of: Workload, turns_per_step: int) -> float:
    """The calls that the engine makes are in the counted turns where each is a state, and not where they are fused."""
    counted = total(COUNTED_TURNS, _counted("transitions", turns_per_step), of.model_calls)
    return counted + (TRANSITIONS_OF_A_CALL * of.engine_calls if turns_per_step > 1 else 0)


def _counted(name: str, turns_per_step: int = FUSED) -> Sequence[float]:
    per_turn = PER_TURN[name][turns_per_step]
    return [each * turns for each, turns in zip(per_turn, COUNTED_TURNS, strict=True)]


def _tokens(name: str, of: Workload) -> float:
    return total(TOKEN_TURNS, TOKENS[name], of.model_calls)
