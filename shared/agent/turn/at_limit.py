"""A session whose budget carries no further call waits until the budget renews, or a person is asked (design §5).

A limit that is met by a reply: `shared/domain/rules/next_action.py`.
"""

from shared.agent.budget.session_budget import NextCall, SizedRequest, ask_for_budget, charge_attempts, warn
from shared.agent.model_call.turn_context import Turn
from shared.agent.outages.wait_out import OutageRules, wait_for_tokens
from shared.agent.session.engine_decision import next_decision
from shared.agent.session.fencing import check_turn
from shared.agent.session.history_limit import or_roll_over
from shared.agent.session.next_turn import turn_again
from shared.agent.session.repository import CommitDraft
from shared.agent.session.session import Session
from shared.domain.rules.budget import Pending, fits_new_window, lacks_money, renewed
from shared.domain.session.attempt import Attempt
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision


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
