"""Why a session waits, and what people are told about it (docs/design/recovery.md 16). Pure functions.

`Outage` is the history of failure: it begins with the first failure and ends with a reply, or with a tool call that is
finished. Until then the pauses grow, and after a long time a person is asked
(`acta/engine/recovery/wait_out.py`). `Delay` is the present wait, for whatever it is: the next try after a
failure, more tokens, or the session's turn in its provider's queue. A delay never changes the history. `cause_of` says
what an error tells of the world: what the session waits for, and a stable code. The engine's retries before the first
failure counts: `acta/infra/engine/retries.py`.
"""

import math
import zlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, get_args

from acta.engine.errors import (
    ActaError,
    AnswerWithheld,
    AwsDenied,
    CommitContention,
    FunctionUnanswered,
    FunctionUnavailable,
    PoisonedSession,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderTimeout,
    ProviderUnavailable,
    Refused,
    SchemaUnknown,
    SessionPolicyTooLarge,
    StopUnknown,
    StoreThrottled,
    StoreUnavailable,
    StreamBroken,
)
from acta.engine.store.schema import StoredModel

DelayReason = Literal[
    "waiting_for_provider", "waiting_for_aws", "waiting_for_key", "waiting_for_tokens", "queued",
    "waiting_for_agents", "waiting_for_callback", "waiting_until",
]  # fmt: skip
"""What the session waits for; its `state_reason` meanwhile."""
DELAY_REASONS: tuple[str, ...] = get_args(DelayReason)
WAITS_FOR: Mapping[str, str] = {
    "waiting_for_provider": "the model's provider",
    "waiting_for_aws": "AWS",
    "waiting_for_key": "a valid key or quota",
    "waiting_for_tokens": "its next tokens",
    "queued": "the limit of the model's provider",
    "waiting_for_agents": "the agents that it has called",
    "waiting_for_callback": "the answer to a tool call",
    "waiting_until": "the time that it has named",
}
"""The same in words, after "waits for"."""

TOKEN_LIMIT = "TOKEN_LIMIT"
QUEUED = "QUEUED"
AGENTS_AT_WORK, CALLBACK_AWAITED, TIME_AWAITED = "AGENTS_AT_WORK", "CALLBACK_AWAITED", "TIME_AWAITED"

RETRIES_COUNT_AS = 6
"""The engine's own retries have taken minutes already, so the first pause after them is about a minute, not a
second."""
MOST_CRASHES = 6
"""Waits after a worker died, an unnamed error or a refused look before a person is asked: about 45 minutes."""


class Cause(NamedTuple):
    """Why a session has to wait."""

    reason: DelayReason
    code: str
    """Stable, for people and programs."""
    is_crash: bool = False
    """The session itself may be what kills its worker, or what it asks for is gone: waiting may not help."""
    word: str = ""
    """What the provider said, for the person who is asked."""


class OutageLimits(NamedTuple):
    """How long a deployment waits an outage out (`Settings.outage_limits`). Both are in seconds."""

    patience: float = 86_400
    """How long an outage lasts before a person is asked. 0: nobody is ever asked."""
    longest_pause: float = 900
    """The longest time between two tries."""


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
    token_budget_needed: int | None = None
    """If it waits for tokens: how high the budget has to be for the next turn. None: that is not known."""
    admitted: bool = False
    """It has come out of the queue, and what its call may use has been taken from the provider's bucket for it."""

    @property
    def told_until(self) -> datetime | None:
        """`until`, as people are told. Agents answer when they are done, and the end of a parent's patience with them,
        after 30 days, would tell nobody anything.
        """
        return None if self.code == AGENTS_AT_WORK else self.until

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
    """The code of the last failure, which `reason` belongs to as well."""
    since: datetime
    """When the first failure was met."""
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


EXECUTION_LOST = Cause("waiting_for_aws", "EXECUTION_LOST", is_crash=True)
"""The engine's execution was lost again and again in one turn. The session itself may be what ends it."""

