"""A session waits until something outside Acta works again, and when a person is asked whether to go on trying
(docs/design/recovery.md 7). How long each pause is: `pause_seconds` in `outage.py`."""

from datetime import datetime
from typing import NamedTuple

from acta.engine.log.commit import Change, Decision
from acta.engine.log.events import ModelRetried
from acta.engine.people.opening import AskingRules, open_outage_question, wait_for_people
from acta.engine.recovery.outage import (
    EXECUTION_LOST,
    TOKEN_LIMIT,
    Cause,
    Delay,
    Outage,
    OutageLimits,
    failed_again,
)
from acta.engine.turn.engine import (
    Timeouts,
    next_decision,
    or_roll_over,
    outage_wait,
    turn_again,
    wait_decision,
)


class OutageRules(NamedTuple):
    """`timeouts`: those of other questions that may be open. `roll_over_events`: as in `or_roll_over`."""

    limits: OutageLimits
    timeouts: Timeouts
    roll_over_events: int


def wait_out(
    change: Change, cause: Cause, rules: OutageRules, asking: AskingRules, *, retry_after: float | None = None
) -> Decision | None:
    """Ends a turn that has no reply: the engine waits, or a person is asked, and then it goes on where it was.

    `retry_after`: as in `failed_again`.
    """
    if change.head.is_over:
        return next_decision(change.head, change.now)
    asked = wait_or_ask(change, cause, rules.limits, asking, retry_after=retry_after)
    return _again(change, rules, asked=asked)


def wait_for_tokens(change: Change, rules: OutageRules, needed: int | None) -> Decision | None:
    """Ends a turn for which the session has too few tokens: the engine waits until its budget renews.

    `needed`: how high the budget has to be for the turn.
    """
    until = change.head.budget.window_ends
    if until is None:
        return next_decision(change.head, change.now)
    delay = Delay(
        reason="waiting_for_tokens",
        code=TOKEN_LIMIT,
        since=change.now,
        until=until,
        token_budget_needed=needed,
    )
    return wait_through(change, delay, rules)


def wait_through(change: Change, delay: Delay, rules: OutageRules) -> Decision | None:
    """Ends a turn without a reply, for a reason that is no failure: the engine waits, and takes the turn again."""
    if change.head.is_over:
        return next_decision(change.head, change.now)
    change.begin_wait(delay)
    return _again(change, rules)


def _again(change: Change, rules: OutageRules, *, asked: bool = False) -> Decision | None:
    """The turn is taken again after the wait. `asked`: a person has to decide first."""
    turn_again(change)
    head = change.head
    decision = wait_decision(head, rules.timeouts) if asked else outage_wait(head, change.now)
    return or_roll_over(head, rules.roll_over_events, decision)


def asks_after_waiting(outage: Outage, now: datetime, limits: OutageLimits) -> bool:
    """Whether a person is asked before the next try: recovery, which asks nobody, has waited again and again."""
    return outage.code == EXECUTION_LOST.code and outage.needs_person(now, limits)


def ask_after_waiting(change: Change, rules: OutageRules, asking: AskingRules) -> Decision | None:
    """Asks a person whether to try on. Where something has come meanwhile, that comes first."""
    head = change.head
    if head.is_over or head.interventions or head.outage is None:
        return next_decision(head, change.now)
    _ask(change, head.outage, rules.limits, asking)
    return _again(change, rules, asked=True)


def wait_or_ask(
    change: Change,
    cause: Cause,
    limits: OutageLimits,
    asking: AskingRules,
    *,
    retry_after: float | None = None,
) -> bool:
    """Begins the outage, or its next wait. Returns whether a person is asked instead: the outage has lasted longer than
    the patience, or workers have crashed too often. Where something is asked already, it waits.
    """
    head, now = change.head, change.now
    outage = failed_again(head.outage, cause, now, retry_after=retry_after)
    change.set(outage=outage, wait=None)  # the engine calls this, so it waits for nobody
    if outage.needs_person(now, limits) and not head.interventions:
        _ask(change, outage, limits, asking, cause.word)
        return True
    delay = outage.pause(head.session_id, now, limits, retry_after)
    if cause.reason == "waiting_for_provider":
        change.event(ModelRetried(code=cause.code, wait_seconds=delay.seconds_left(now)))
    change.begin_wait(delay)
    return False


def _ask(change: Change, outage: Outage, limits: OutageLimits, asking: AskingRules, word: str = "") -> None:
    """A session that keeps killing its worker waits for a person, any other one tries on by itself in the end."""
    change.set(delay=None)
    timeout = None if outage.has_crashed_too_often else limits.patience
    open_outage_question(change, outage, asking, timeout, word)
    wait_for_people(change)
