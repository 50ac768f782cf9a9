"""The engine is a state machine of Step Functions. Here is what it sends a Lambda, where a session stands, what the
engine does next (calls, the next turn, a wait for people, the end), and how executions are started and woken
(docs/design/engine.md 3, 9). What goes to and from it are ids, counters and the decision, never content.

Fencing says whether another run, generation or turn has taken over, so that a late worker commits and starts nothing. A
cancel is no fencing: a result that comes after it is still recorded (`_finish` in
`acta/engine/tools/execute.py`). The guard in the store is that a commit's number is taken once: `append` in
`acta/engine/log/dynamodb.py`.

The run moves to its next turn, and to its next Step Functions execution where the history of this one is long. The
entries of that history are counted in the head, with upper bounds, and never read.

What waits for long has no execution meanwhile, and costs its storage: it is parked (ADR 104). The generation of a
parked session is committed and not started. Whoever settles the last thing that it waits for starts it. Where that is
a time, recovery starts it a little earlier, and the execution waits for the rest: the scan comes once a minute, so
nothing fires late.

Not decided here: how long an outage is waited out (`acta/engine/recovery/wait_out.py`), and what follows a reply
(`turn.py`).
"""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from math import inf
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import AwareDatetime, ValidationError

from acta.engine.errors import Fenced, Refused
from acta.engine.log.commit import Change, Decision, Position
from acta.engine.log.head import Head, Run
from acta.engine.store.schema import FrozenModel

# Entries that a run leaves in the history of its Step Functions execution. Each figure is an upper bound, every retry
# that the state machine allows included. `tests/infra/test_history.py` computes them from the definition and its retry
# policies, and fails where one is too low.
EVENTS_PER_TURN = 168
"""A model call, or what handles its error, and the way to the next state; without its calls and waits for people."""
EVENTS_PER_CALL = 140
"""A tool call, and what settles it where it is lost."""
EVENTS_PER_ASK = 110
"""A wait for people, from one token to the next, including what parking it would take."""
MOST_EVENTS = 25_000
"""The most entries in an execution's history. Source: AWS Step Functions developer guide, "Service quotas"."""


def position(head: Head) -> Position:
    """Where the engine stands after this head."""
    if head.run is None:
        raise ValueError("a session without a run has no position")
    run = head.run
    return Position(
        tenant=head.tenant,
        session_id=head.session_id,
        run_id=run.run_id,
        generation=run.generation,
        turn=run.turn,
        first=run.first,
    )


class Timeouts(NamedTuple):
    """Seconds: how long an approval waits, and how long before its expiry the warning comes.

    `approval`: `Settings.approval_timeout_seconds`, where the agent's limits name none (`_new_turn` in
    `acta/engine/turn/turn.py`). `warn`: `Settings.intervention_warn_seconds`.
    """

    approval: float
    warn: float


def wait_decision(head: Head, timeouts: Timeouts) -> Decision:
    """The engine waits for people. `wake_at`: when it looks again, at each warning and each expiry."""
    times = []
    for one in head.interventions:
        if one.timeout_at is not None:
            expiry = one.timeout_at.timestamp()
            times += [expiry] if one.warned else [expiry - timeouts.warn, expiry]
    return Decision(next="ask", at=position(head), wake_at=tuple(sorted(int(t) + 1 for t in times)))


def wait_or_go_on(head: Head, now: datetime, timeouts: Timeouts) -> Decision:
    """The engine waits where people are asked, and goes on otherwise."""
    is_asking = head.interventions and not head.is_over
    return wait_decision(head, timeouts) if is_asking else next_decision(head, now)


def end_decision(head: Head) -> Decision:
    """The execution of a run that is over ends."""
    return Decision(next="failed" if head.state == "failed" else "done", at=position(head))


def next_decision(head: Head, now: datetime) -> Decision:
    """Where the engine goes on: first the rest of a wait, then the open calls, then the next turn. If a person is
    asked, the engine waits before that turn. A run that is over ends, once its provider and the servers of its calls
    have been told to end what they still do."""
    at = position(head)
    if head.is_over and head.tasks:
        return Decision(next="act", at=at, calls=tuple(call.call_id for call in head.tasks))
    if head.is_over:
        has_work = head.background is not None or head.owes_family
        return Decision(next="think", at=at) if has_work else end_decision(head)
    turn = next_turn_kind(head)
    if head.interventions or head.owes_family:
        return Decision(next=turn, at=at)
    if head.delay_at(now):
        return outage_wait(head, now)
    calls = head.unfinished_calls
    looks = [(call.next_look, call.call_id) for call in calls]
    due = tuple(call_id for look, call_id in looks if look is None or look <= now)
    if due:
        return Decision(next="act", at=at, calls=due)
    if calls:
        return _wait_for_calls(head, min(look for look, _ in looks if look is not None), now)
    return Decision(next=turn, at=at)