_STORE = Cause("waiting_for_aws", "STORE_UNAVAILABLE")
_LAMBDA = Cause("waiting_for_aws", "LAMBDA_UNAVAILABLE")
_RELEASE = Cause("waiting_for_aws", "RELEASE_TOO_OLD")
_CRASH = Cause("waiting_for_aws", "STEP_FAILED", is_crash=True)
_BY_CLASS: dict[type[ActaError], Cause] = {
    ProviderOverloaded: Cause("waiting_for_provider", "PROVIDER_OVERLOADED"),
    ProviderUnavailable: Cause("waiting_for_provider", "PROVIDER_UNAVAILABLE"),
    ProviderTimeout: Cause("waiting_for_provider", "PROVIDER_TIMEOUT"),
    StreamBroken: Cause("waiting_for_provider", "PROVIDER_STREAM_BROKEN"),
    StopUnknown: Cause("waiting_for_provider", StopUnknown.code, is_crash=True),
    AnswerWithheld: Cause("waiting_for_provider", AnswerWithheld.code, is_crash=True),
    ProviderKeyRefused: Cause("waiting_for_key", ProviderKeyRefused.code),
    ProviderQuotaExceeded: Cause("waiting_for_key", ProviderQuotaExceeded.code),
    StoreThrottled: _STORE,
    StoreUnavailable: _STORE,
    CommitContention: _STORE,
    FunctionUnavailable: _LAMBDA,
    FunctionUnanswered: _LAMBDA,
    AwsDenied: Cause("waiting_for_aws", "AWS_DENIED"),
    SessionPolicyTooLarge: Cause("waiting_for_aws", SessionPolicyTooLarge.code),
    SchemaUnknown: _RELEASE,
    Refused: _RELEASE,
}
_BY_NAME = {error.__name__: cause for error, cause in _BY_CLASS.items()}
WORKER_LOST = (
    "Runtime.ExitError",
    "Sandbox.Timedout",
    "Lambda.Unknown",
    "Lambda.ClientExecutionTimeoutException",
)
"""The engine's names for a worker that died or gave no answer in its time. Step Functions reports memory that ran out
and time-outs as `Lambda.Unknown` (Developer Guide, "Handle transient Lambda service exceptions")."""
_LAMBDA_SERVICE = "Lambda."
"""How the engine's names for an error of the Lambda service begin."""

EXPLAINED: Mapping[str, str] = {
    "PROVIDER_OVERLOADED": "The model's provider is overloaded. Fallback models would answer in the same turn.",
    "PROVIDER_UNAVAILABLE": "The model's provider cannot be reached or fails.",
    "PROVIDER_TIMEOUT": "The model's provider gives no answer in time.",
    "PROVIDER_STREAM_BROKEN": "The model's answers break off.",
    StopUnknown.code: "The model's provider ends its answers with a word that Acta does not know.",
    AnswerWithheld.code: "The model's provider does not hand over an answer that it makes in the background.",
    "PROVIDER_KEY_REFUSED": f"The provider does not accept the key. {ProviderKeyRefused.waiting}",
    "PROVIDER_QUOTA_EXCEEDED": f"The provider's quota is used up. {ProviderQuotaExceeded.waiting}",
    "STORE_UNAVAILABLE": "The deployment's storage does not answer, or refuses because of too many requests.",
    "LAMBDA_UNAVAILABLE": "The deployment's functions cannot be run, or not so many at once.",
    "AWS_DENIED": "The deployment lacks a permission. An operator has to grant it.",
    SessionPolicyTooLarge.code: (
        "AWS does not take the policy for this tenant's data, because its names are too long. An operator has to look."
    ),
    "RELEASE_TOO_OLD": "A newer release has written what this one does not know. It is most likely being deployed.",
    "EXECUTION_LOST": "The engine was lost several times in one turn. An operator may have to look.",
    TOKEN_LIMIT: (
        "Too few tokens are left for the next turn. It goes on by itself when its budget renews, or with a higher one."
    ),
    QUEUED: "The model's provider takes no more calls now. It goes on by itself in its turn.",
    AGENTS_AT_WORK: "It goes on by itself when the agents that it has called have answered.",
    CALLBACK_AWAITED: "It goes on by itself when a tool's answer is sent to the callback URL of its call.",
    TIME_AWAITED: "It goes on by itself at the time that it has named.",
    "STEP_FAILED": "A step failed after its retries. An operator may have to look.",
}
"""Every code of a cause -> its sentence."""


def cause_of(error: str) -> Cause | None:
    """The cause behind an error that was left after the engine's retries. None: the world is not the reason, the
    session's own data is, and waiting does not help.

    `error`: a class of ours, or a name of the engine's such as `States.Timeout`.
    """
    if error == PoisonedSession.__name__:
        return None
    if error.startswith(_LAMBDA_SERVICE) and error not in WORKER_LOST:
        return _LAMBDA
    return _BY_NAME.get(error, _CRASH)


def cause_of_lost_call(error: str) -> Cause | None:
    """The cause, where a tool call was not made or not recorded because of the world, so that it can be tried again
    later. None: its worker died, or it must not run; the call itself has to be settled.
    """
    cause = cause_of(error)
    if cause is None or cause.is_crash or error == Refused.__name__:
        return None
    return cause


def cause_of_error(error: ActaError) -> Cause:
    """The cause behind an error that this process has caught."""
    cause = _BY_CLASS.get(type(error), _CRASH)
    return cause._replace(word=error.word) if isinstance(error, StopUnknown) else cause


def explained(code: str) -> str:
    """A sentence for the user. A code of another release has none of its own."""
    return EXPLAINED.get(code, "Something that the session needs does not answer.")
