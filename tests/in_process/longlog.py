"""A session with a long log, written as its steps would write it, without a model or an engine."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

from acta.engine.clock import Clock
from acta.engine.log.beside import BlobStore, offloaded
from acta.engine.log.commit import Change, Commit, StepRecord
from acta.engine.log.conversation import AssistantEntry, Content, ToolCall, ToolEntry, UserEntry
from acta.engine.log.events import (
    PlanCreated,
    RunStarted,
    Thought,
    ToolFinished,
    ToolRequested,
    ToolStarted,
    UserMessage,
)
from acta.engine.log.head import Budget, Head, OpenCall, Run
from acta.engine.plans.plan import ExecutionPlan, PlanStep

CALLS = 2
EVENTS_OF_A_TURN = 9


class LongLog(NamedTuple):
    """`turns` replies of two calls each; `messages`, `steps`: how many of them the whole has."""

    session_id: str
    turns: int
    events: int
    messages: int
    steps: int
    versions: int


def write(
    append: Callable[[Commit], object],
    blobs: BlobStore,
    clock: Clock,
    tenant: str,
    turns: int,
    *,
    result: Callable[[int], str] = lambda turn: f"Result of turn {turn}.",
    replan_every: int = 100,
) -> LongLog:
    """`result`: what both calls of a turn bring."""
    session_id, now = clock.new_id("ses"), clock.now()
    run = Run(run_id="run_1", first=1, max_steps=1_000)
    head = Head(
        tenant=tenant, session_id=session_id, agent_id="default", created_by="ann", state="idle", goal="Go far",
        created_at=now, updated_at=now, budget=Budget(token_budget=1), max_steps=1_000, run=run,
    )  # fmt: skip
    number = 0

    def put(build: Callable[[Change], object]) -> None:
        nonlocal head, number
        number += 1
        change = Change(head, number, clock.now())
        delivered = build(change)
        change.commit(delivered=delivered if isinstance(delivered, tuple) else ())
        commit = change.as_commit(f"key-{number}")
        append(offloaded(commit, blobs))
        head = commit.head

    put(_begins)
    versions = 0
    for turn in range(1, turns + 1):
        replans = turn % replan_every == 1
        versions += replans
        put(partial(_thinks, turn=turn, replans=replans))
        for call in range(CALLS):
            put(partial(_acts, turn=turn, call=call, result=result(turn)))
    return LongLog(session_id, turns, head.last_seq, 1 + turns * (1 + CALLS), turns * (1 + CALLS), versions)


def _begins(change: Change) -> None:
    change.event(RunStarted(run_id="run_1"))
    change.to_state("planning")
    change.entry(UserEntry(message_id="msg_0", content=Content.of("Go far")))
    change.event(UserMessage(message_id="msg_0"))


def _thinks(change: Change, turn: int, replans: bool) -> tuple[str, ...]:
    change.step(_step(change, "llm"))
    calls = tuple(
        ToolCall(
            call_id=f"call_{turn}_{n}", effect_id=f"eff_{turn}_{n}", name="read_file", input={"path": f"{n}"}
        )
        for n in range(CALLS)
    )
    change.entry(AssistantEntry(message_id=f"msg_{turn}", content=Content.of(f"Turn {turn}."), calls=calls))
    change.event(Thought(message_id=f"msg_{turn}"))
    for call in calls:
        change.event(ToolRequested(**call.event_data))
    if replans:
        steps = tuple(PlanStep(step_number=n, description=f"Step {n} of turn {turn}") for n in range(1, 6))
        plan = ExecutionPlan(
            version=turn, goal="Go far", steps=steps, created_at=change.now, updated_at=change.now
        )
        change.set(plan=plan)
        change.event(PlanCreated(version=turn, plan=plan.model_dump(mode="json")))
    change.set(calls=tuple(OpenCall(call_id=call.call_id, name=call.name) for call in calls))
    change.to_state("executing")
    change.to_state("waiting_for_tool")
    return ("msg_0",) if turn == 1 else ()


def _acts(change: Change, turn: int, call: int, result: str) -> None:
    name = f"call_{turn}_{call}"
    about: dict[str, Any] = {
        "call_id": name,
        "effect_id": f"eff_{turn}_{call}",
        "name": "read_file",
        "input_hash": "",
    }
    change.event(ToolStarted(**about))
    change.step(_step(change, "tool"))
    change.entry(ToolEntry(call_id=name, name="read_file", content=Content.of(result)))
    change.event(ToolFinished(**about, ok=True, duration_ms=1, bytes=len(result)))


def _step(change: Change, kind: Literal["llm", "tool"]) -> StepRecord:
    return StepRecord(
        step_number=change.next_step,
        kind=kind,
        name="x",
        started_at=change.now,
        completed_at=change.now,
        duration_ms=1,
    )
