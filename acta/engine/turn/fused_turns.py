"""What one invocation of `step` does: a turn, and if the environment allows it, the turns that follow, with those calls
between them that need neither a person nor the network (ADR 57).

A worker goes on only from a reply that it has committed itself. What it does is committed as it would be by workers of
their own, under the same keys, so whoever comes after it goes on from the log. An error ends the loop and not the run:
the engine is told to do what is missing, with its own retries.

A worker may find that another one has made its turn, and is dead or still goes on by itself (`after_another`). Then the
session is moved to its next turn. So `check_turn` stops the other worker at its next turn, or at the commit of the turn
that it makes now. A call that the other worker has begun may finish. A reply that it has bought is kept, and the next
turn finds it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from acta.engine.errors import Fenced
from acta.engine.log.commit import Decision, Position
from acta.engine.log.repository import Session
from acta.engine.tools.tool import BuiltinTool
from acta.engine.turn.context import Turn, TurnDeps, TurnKind
from acta.engine.turn.engine import is_overtaken, next_decision, or_roll_over, turn_again, wait_or_go_on
from acta.engine.turn.turn import TurnResult, take_turn

if TYPE_CHECKING:
    from acta.engine.tools.runtime import ToolRuntime


@dataclass(frozen=True, eq=False, repr=False)
class StepDeps:
    """What `step` needs from the process."""

    turn: TurnDeps
    most_turns: int
    """The most turns of one invocation: `Settings.turns_per_step`."""
    tools: "Callable[[], ToolRuntime]"
    """Runs calls, on the repository of `turn`. It is made when it is first needed."""


@dataclass(eq=False, repr=False)
class StepResult:
    """What an invocation has done so far."""

    decision: Decision
    """What the engine does next."""
    turns: int = 1
    calls: int = 0
    error: str = ""
    """The name of the error that ended the loop."""


def take_turns(deps: StepDeps, kind: TurnKind, at: Position, attempt: int, timeout: float) -> StepResult:
    """Makes the turn, and goes on while it may.

    `attempt`, and what the first turn raises: as in `take_turn`. `timeout`: the seconds that models and tools may take.
    Raises Fenced where somebody else has taken over meanwhile.
    """
    clock = deps.turn.clock
    deadline = clock.now() + timedelta(seconds=timeout)
    turn_result = take_turn(deps.turn, kind, at, attempt, timeout)
    turn = turn_result.turn
    if turn is None:
        return StepResult(after_another(deps.turn, turn_result, kind, at, attempt, deps.most_turns))
    result = StepResult(turn_result.decision)
    if deps.most_turns == 1:
        return result
    while True:
        if result.decision.next == "act":
            if not all(_is_bounded(turn, call_id) for call_id in result.decision.calls or ()):
                return result  # the worker runs no call of such a reply itself
            _run_calls(deps, turn, result, deadline)
        following = result.decision.next
        if following not in ("plan", "think") or result.turns >= deps.most_turns:
            return result
        at = result.decision.at
        try:
            left = (deadline - clock.now()).total_seconds()
            turn_result = take_turn(deps.turn, following, at, 0, left, fused=True)
            turn = turn_result.turn
            if turn is None:
                result.decision = after_another(deps.turn, turn_result, following, at, 0, deps.most_turns)
                return result
        except Fenced:
            raise
        except Exception as error:
            result.error = type(error).__name__
            return result
        result.decision = turn_result.decision
        result.turns += 1


def _is_bounded(turn: Turn, call_id: str) -> bool:
    session = turn.session
    call, open_call = session.call(call_id), session.head.open_call(call_id)
    if call is None or open_call is None or open_call.approval or open_call.state != "ready":
        return False
    spec = turn.specs.get(call.name)
    return isinstance(spec, BuiltinTool) and spec.bounded


def _run_calls(deps: StepDeps, turn: Turn, result: StepResult, deadline: datetime) -> None:
    """Runs the calls one after the other. What is not done when the time is over, or after an error, is left to the
    engine."""
    from acta.engine.tools.execute import run_held_call

    at, session, calls, ran = result.decision.at, turn.session, result.decision.calls or (), 0
    for call_id in calls:
        call, left = session.call(call_id), (deadline - deps.turn.clock.now()).total_seconds()
        if call is None or left < turn.specs[call.name].timeout_seconds:
            break
        try:
            run_held_call(deps.tools(), session, at, call_id, 0, left, fused=True)
        except Fenced:
            raise
        except Exception as error:
            result.error = type(error).__name__
            break
        ran += 1
    result.calls += ran
    still_open = {call.call_id for call in session.head.unfinished_calls}
    rest = tuple(call_id for call_id in calls if call_id in still_open)
    if ran < len(calls) and rest:
        result.decision = result.decision.model_copy(update={"calls": rest})
    else:
        result.decision = Decision(next="think", at=at)


GOES_ON = ("plan", "think", "act")
"""After any other decision no worker goes on by itself."""


def after_another(
    deps: TurnDeps, result: TurnResult, kind: TurnKind, at: Position, attempt: int, most_turns: int
) -> Decision:
    """What the engine does after a turn whose reply this worker did not commit: what was decided, or what follows from
    the head after a takeover.

    `most_turns`: of one invocation. 1: no worker goes on by itself, except one that began before this setting was
    changed.
    """
    session, decision = result.session, result.decision
    done = session.recorded(at.key(kind))
    if done is None or done.decision is None or done.decision.next not in GOES_ON:
        return decision
    head = session.head
    # This worker may be the late one, to which nobody listens.
    if is_overtaken(head, at) or done.attempt > attempt:
        return decision
    is_there = head.run is not None and head.run.turn == done.decision.at.turn
    if is_there and (done.own or most_turns == 1):
        return decision
    return _take_over(deps, session, at) or decision


def _take_over(deps: TurnDeps, session: Session, at: Position) -> Decision | None:
    """Moves the session to its next turn, which fences the other worker. None: nothing is left to take over."""
    key = at.key(f"takeover/{deps.clock.new_id('try')}")
    for change in deps.repository.attempts(session, key):
        head = change.head
        if is_overtaken(head, at) or head.is_over or head.wait is not None:
            break  # if the session waits for people, the engine already has its answer
        turn_again(change)
        head = change.head
        decision = wait_or_go_on(head, change.now, deps.timeouts)
        change.commit(or_roll_over(head, deps.settings.roll_over_events, decision))
    done = session.recorded(key)
    if done is not None:
        return done.decision
    return next_decision(session.head, deps.clock.now()) if session.head.is_over else None
