"""Why a session waits, in two parts (design §2). Pure functions.

`Outage` is the history of failure: it begins with the first failure and ends with a reply, or with a tool call that is
finished. Until then the pauses grow, and after a long time a person is asked
(`shared/acta_engine/recovery/wait_out.py`). `Delay` is the present wait, for whatever it is: the next try after a
failure, more tokens, or the session's turn in its provider's queue. A delay never changes the history. The engine's
retries before the first failure counts: `infra/acta_infra/engine/retries.py`.
"""

import math
import zlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, get_args

from acta_engine.store.stored_model import StoredModel

DelayReason = Literal[
    "waiting_for_provider", "waiting_for_aws", "waiting_for_key", "waiting_for_tokens", "queued"
]
"""What the session waits for; its `state_reason` meanwhile."""
DELAY_REASONS: tuple[str, ...] = get_args(DelayReason)
WAITS_FOR: Mapping[str, str] = {
    "waiting_for_provider": "the model's provider",
    "waiting_for_aws": "AWS",
    "waiting_for_key": "a valid key or quota",
    "waiting_for_tokens": "its next tokens",
    "queued": "the limit of the model's provider",
}
"""The same in words, after "waits for"."""

TOKEN_LIMIT = "TOKEN_LIMIT"
QUEUED = "QUEUED"

RETRIES_COUNT_AS = 6
"""The engine's own retries have taken minutes. So the first pause after them is about a minute, not a second."""
MOST_CRASHES = 6
"""Waits after a worker died or an unnamed error before a person is asked: about 45 minutes."""


class Cause(NamedTuple):
    """Why a session has to wait. `code`: stable, for people and programs. `is_crash`: the session itself may be what
    kills its worker, so that waiting may not help.
    """

    reason: DelayReason
    code: str
    is_crash: bool = False


class OutageLimits(NamedTuple):
    """`patience`: seconds an outage lasts before a person is asked, 0: nobody is ever asked. `longest_pause`: seconds
    between two tries. A deployment's: `Settings.outage_limits` in `shared/acta_engine/settings.py`.
    """

    patience: float = 86_400
    longest_pause: float = 900


DEFAULT_LIMITS = OutageLimits()


class Delay(StoredModel):
    """What the session waits for now, and until when."""

    reason: str
    code: str
    since: datetime
    """When it began to wait. A session that joins its provider's queue again keeps the time of its first place."""
    until: datetime | None
    """When the session goes on, at the latest. None: the wait was ended before its time, and the next try is made."""
    position: int | None = None
    """In a provider's queue: how many sessions of its tenant were before it when it came. None: it is in none."""
    admitted: bool = False
    """It has come out of the queue, and what its call may use has been taken from the provider's bucket for it."""

    @property
    def is_queued(self) -> bool:
        """Whether it is about a place in a provider's queue."""
        return self.code == QUEUED

    def is_ahead(self, now: datetime) -> bool:
        """Whether the next try is still to be waited for."""
        return self.until is not None and self.until > now

    def seconds_left(self, now: datetime) -> int:
        """Whole seconds until the next try, at least 1."""
        left = (self.until - now).total_seconds() if self.until is not None else 0.0
        return max(1, math.ceil(left))


class Outage(StoredModel):
    """What has failed since the last reply or finished call."""

    reason: str
    code: str
    """Of the last failure, as `reason` is."""
    since: datetime
    """When the first one was met."""
    waits: int = 0
    """How far the pauses have grown."""
    crashes: int = 0
    """Failures that the session itself may have caused, since a person last decided to go on."""
    patient_from: datetime | None = None
    """When the patience began. None: with the outage."""
    lost_calls: tuple[str, ...] = ()
    """Ids of the calls that the last failure was about. Empty: it was a turn. The execution may still run others of the
    same reply."""

    def needs_person(self, now: datetime, limits: OutageLimits) -> bool:
        """Whether waiting alone has gone on for long enough."""
        waited = (now - (self.patient_from or self.since)).total_seconds()
        return self.has_crashed_too_often or (bool(limits.patience) and waited >= limits.patience)

    @property
    def has_crashed_too_often(self) -> bool:
        return self.crashes > MOST_CRASHES

    def decided(self, now: datetime) -> "Outage":
        """A person, or the expiry of the question about the outage, has said to go on: patience begins again."""
        return self.model_copy(update={"crashes": 0, "patient_from": now})

    def pause(
        self, session_id: str, now: datetime, limits: OutageLimits, retry_after: float | None = None
    ) -> Delay:
        """The wait before the next try. `retry_after`: as in `failed_again`."""
        seconds = pause_seconds(session_id, self.waits, limits.longest_pause, retry_after or 0.0)
        return Delay(reason=self.reason, code=self.code, since=now, until=now + timedelta(seconds=seconds))


def failed_again(
    before: Outage | None, cause: Cause, now: datetime, *, retry_after: float | None = None
) -> Outage:
    """The outage with one more failure, or a new one.

    `retry_after`: seconds that the provider asks for in its answer to a single call; None: the engine's retries are
    used up, or no retry helps.
    """
    before = before or Outage(reason=cause.reason, code=cause.code, since=now)
    waits = before.waits if retry_after is not None else max(before.waits, RETRIES_COUNT_AS)
    failed = {
        "reason": cause.reason,
        "code": cause.code,
        "waits": waits + 1,
        "crashes": before.crashes + cause.is_crash,
        "lost_calls": (),
    }
    return before.model_copy(update=failed)


def pause_seconds(session_id: str, waits: int, longest: float, retry_after: float = 0.0) -> int:
    """Whole seconds before the next try: 1, 2, 4, ... up to `longest`, shortened by up to a half, so that sessions do
    not come back together. A provider's `retry_after` is a floor, up to `longest`, with up to a tenth added.
    """
    jitter = zlib.crc32(f"{session_id}/{waits}".encode()) / 2**32  # from 0 to 1, the same at each attempt
    growing = min(longest, 2.0 ** min(waits - 1, 30)) * (1 - jitter / 2)
    floor = min(longest, retry_after)
    return max(1, round(growing), math.ceil(floor) + int(floor * jitter / 10))
