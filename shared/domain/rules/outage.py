"""An outage: what a session needs from the world does not answer, so it waits and tries again (design §2). Pure
functions.

An outage begins with the first wait and ends with the first commit that shows that the work goes on again. It never
ends a run by itself: the pauses grow, and a person is asked once it has lasted long
(`shared/agent/outages/wait_out.py`). The engine's retries before the first wait: `infra/engine/retries.py`.
"""

import math
import zlib
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, get_args

from shared.domain.schema.stored_model import StoredModel

OutageReason = Literal[
    "waiting_for_provider", "waiting_for_aws", "waiting_for_key", "waiting_for_tokens", "queued"
]
"""What the session waits for; its `state_reason` meanwhile."""
OUTAGE_REASONS: tuple[str, ...] = get_args(OutageReason)

TOKEN_LIMIT = "TOKEN_LIMIT"
QUEUED = "QUEUED"
_WORLD_IS_WELL = ("waiting_for_tokens", "queued")

RETRIES_COUNT_AS = 6
"""The engine's own retries have taken minutes. So the first pause after them is about a minute, not a second."""
MOST_CRASHES = 6
"""Waits after a worker died or an unnamed error before a person is asked: about 45 minutes."""


class Cause(NamedTuple):
    """Why a session has to wait. `code`: stable, for people and programs. `is_crash`: the session itself may be what
    kills its worker, so that waiting may not help.
    """

    reason: OutageReason
    code: str
    is_crash: bool = False


class OutageLimits(NamedTuple):
    """`patience`: seconds an outage lasts before a person is asked, 0: nobody is ever asked. `longest_pause`: seconds
    between two tries. A deployment's: `Settings.outage_limits` in `shared/settings.py`.
    """

    patience: float = 86_400
    longest_pause: float = 900


DEFAULT_LIMITS = OutageLimits()


class Outage(StoredModel):
    """`reason`, `code`: of the last failure. `since`: when the outage began. `waits`: how far the pauses have grown.
    `crashes`: waits after a crash since a person was asked last. `retry_at`: when the session tries again; None: it
    does now, or a person is asked. `patient_from`: when the patience began; None: with the outage.
    `lost_calls`: ids of the calls that wait; empty: a turn waits. The execution may still run others of the reply.
    `position`: of a session that waits in a line, how many of its tenant were before it when it came. `admitted`: it
    has come out of the line, and what its call may use has been taken for it.
    """

    reason: str
    code: str
    since: datetime
    waits: int = 0
    crashes: int = 0
    retry_at: datetime | None = None
    patient_from: datetime | None = None
    lost_calls: tuple[str, ...] = ()
    position: int | None = None
    admitted: bool = False

    def is_ahead(self, now: datetime) -> bool:
        """Whether the next try is still to be waited for."""
        return self.retry_at is not None and self.retry_at > now

    def seconds_left(self, now: datetime) -> int:
        """Whole seconds until the next try, at least 1."""
        left = (self.retry_at - now).total_seconds() if self.retry_at is not None else 0.0
        return max(1, math.ceil(left))

    def needs_person(self, now: datetime, limits: OutageLimits) -> bool:
        """Whether waiting alone has gone on for long enough."""
        return self.has_crashed_too_often or self._patience_is_over(now, limits)

    @property
    def has_crashed_too_often(self) -> bool:
        return self.crashes > MOST_CRASHES

    def _patience_is_over(self, now: datetime, limits: OutageLimits) -> bool:
        began = self.patient_from or self.since
        return bool(limits.patience) and (now - began).total_seconds() >= limits.patience

    def tried_now(self) -> "Outage":
        """The wait is over before its time."""
        return self.model_copy(update={"retry_at": None})

    def decided(self, now: datetime) -> "Outage":
        """A person, or the question's expiry, has said to try on: patience begins anew."""
        return self.model_copy(update={"retry_at": None, "crashes": 0, "patient_from": now})


def waiting_for_tokens(now: datetime, until: datetime) -> Outage:
    """No outage of the world's, and waited for in the same way: the session's tokens are used up `until` then."""
    return Outage(reason="waiting_for_tokens", code=TOKEN_LIMIT, since=now, retry_at=until)


def waiting_in_line(now: datetime, since: datetime, until: datetime, position: int) -> Outage:
    """No outage either: the provider takes no more calls now. Whoever admits it ends the wait, at the latest `until`
    does. `since`: its place in the line.
    """
    return Outage(reason="queued", code=QUEUED, since=since, retry_at=until, position=position)


def as_queued(outage: Outage | None) -> Outage | None:
    """The wait in the line, which may be over already. None: the session is in none."""
    return outage if outage is not None and outage.code == QUEUED else None


def waiting(
    before: Outage | None,
    cause: Cause,
    session_id: str,
    now: datetime,
    limits: OutageLimits,
    *,
    retry_after: float | None = None,
) -> Outage:
    """The outage after one more failure, with the time of the next try.

    `retry_after`: seconds that the provider asks for in its answer to a single call; None: the engine's retries are
    used up, or no retry helps.
    """
    if before is not None and before.reason in _WORLD_IS_WELL:
        before = None  # that was over when this began
    waits = before.waits if before is not None else 0
    waits = (waits if retry_after is not None else max(waits, RETRIES_COUNT_AS)) + 1
    seconds = pause_seconds(session_id, waits, limits.longest_pause, retry_after or 0.0)
    crashes = before.crashes if before is not None else 0
    return Outage(
        reason=cause.reason,
        code=cause.code,
        since=before.since if before is not None else now,
        waits=waits,
        crashes=crashes + cause.is_crash,
        retry_at=now + timedelta(seconds=seconds),
        patient_from=before.patient_from if before is not None else None,
    )


def pause_seconds(session_id: str, waits: int, longest: float, retry_after: float = 0.0) -> int:
    """Whole seconds before the next try: 1, 2, 4, ... up to `longest`, shortened by up to a half, so that sessions do
    not come back together. A provider's `retry_after` is a floor, up to `longest`, with up to a tenth added.
    """
    jitter = zlib.crc32(f"{session_id}/{waits}".encode()) / 2**32  # from 0 to 1, the same at each attempt
    growing = min(longest, 2.0 ** min(waits - 1, 30)) * (1 - jitter / 2)
    floor = min(longest, retry_after)
    return max(1, round(growing), math.ceil(floor) + int(floor * jitter / 10))
