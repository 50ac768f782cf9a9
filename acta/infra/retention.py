"""How long a deployment keeps what nobody deletes: data, logs, and messages that wait to be sent (docs/options.md, "How
long things are kept").

The engine keeps some things for times of its own: a deleted session's emptied keys (`TOMBSTONE_LIFE` in
`acta/engine/log/store.py`), the answer to an `Idempotency-Key` (`KEY_LIFE` in
`acta/engine/log/commit.py`).
"""

from dataclasses import dataclass

LONGEST_RECOVERY = 35
"""Source: Amazon DynamoDB Developer Guide, "Point-in-time recovery"."""
LOG_DAYS = (1, 7, 14, 30, 90, 180, 365)
"""The days that an environment may choose. CloudWatch accepts only certain numbers; these are some of them."""
NOTIFICATION_HOURS = 6
"""How long delivery of a notification is tried. A receiver that is unavailable for less than this misses only
interventions that have been decided meanwhile."""
SPAN_DAYS = 4
"""How long spans wait for their endpoint. This is longer than `GIVEN_UP_AFTER` in
`acta/engine/traces/export.py`, so spans that are given up are given up there, where they are counted."""
FAILED_EVENT_DAYS = 14
"""How long an event that could not be used waits for an operator: the longest that SQS keeps a message. Source: Amazon
SQS developer guide, "Amazon SQS message quotas"."""


@dataclass(frozen=True)
class Retention:
    """In days. The defaults delete nothing that was kept before."""

    ended_sessions: int | None = None
    """An ended session and its texts are kept this long after the session's last commit. 0: for ever. None: as the
    posture says."""
    file_versions: int = 30
    """Versions of files that were replaced or deleted."""
    recovery: int = LONGEST_RECOVERY
    """How far back the tables can be restored, where there is point-in-time recovery."""
    logs: int = 30
    """What the functions, the gateway and the firewall logged."""
    audit: int = 0
    """Records of the audit trail. 0: for ever. They are kept for longer than the tables can be restored: they say what
    has to be erased again."""

    def __post_init__(self) -> None:
        """Raises ValueError."""
        if (self.ended_sessions or 0) < 0 or self.audit < 0:
            raise ValueError("retention of ended_sessions and audit is a number of days, or 0 for ever")
        if self.file_versions < 1:
            raise ValueError("file_versions is at least 1 day; without versions say versioned_files=False")
        if not 1 <= self.recovery <= LONGEST_RECOVERY:
            raise ValueError(f"recovery is 1 to {LONGEST_RECOVERY} days, which is AWS's limit")
        if 0 < self.audit <= self.recovery:
            raise ValueError(
                f"audit is 0 for ever, or more days than recovery, which is {self.recovery}: after a restore of the "
                "table the trail says what has to be erased again"
            )
        if self.logs not in LOG_DAYS:
            raise ValueError(
                f"logs are kept for one of {', '.join(map(str, LOG_DAYS))} days, not {self.logs}"
            )
