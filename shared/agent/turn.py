"""One model turn, for Plan and Think alike: look, ask the model once, commit what it said (design §2)."""

from collections.abc import Callable
from datetime import datetime
from typing import Literal, NamedTuple

from shared.agent.endings import failed
from shared.agent.journal import Draft
from shared.agent.people import asking, resumed
from shared.agent.prices import cost_usd
from shared.agent.reply import Absorbed, ReplyReader, milliseconds
from shared.agent.thread import Thread, overtaken, position
from shared.agent.worker import Worker
from shared.domain.change import Change
from shared.domain.commit import Decision, Position, StepRecord
from shared.domain.conversation import Entry
from shared.domain.errors import Fenced, ModelRefused, ProviderOverloaded, SessionError
from shared.domain.session import Head
from shared.ports.model import ModelReply, ModelRequest

EVENTS_PER_TURN = 24
"""Upper bound of the history entries a turn leaves in the engine besides its calls', retries included."""
EVENTS_PER_CALL = 24
MAX_PROVIDER_WAIT_SECONDS = 900
MAX_PROVIDER_WAITS = 20
"""Waits a provider may ask for in a row before the run ends."""


class Stage(NamedTuple):
    """`kind` names the engine's state and its commit key; `settle` adds state and decision to a change that has
    taken in the reply.
    """

    kind: Literal["plan", "think"]
    step_kind: Literal["plan", "llm"]
    request: Callable[[Worker, Head, tuple[Entry, ...]], ModelRequest]
    settle: Callable[[Worker, Change, Absorbed, ModelReply], Draft]


def take_turn(
    worker: Worker, stage: Stage, thread: Thread, at: Position, attempt: int, timeout: float
) -> Decision:
    """`attempt`: the engine's retry count; `timeout`: seconds the model has. Raises Fenced and what is retried."""
    started = worker.clock.now()
    orphans, delivered = thread.orphans(), tuple(thread.waiting)
    request = stage.request(worker, thread.head, (*thread.entries, *thread.pending(orphans)))
    reply = _ask(worker, request, timeout)
    reader = (
        ReplyReader(reply, worker.model.provider, worker.clock) if isinstance(reply, ModelReply) else None
    )

    def build(_: Thread, change: Change) -> Draft:
        _fence(change.head, at)
        if isinstance(reply, ProviderOverloaded):
            return _wait(change, reply, stage.kind)
        if isinstance(reply, SessionError):
            return (
                Draft(change, resumed(change.head))
                if change.head.is_over
                else failed(change, reply.code, str(reply))
            )
        _record(change, worker, stage, reply, attempt, started)
        if change.head.is_over:
            return Draft(
                change, resumed(change.head)
            )  # it was paid for, so it is counted; it changes nothing else
        if reply.stop == "refusal":
            return failed(change, ModelRefused.code, "The model declined to go on.")
        assert reader is not None
        for orphan in orphans:
            change.entry(orphan)
        undelivered = tuple(id_ for id_ in change.head.undelivered if id_ not in delivered)
        progress = change.head.progress.model_copy(update={"hint": "", "provider_waits": 0})
        change.set(undelivered=undelivered, progress=progress)
        if (
            change.head.state == "waiting_for_tool"
        ):  # a result was lost for good; the model goes on without it
            change.to_state("executing")
        absorbed = reader.absorb(
            change, worker.registry, worker.specs(change.head), planning=stage.kind == "plan"
        )
        _next_turn(change, thought=stage.kind == "think", calls=len(absorbed.calls))
        draft = stage.settle(worker, change, absorbed, reply)
        return Draft(draft.change, _going_on(change.head, worker, draft.decision), delivered)

    key = at.key(stage.kind)
    worker.journal.commit(thread, key, build)
    done = thread.recorded(key)
    if done is None or done.decision is None:
        raise Fenced("the turn was committed without a decision")
    return done.decision