def _wait_for_calls(head: Head, first: datetime, now: datetime) -> Decision:
    """The engine waits until it looks at the first of the open calls again, at no compute cost."""
    seconds = max(1, math.ceil((first - now).total_seconds()))
    return Decision(next="wait", at=position(head), wait_seconds=seconds, then=next_turn_kind(head))


def outage_wait(head: Head, now: datetime) -> Decision:
    """The engine waits until the next try, at no compute cost, whether or not people are asked at the same time."""
    wait = head.present_wait
    seconds = wait.seconds_left(now) if wait is not None else 1
    return Decision(next="wait", at=position(head), wait_seconds=seconds, then=next_turn_kind(head))


def next_turn_kind(head: Head) -> Literal["plan", "think"]:
    """`plan` where the run has neither a live plan nor any work behind it, else `think`. A live plan that an earlier
    run left counts. Both ask the same; what follows a reply is the same, too (`next_action.py`).
    """
    is_live = head.plan is not None and head.plan.is_live
    has_begun = head.run is not None and head.run.iteration > 0
    return "think" if is_live or has_begun or head.ending is not None else "plan"


def check_turn(head: Head, at: Position) -> None:
    """Raises Fenced where another run, generation or turn has taken over."""
    check_run(head, at)
    if head.run is not None and head.run.turn != at.turn and not head.is_over:
        raise Fenced("the session is at another turn")


def check_run(head: Head, at: Position) -> None:
    """Raises Fenced where another run or generation has the session."""
    if is_overtaken(head, at):
        raise Fenced("another run or generation has the session")


def is_overtaken(head: Head, at: Position) -> bool:
    """Whether another run or generation has the session: a worker standing at `at` may not commit."""
    return head.run is None or head.run.run_id != at.run_id or head.run.generation != at.generation


def is_at(head: Head, at: Position) -> bool:
    """Whether the session stands in this very turn."""
    return not is_overtaken(head, at) and head.run is not None and head.run.turn == at.turn


def next_turn(change: Change, *, thought: bool, calls: int = 0) -> None:
    """Moves the run to its next turn, which begins with this commit. `thought`: whether it counts as an iteration.

    A fused turn has no state of its own in the execution's history; its calls may get theirs. An execution that makes a
    turn waits for nobody: recovery need not look whether it was woken.
    """
    run = _run(change)
    moved = {
        "turn": run.turn + 1,
        "first": change.number,
        "iteration": run.iteration + (1 if thought else 0),
        "events": run.events + (0 if change.is_fused else EVENTS_PER_TURN) + EVENTS_PER_CALL * calls,
        "parked": False,
    }
    change.set(run=run.model_copy(update=moved), wait=None)


def turn_again(change: Change) -> None:
    """Moves the run to a new turn without a reply, so that a further error has commit keys of its own. If calls are
    open, workers still read the log from the commit that has them."""
    run = _run(change)
    moved = {
        "turn": run.turn + 1,
        "first": run.first if change.head.unfinished_calls else change.number,
        "events": run.events + EVENTS_PER_TURN,
        "parked": False,
    }
    change.set(run=run.model_copy(update=moved), wait=None)


def count_again(change: Change, calls: int) -> None:
    """Counts the entries that `calls` calls, and the turn before them, leave in the execution's history when they run
    once more."""
    run = _run(change)
    added = EVENTS_PER_TURN + EVENTS_PER_CALL * calls
    change.set(run=run.model_copy(update={"events": run.events + added}))


def _run(change: Change) -> Run:
    if change.head.run is None:
        raise Fenced("the session has no run")
    return change.head.run


def or_roll_over(head: Head, after_events: int, decision: Decision | None) -> Decision | None:
    """The decision, or a roll-over if the history of this execution has at least `after_events` entries, which is
    `Settings.roll_over_events` (docs/design/engine.md 30)."""
    full = head.run is not None and head.run.events >= after_events
    if decision is None or not full or decision.next in ("done", "failed"):
        return decision
    return Decision(next="roll_over", at=decision.at)


LEAD = timedelta(seconds=90)
"""How long before its time a parked session gets its execution: a minute between two scans, and half a minute for the
scan itself."""
LEAST = timedelta(seconds=180)
"""A session that goes on by itself sooner than this keeps its execution."""


