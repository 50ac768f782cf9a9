"""What a session does, as named assumptions: each may be set on the command line of `make scale`."""

from typing import NamedTuple


class Workload(NamedTuple):
    """Of each session: `model_calls`, each of `model_seconds`; `engine_calls`: calls of tools that are none of the
    built-in ones which a worker makes itself; `session_seconds`: from its start to its end, without waiting for people;
    `watched`: the part of sessions that somebody watches, each for `watched_seconds`; `asking`: the part that waits for
    a person once, for `waiting_hours`. `largest_tenant`: its part of all sessions. `peak`: the busiest minute to the
    mean one. `region`: whose default quotas count. Eight turns a step, as in staging and prod.
    """

    model_calls: int = 11
    model_seconds: float = 12
    engine_calls: int = 4
    session_seconds: float = 160
    watched: float = 0.2
    watched_seconds: float = 150
    asking: float = 0.1
    waiting_hours: float = 8
    largest_tenant: float = 0.2
    peak: float = 3
    region: str = "eu-central-1"


SESSIONS = (10_000, 100_000, 1_000_000, 10_000_000)
"""A day."""
DAY = 86_400
