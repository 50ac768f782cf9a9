"""A turn whose model, or whose summariser, gave no reply: what its error makes of the run (design §2, §9)."""

from shared.agent.model_call.turn_context import Turn, TurnDeps
from shared.agent.outages.wait_out import OutageRules, wait_out
from shared.agent.session.engine_decision import next_decision
from shared.agent.session.repository import Build, CommitDraft
from shared.agent.turn.outcomes import end_run
from shared.domain.errors import (
    ActaError,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    SessionError,
    TransientError,
)
from shared.domain.rules.outage_causes import cause_of_error
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision
from shared.domain.session.head import Ending, Failure, Head

CommittedError = SessionError | TransientError
"""What the turn commits: a SessionError, an overload with a time to wait, and what became of a call in the background.
Every other error of a model is raised for the engine's retries.
"""


def without_reply(turn: Turn, change: Change, error: CommittedError) -> CommitDraft:
    """Waits for the provider or the key, and takes the turn again then; else the run ends."""
    match error:
        case ProviderOverloaded() if error.retry_after is not None:
            return _wait_for_provider(turn, change, error)
        case TransientError():
            return _wait_out(turn, change, error)
        case ProviderKeyRefused() | ProviderQuotaExceeded() if _has_begun(change.head):
            return _wait_out(turn, change, error)
        case _:
            return failed_turn(turn.deps, change, error)


def commit_failure(turn: Turn, error: CommittedError, build: Build) -> Decision:
    """Commits what follows from the error, and has an operator told of a key that is refused."""
    decision = turn.deps.repository.decided(turn.session, turn.key, build)
    if isinstance(error, ProviderKeyRefused | ProviderQuotaExceeded):
        turn.deps.on_key_refused(turn.at, error.code)
    return decision


def failed_turn(deps: TurnDeps, change: Change, error: SessionError) -> CommitDraft:
    if change.head.is_over:
        return CommitDraft(change, next_decision(change.head, change.now))
    return end_run(deps, change, Ending(error=Failure(code=error.code, message=error.explained)))


def _wait_for_provider(turn: Turn, change: Change, error: ProviderOverloaded) -> CommitDraft:
    """Waits as long as the provider asks, or longer where it has asked before, and takes the turn again."""
    return _wait_out(turn, change, error, retry_after=error.retry_after)


def _wait_out(
    turn: Turn, change: Change, error: ActaError, *, retry_after: float | None = None
) -> CommitDraft:
    deps = turn.deps
    rules = OutageRules(deps.outage_limits, deps.timeouts, deps.roll_over_events)
    return wait_out(change, cause_of_error(error), rules, turn.context.rules, retry_after=retry_after)


def _has_begun(head: Head) -> bool:
    """Whether the run has had a reply, or one is being made. A key that is refused before is a mistake of the set-up;
    one that is refused later was good, and its successor is waited for."""
    return head.run is not None and (head.run.goal_id not in head.undelivered or head.background is not None)
