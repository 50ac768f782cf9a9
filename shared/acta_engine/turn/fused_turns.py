"""What one invocation of `step` does: a turn, and where its environment lets it, the turns that follow, with the calls
between that need neither a person nor the network (ADR 57).

A worker goes on only from a reply that it has committed itself. What it does is committed as it would be by workers of
their own, under the same keys, so whoever comes after it goes on from the log. An error ends the loop and not the run:
the engine is told to make what is missing, with its own retries.

A worker may find that another one has made its turn, and is dead or still goes on by itself (`after_another`). Then the
session is moved to its next turn, so `check_turn` stops the other worker there, or at the commit of the turn that it
makes. A call that it is amid may finish. A reply that it has bought is kept, and the next turn finds it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from acta_engine.errors import Fenced
from acta_engine.log.change import Change
from acta_engine.log.commit import Decision, Position
from acta_engine.log.head import Head
from acta_engine.log.repository import CommitDraft
from acta_engine.log.session import Session
from acta_engine.tools.builtin.specs import BuiltinTool
from acta_engine.turn.engine_decision import is_overtaken, next_decision, wait_decision
from acta_engine.turn.next_turn import or_roll_over, turn_again
from acta_engine.turn.turn import Taken, take_turn
from acta_engine.turn.turn_context import Turn, TurnDeps, TurnKind

if TYPE_CHECKING:
    from acta_engine.tools.runtime import ToolRuntime


class StepDeps(NamedTuple):
    """What `step` needs from the process. `most_turns`: of one invocation (`Settings.turns_per_step`). `tools`: runs
    calls, on the repository of `turn`; made when it is first needed.
    """

    turn: TurnDeps
    most_turns: int
    tools: "Callable[[], ToolRuntime]"


class Made(NamedTuple):
    """What an invocation has done: `turns` and `calls` are counts, `error` is the name of the one that ended the loop.
    `decision`: what the engine does next.
    """

    decision: Decision
    turns: int = 1
    calls: int = 0
    error: str = ""


def take_turns(deps: StepDeps, kind: TurnKind, at: Position, attempt: int, timeout: float) -> Made:
    """Makes the turn, and goes on while it may.

    `attempt`, and what it raises of the first turn: as in `take_turn`. `timeout`: seconds that there are for models and
    tools. Raises Fenced where somebody else has taken over meanwhile.
    """
    deadline = deps.turn.clock.now() + timedelta(seconds=timeout)
    taken = take_turn(deps.turn, kind, at, attempt, timeout)
    if taken.replied is None:
        return Made(after_another(deps.turn, taken, kind, at, attempt, deps.most_turns))
    made, turn = Made(taken.decision), taken.replied
    if deps.most_turns == 1:
        return made
    while True:
        if made.decision.next == "act":
            if not all(_is_bounded(turn, call_id) for call_id in made.decision.calls or ()):
                return made  # of such a reply the worker makes no call itself
            made = _run_calls(deps, turn, made, deadline)
        following = made.decision.next
        if following not in ("plan", "think") or made.turns >= deps.most_turns:
            return made
        at = made.decision.at
        try:
            left = _seconds_left(deps, deadline)
            taken = take_turn(deps.turn, following, at, 0, left, fused=True)
            if taken.replied is None:
                decision = after_another(deps.turn, taken, following, at, 0, deps.most_turns)
                return made._replace(decision=decision)
        except Fenced:
            raise
        except Exception as error:
            return made._replace(error=type(error).__name__)
        made, turn = made._replace(decision=taken.decision, turns=made.turns + 1), taken.replied


def _is_bounded(turn: Turn, call_id: str) -> bool:
    session = turn.session
    call, open_call = session.call(call_id), session.head.open_call(call_id)
    if call is None or open_call is None or open_call.approval or open_call.state != "ready":
        return False
    spec = turn.context.specs.get(call.name)
    return isinstance(spec, BuiltinTool) and spec.bounded


def _run_calls(deps: StepDeps, turn: Turn, made: Made, deadline: datetime) -> Made:
    """One after the other. What is not done when the time is over, or after an error, is left to the engine."""
    from acta_engine.tools.execute import run_held_call

    at, session, ran, error = made.decision.at, turn.session, 0, ""
    for call_id in made.decision.calls or ():
        call, left = session.call(call_id), _seconds_left(deps, deadline)
        if call is None or left < turn.context.specs[call.name].timeout_seconds:
            break
        try:
            run_held_call(deps.tools(), session, at, call_id, 0, left, fused=True)
        except Fenced:
            raise
        except Exception as failure:
            error = type(failure).__name__
            break
        ran += 1
    still_open = {call.call_id for call in session.head.unfinished_calls}
    rest = tuple(call_id for call_id in made.decision.calls or () if call_id in still_open)
    if ran < len(made.decision.calls or ()) and rest:
        decision = made.decision.model_copy(update={"calls": rest})
    else:
        decision = Decision(next="think", at=at)
    return made._replace(decision=decision, calls=made.calls + ran, error=error)


def _seconds_left(deps: StepDeps, deadline: datetime) -> float:
    return (deadline - deps.turn.clock.now()).total_seconds()


GOES_ON = ("plan", "think", "act")
"""After any other decision no worker goes on by itself."""


def after_another(
    deps: TurnDeps, taken: Taken, kind: TurnKind, at: Position, attempt: int, most_turns: int
) -> Decision:
    """What the engine does after a turn that this worker has no reply of: what was decided, or what follows from the
    head after a takeover.

    `most_turns`: of one invocation; 1: nobody goes on by itself, unless an invocation of before that was changed does.
    """
    session, decision = taken.session, taken.decision
    done = session.recorded(at.key(kind))
    if done is None or done.decision is None or done.decision.next not in GOES_ON:
        return decision
    head = session.head
    if (
        is_overtaken(head, at) or done.attempt > attempt
    ):  # this worker is the late one, and nobody listens to it
        return decision
    is_there = head.run is not None and head.run.turn == done.decision.at.turn
    if is_there and (done.own or most_turns == 1):
        return decision
    return _take_over(deps, session, at) or decision


def _take_over(deps: TurnDeps, session: Session, at: Position) -> Decision | None:
    """None: nothing is left to take over from."""

    def build(_: Session, change: Change) -> CommitDraft | None:
        head = change.head
        if is_overtaken(head, at) or head.is_over or head.wait is not None:
            return None  # where people are waited for, the engine has been answered
        turn_again(change)
        return CommitDraft(change, or_roll_over(change.head, deps.roll_over_events, _next(deps, change.head)))

    done = deps.repository.commit(session, at.key(f"takeover/{deps.clock.new_id('try')}"), build)
    if done is not None:
        return done.decision
    return next_decision(session.head, deps.clock.now()) if session.head.is_over else None


def _next(deps: TurnDeps, head: Head) -> Decision:
    return wait_decision(head, deps.timeouts) if head.interventions else next_decision(head, deps.clock.now())
