"""Parked sessions: what waits for long has no execution meanwhile, and costs its storage (design §2, ADR 104).

The generation of a parked session is committed and not started. Whoever settles the last thing that it waits for starts
it. Where that is a time, recovery starts it a little earlier, and the execution waits for the rest: the scan comes once
a minute, so nothing fires late.
"""

from datetime import datetime, timedelta

from shared.domain.session.head import Head

LEAD = timedelta(seconds=90)
"""How long before its time a parked session gets its execution: the minute between two scans, and half of one for the
scan itself."""
LEAST = timedelta(seconds=180)
"""What goes on by itself earlier than this keeps its execution."""


def resumes_at(head: Head, warn: float = 0.0) -> datetime | None:
    """When the session goes on by itself. None: only when a person decides, or at once where nothing is open.

    `warn`: seconds before its expiry at which a question is warned of.
    """
    if not head.interventions:
        return head.delay.until if head.delay is not None else None
    warning = timedelta(seconds=warn)
    times = [
        one.timeout_at if one.warned else one.timeout_at - warning
        for one in head.interventions
        if one.timeout_at is not None
    ]
    return min(times, default=None)


def is_due(head: Head, now: datetime, warn: float = 0.0) -> bool:
    """Whether a parked session is to have an execution again: its time has nearly come, or nothing is left to wait
    for.
    """
    at = resumes_at(head, warn)
    return not head.interventions if at is None else at - LEAD <= now


def is_worth_parking(head: Head, now: datetime, warn: float = 0.0) -> bool:
    """Whether the session waits, and long enough."""
    if head.run is None or head.is_over or is_due(head, now, warn):
        return False
    at = resumes_at(head, warn)
    return at is None or at - now >= LEAST
