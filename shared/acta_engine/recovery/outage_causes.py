"""What an error says of the world: what the session waits for, its code, and what people are told (design §2, §3)."""

from collections.abc import Mapping

from acta_engine.errors import (
    ActaError,
    AwsDenied,
    CommitContention,
    FunctionUnavailable,
    PoisonedSession,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderTimeout,
    ProviderUnavailable,
    Refused,
    SchemaUnknown,
    StoreThrottled,
    StoreUnavailable,
    StreamBroken,
)
from acta_engine.recovery.outage import QUEUED, TOKEN_LIMIT, Cause

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
    ProviderKeyRefused: Cause("waiting_for_key", ProviderKeyRefused.code),
    ProviderQuotaExceeded: Cause("waiting_for_key", ProviderQuotaExceeded.code),
    StoreThrottled: _STORE,
    StoreUnavailable: _STORE,
    CommitContention: _STORE,
    FunctionUnavailable: _LAMBDA,
    AwsDenied: Cause("waiting_for_aws", "AWS_DENIED"),
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

_EXPLAINED = {
    "PROVIDER_OVERLOADED": "The model's provider is overloaded. Fallback models would answer in the same turn.",
    "PROVIDER_UNAVAILABLE": "The model's provider cannot be reached or fails.",
    "PROVIDER_TIMEOUT": "The model's provider gives no answer in time.",
    "PROVIDER_STREAM_BROKEN": "The model's answers break off.",
    "PROVIDER_KEY_REFUSED": f"The provider does not accept the key. {ProviderKeyRefused.waiting}",
    "PROVIDER_QUOTA_EXCEEDED": f"The provider's quota is used up. {ProviderQuotaExceeded.waiting}",
    "STORE_UNAVAILABLE": "The deployment's storage does not answer, or refuses because of too many requests.",
    "LAMBDA_UNAVAILABLE": "The deployment's functions cannot be run, or not so many at once.",
    "AWS_DENIED": "The deployment lacks a permission. An operator has to grant it.",
    "RELEASE_TOO_OLD": "A newer release has written what this one does not know. It is most likely being deployed.",
    "EXECUTION_LOST": "The engine was lost several times in one turn. An operator may have to look.",
    TOKEN_LIMIT: "The session's tokens are used up. It goes on by itself when its budget renews.",
    QUEUED: "The model's provider takes no more calls now. It goes on by itself in its turn.",
    "STEP_FAILED": "A step failed after its retries. An operator may have to look.",
}


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
    return _BY_CLASS.get(type(error), _CRASH)


def explanations() -> Mapping[str, str]:
    """Every code of a cause -> its sentence."""
    return _EXPLAINED


def explained(code: str) -> str:
    """A sentence for the user. A code of another release has none of its own."""
    return _EXPLAINED.get(code, "Something that the session needs does not answer.")
