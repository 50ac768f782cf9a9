"""A turn whose model, or whose summariser, gave no reply: what its error makes of the run (design §2, §9).
A session whose budget carries no further call waits until the budget renews, or a person is asked (design §5); a limit
that is met by a reply is decided on in `shared/acta_engine/turn/next_action.py`.
"""

from acta_engine.errors import (
    ActaError,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    SessionError,
    TransientError,
)
from acta_engine.log.attempt import Attempt
from acta_engine.log.change import Change
from acta_engine.log.commit import Decision
from acta_engine.log.head import Ending, Failure, Head
from acta_engine.log.repository import Build, CommitDraft
from acta_engine.log.session import Session
from acta_engine.recovery.outage_causes import cause_of_error
from acta_engine.recovery.wait_out import OutageRules, wait_for_tokens, wait_out
from acta_engine.turn.budget import Pending, fits_new_window, lacks_money, renewed
from acta_engine.turn.engine_decision import check_turn, next_decision
from acta_engine.turn.next_turn import or_roll_over, turn_again
from acta_engine.turn.outcomes import end_run
from acta_engine.turn.session_budget import NextCall, SizedRequest, ask_for_budget, charge_attempts, warn
from acta_engine.turn.turn_context import Turn, TurnDeps

CommittedError = SessionError | TransientError
"""What the turn commits: a SessionError, an overload with a time to wait, and what became of a call in the background.
Every other error of a model is raised for the engine's retries.
"""


def without_reply(turn: Turn, change: Change, error: CommittedError) -> CommitDraft:
    """Waits for the provider or the key, and takes the turn again then; else the run ends."""
    match error:
        case ProviderOverloaded() if error.retry_after is not None:
            # as long as the provider asks, or longer where it has asked before
            return _wait_out(turn, change, error, retry_after=error.retry_after)
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


def wait_or_ask(turn: Turn, asked: SizedRequest, attempts: tuple[Attempt, ...]) -> Decision:
    """`attempts`: earlier ones that are not charged yet; the commit charges them. Raises Fenced."""
    deps, context = turn.deps, turn.context
    if not _is_worth_waiting(turn, asked, attempts):
        timeouts, rules = context.timeouts, context.rules
        call = NextCall(asked.bytes, asked.request.max_tokens, context.models)
        return ask_for_budget(
            deps.repository, turn.session, turn.at, timeouts, rules, call, attempts, deps.token_window
        )

    def build(session: Session, change: Change) -> CommitDraft:
        check_turn(change.head, turn.at)
        ends = change.head.budget.window_ends
        charge_attempts(change, attempts, deps.token_window)
        change.set(budget=renewed(change.head, change.now, deps.token_window))
        if ends is not None and ends <= change.now:  # the budget has renewed since it was looked at
            return _again(turn, change)
        warn(change)
        rules = OutageRules(deps.outage_limits, deps.timeouts, deps.roll_over_events)
        return wait_for_tokens(change, rules)

    return deps.repository.decided(turn.session, turn.key, build)


def _again(turn: Turn, change: Change) -> CommitDraft:
    """The turn is taken once more, with what the new window has."""
    if not change.head.is_over:
        turn_again(change)
    decision = next_decision(change.head, change.now)
    return CommitDraft(change, or_roll_over(change.head, turn.deps.roll_over_events, decision))


def _is_worth_waiting(turn: Turn, asked: SizedRequest, attempts: tuple[Attempt, ...]) -> bool:
    """A new window helps where it is the tokens that are short, and the call fits into one."""
    head, most = turn.session.head, asked.request.max_tokens
    if not turn.context.waits_for_tokens or not fits_new_window(head, asked.bytes, most):
        return False
    return not lacks_money(head, asked.bytes, most, turn.context.models, Pending.of(attempts))