def decided(thread: Thread, at: Position, kind: str, worker: Worker) -> Decision | None:
    """The stored decision where this step was made already, or the one that follows from the head alone.

    None: the model has to be asked. Raises Fenced where another run, generation or turn has taken over.
    """
    done = thread.recorded(at.key(kind))
    if done is not None and done.decision is not None:
        return done.decision
    head = thread.head
    _fence(head, at)
    if head.is_over:
        return resumed(head)
    if head.interventions:
        return asking(head, worker.timeouts)
    if head.unfinished_calls:  # a pause kept them from starting and has been lifted
        return resumed(head)
    return None


def _fence(head: Head, at: Position) -> None:
    run = head.run
    if run is None or overtaken(head, at):
        raise Fenced("another run or generation has the session")
    if run.turn != at.turn and not head.is_over:
        raise Fenced("the session is at another turn")


def _ask(
    worker: Worker, request: ModelRequest, timeout: float
) -> ModelReply | SessionError | ProviderOverloaded:
    """The reply, or the error this turn has to commit; what the engine retries by itself is raised."""
    try:
        return worker.model.complete(request, timeout=timeout)
    except SessionError as error:
        return error
    except ProviderOverloaded as error:
        if error.retry_after is None:
            raise
        return error


def _record(
    change: Change, worker: Worker, stage: Stage, reply: ModelReply, attempt: int, started: datetime
) -> None:
    """The step log's row and the session's sums, from the same numbers."""
    used, cost = reply.usage, cost_usd(worker.model.provider, worker.model_name, reply.usage)
    change.step(
        lambda number: StepRecord(
            step_number=number,
            kind=stage.step_kind,
            name=worker.model_name,
            started_at=started,
            completed_at=change.now,
            duration_ms=milliseconds(started, change.now),
            attempt=attempt,
            input_tokens=used.input,
            output_tokens=used.output,
            cached_input_tokens=used.cached_input,
            cost_usd=cost,
        )
    )
    before = change.head.usage
    total = before.cost_usd + cost if before.cost_usd is not None and cost is not None else None
    sums = {
        "input_tokens": before.input_tokens + used.input,
        "output_tokens": before.output_tokens + used.output,
        "cached_input_tokens": before.cached_input_tokens + used.cached_input,
        "llm_calls": before.llm_calls + 1,
        "cost_usd": round(total, 6) if total is not None else None,
    }
    change.set(usage=before.model_copy(update=sums))


def _next_turn(change: Change, *, thought: bool, calls: int = 0) -> None:
    """Moves the run to its next turn, which begins with this commit."""
    run = change.head.run
    if run is None:
        raise Fenced("the session has no run")
    moved = {
        "turn": run.turn + 1,
        "first": change.number,
        "iteration": run.iteration + (1 if thought else 0),
        "events": run.events + EVENTS_PER_TURN + EVENTS_PER_CALL * calls,
    }
    change.set(run=run.model_copy(update=moved))


def _going_on(head: Head, worker: Worker, decision: Decision | None) -> Decision | None:
    """The decision, or a roll-over where this execution's history has grown enough (design §2)."""
    full = head.run is not None and head.run.events >= worker.roll_over_events
    if decision is None or not full or decision.next in ("done", "failed"):
        return decision
    return Decision(next="roll_over", at=decision.at)


def _wait(change: Change, error: ProviderOverloaded, then: Literal["plan", "think"]) -> Draft:
    """The provider named a time: the engine waits that long at no compute cost."""
    if change.head.is_over:
        return Draft(change, resumed(change.head))
    progress = change.head.progress
    if progress.provider_waits >= MAX_PROVIDER_WAITS:
        return failed(
            change, "PROVIDER_OVERLOADED", "The model's provider stayed overloaded. Try again later."
        )
    seconds = max(1, min(MAX_PROVIDER_WAIT_SECONDS, round((error.retry_after or 0) + 0.5)))
    change.event("llm.retried", {"code": "PROVIDER_OVERLOADED", "wait_seconds": seconds})
    change.set(progress=progress.model_copy(update={"provider_waits": progress.provider_waits + 1}))
    _next_turn(change, thought=False)
    return Draft(change, Decision(next="wait", at=position(change.head), wait_seconds=seconds, then=then))
