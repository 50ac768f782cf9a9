"""What ends a run after the engine's retries, and the code and message that it shows (design §2).

A run whose execution was lost too often is ended in `restart.py`.
"""

from contextlib import suppress

from shared.agent.session.endings import failed
from shared.agent.session.fencing import is_overtaken
from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.agent.session.session import Session
from shared.domain.errors import (
    Fenced,
    ProviderOverloaded,
    ProviderTimeout,
    ProviderUnavailable,
    StoreThrottled,
    StoreUnavailable,
    StreamBroken,
)
from shared.domain.session.change import Change
from shared.domain.session.commit import Position
from shared.domain.session.head import Failure

_AGAIN = "Write to the session again, or have an operator repair it."
_STORE = (
    "STORE_UNAVAILABLE",
    f"The deployment's storage did not answer, however often it was asked. {_AGAIN}",
)
_BY_CLASS = {
    ProviderOverloaded: (
        "PROVIDER_OVERLOADED",
        "The model's provider stayed overloaded. Try again later, or give the agent a fallback model.",
    ),
    ProviderUnavailable: (
        "PROVIDER_UNAVAILABLE",
        "The model's provider could not be reached or failed each time. Check its status and the address "
        "it is asked at, then write to the session again.",
    ),
    ProviderTimeout: (
        "PROVIDER_TIMEOUT",
        "The model's provider gave no answer in time, however often it was asked. Write to the session "
        "again, or give the agent a faster model or a smaller output limit.",
    ),
    StreamBroken: (
        "PROVIDER_STREAM_BROKEN",
        "The model's answers broke off each time. Write to the session again; if they go on to break off, "
        "check what is between the deployment and the provider.",
    ),
    StoreThrottled: _STORE,
    StoreUnavailable: _STORE,
}
FAILURES = {error.__name__: failure for error, failure in _BY_CLASS.items()}
"""Class name -> code and message. The engine knows no more of an error than its class name."""


def failure_of(error: str) -> Failure:
    """`error`: a class of ours, or a name of the engine's such as `States.Timeout`."""
    other = ("STEP_FAILED", f"A step failed after its retries ({error}). {_AGAIN}")
    code, message = FAILURES.get(error, other)
    return Failure(code=code, message=message)


def give_up(repository: SessionRepository, at: Position, error: str) -> None:
    """Ends the run `failed` after the engine's retries. `error`: the name of the error class that was left.

    It does nothing for a turn that is over. Then another execution is further on, or this one is, and recovery
    continues it there.
    """

    def build(_: Session, change: Change) -> CommitDraft | None:
        run = change.head.run
        if run is None or is_overtaken(change.head, at) or run.turn != at.turn or change.head.is_over:
            return None
        left = failure_of(error)
        return failed(change, left.code, left.message)

    with suppress(Fenced):  # a deleted session has nothing to give up
        repository.commit(repository.turn(at), at.key("give_up"), build)