def resumes_at(head: Head, warn: float = 0.0) -> datetime | None:
    """When the session goes on by itself. None: when a person decides, or at once if nothing is open.

    `warn`: seconds before its expiry at which a question is warned of."""
    if not head.interventions:
        return head.present_wait.until if head.present_wait is not None else None
    warning = timedelta(seconds=warn)
    times = [
        one.timeout_at if one.warned else one.timeout_at - warning
        for one in head.interventions
        if one.timeout_at is not None
    ]
    return min(times, default=None)


def is_due(head: Head, now: datetime, warn: float = 0.0) -> bool:
    """Whether a parked session is to have an execution again: its time has nearly come, or nothing is left to wait
    for.
    """
    at = resumes_at(head, warn)
    return head.owes_family or (not head.interventions if at is None else at - LEAD <= now)


def is_worth_parking(head: Head, now: datetime, warn: float = 0.0) -> bool:
    """Whether the session waits long enough to be parked."""
    if head.run is None or head.is_over or is_due(head, now, warn):
        return False
    at = resumes_at(head, warn)
    return at is None or at - now >= LEAST


COMMIT_SECONDS = 30
"""The part of an invocation's time that is kept back for reading and committing: a commit that begins at the last
moment (`ROOM` in `acta/engine/turn/model_call.py`) may hang through all tries of the SDK before the reply is
kept elsewhere."""
LEAST_SECONDS = 1.0

Op = Literal["plan", "think", "tool", "lost_tool", "ask", "handle_error", "roll_over", "park"]


class EngineEvent(FrozenModel):
    """`attempt`: how often the engine has retried this state. `error`: the name of the error class that it caught.
    `entered`: of `ask`, when it came to this state.
    """

    op: Op
    at: Position
    attempt: int = 0
    call_id: str = ""
    task_token: str = ""
    entered: AwareDatetime | None = None
    error: str = ""

    @property
    def ids(self) -> dict[str, Any]:
        """For the log line: no token, no content."""
        at = self.at
        ids = {"op": self.op, "session_id": at.session_id, "turn": at.turn, "generation": at.generation}
        return ids | ({"call_id": self.call_id} if self.call_id else {}) | {"attempt": self.attempt}


def engine_event(event: Mapping[str, Any]) -> EngineEvent:
    """Raises Refused for an event that this release does not know."""
    try:
        return EngineEvent.model_validate(event)
    except ValidationError as error:
        raise Refused(f"not an event of this engine: {error.error_count()} fields are wrong") from None


def seconds_for_work(remaining_ms: int, at_most: float = inf) -> float:
    """How long a model or a tool may take: what is left of the invocation once there is room to commit
    (docs/design/turn.md 31).

    `remaining_ms`: what is left of the invocation. `at_most`: a setting that may allow less, never more. A turn passes
    `Settings.step_deadline_seconds`. A tool passes none: its own limit is applied in `_run` of
    `acta/engine/tools/execute.py`.
    """
    return max(LEAST_SECONDS, min(at_most, remaining_ms / 1_000 - COMMIT_SECONDS))


ExecutionStatus = Literal["absent", "running", "closed"]
"""`absent`: it was never started, or the engine has forgotten it. A closed execution never runs again."""


class EndedExecution(NamedTuple):
    """An execution that was stopped, failed or ran out of time, as the engine tells it.

    `tenant` None: the engine does not say whose session it was. `run_id` empty: the execution has no name of Acta's, so
    a person has started it.
    """

    session_id: str
    tenant: str | None = None
    run_id: str = ""
    generation: int = 0


class ExecutionEvents(Protocol):
    def is_one(self, event: Mapping[str, Any]) -> bool:
        """Whether the function was called because an execution has ended."""

    def ended(self, event: Mapping[str, Any]) -> EndedExecution | None:
        """None: the execution was no session's. Raises Refused for an event of another form."""


class TokenGone(Exception):
    """The engine does not wait for this token any more."""


class Workflow(Protocol):
    """All methods raise StoreThrottled and StoreUnavailable."""

    def start(self, decision: Decision) -> bool:
        """Starts the execution that the decision's session, run and generation name. Starting it twice is harmless.

        False: this execution was started before and is closed.
        """

    def wake(self, token: str, decision: Decision) -> None:
        """The execution that waits for this token goes on with `decision`. Raises TokenGone."""

    def stop(self, session_id: str, run_id: str, generation: int) -> None:
        """Ends the execution, if it runs. This only tidies up: commits of a worker that runs on are refused by
        the log.
        """

    def status(self, session_id: str, run_id: str, generation: int) -> ExecutionStatus:
        """The execution's status. One that was started a moment ago may still be `absent`."""

    def running(self) -> Iterable[str]:
        """The ids of the sessions with a running execution. Eventually consistent; an id may come twice."""
