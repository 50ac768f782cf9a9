"""One tool call through the effect ledger (design §6.3): start logged, effect, finish logged."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from shared.agent.excerpt import amended_note
from shared.agent.journal import Draft, Journal
from shared.agent.people import open_doubt
from shared.agent.results import read_result, told
from shared.agent.thread import Thread, overtaken
from shared.domain.builtins import READ_RESULT
from shared.domain.change import Change
from shared.domain.commit import Position, StepRecord, milliseconds
from shared.domain.content import Content
from shared.domain.conversation import ToolCall, ToolEntry
from shared.domain.errors import Fenced, ModelFeedback
from shared.domain.fence import Outside
from shared.domain.intervention import NO_POLICIES, Policies, input_hash
from shared.domain.session import Head, OpenCall, effective
from shared.domain.tool import ToolSpec
from shared.ports.tools import CallContext, Registry, Toolbox

LOST = (
    "Error: the tool did not answer ({error}). Whether it had an effect is unknown; check before you repeat it, or "
    "try another way."
)


class Hands(NamedTuple):
    """What a call needs of the world."""

    journal: Journal
    registry: Registry
    toolbox: Toolbox
    policies: Callable[[str, str], Policies] = lambda tenant, agent_id: NO_POLICIES
    """By tenant and agent: how people are asked."""


class Outcome(NamedTuple):
    """Text for the model; `ok` False where it is an error; `whole`: where all of a large result is stored."""

    text: str
    ok: bool
    whole: Content | None = None


class _Withdrawn(Exception):
    """The session was cancelled, paused or overtaken before the call started: it is not started."""


def run_call(hands: Hands, at: Position, call_id: str, attempt: int, deadline_seconds: float) -> None:
    """Runs the call unless its finish is logged already. What the engine retries is raised."""
    journal = hands.journal
    thread = journal.turn(at)
    if thread.recorded(at.call_key(call_id, "finish")) is not None:
        return
    call = thread.call(call_id)
    open_call = thread.head.open_call(call_id)
    if call is None or open_call is None or open_call.state == "withheld":
        return
    call = _as_it_runs(journal, thread, call, open_call)
    amended = open_call.amended is not None
    spec = hands.registry.specs(at.tenant, thread.head.agent_id).get(call.name)
    started, rerun = journal.clock.now(), False
    try:
        if spec is not None and spec.effect != "read":
            rerun = not _log_start(journal, thread, at, call)
        else:
            _may_start(thread.head, at, call_id)
    except _Withdrawn:
        return
    if rerun and spec is not None and spec.effect == "once":
        ask_whether_it_happened(hands, thread, at, call)
        return
    outcome = _run(hands, spec, call, thread.head, deadline_seconds, rerun)

    def build(_: Thread, change: Change) -> Draft:
        if spec is None or spec.effect == "read":
            change.event("tool.started", _named(call))
        took = milliseconds(started, change.now)
        change.step(
            lambda number: StepRecord(
                step_number=number,
                kind="tool",
                name=call.name,
                started_at=started,
                completed_at=change.now,
                duration_ms=took,
                attempt=attempt,
                error=None if outcome.ok else "TOOL_ERROR",
            )
        )
        said = outcome._replace(text=outcome.text + amended_note(call.input)) if amended else outcome
        return _finish(change, call, said, took)

    journal.commit(thread, at.call_key(call_id, "finish"), build)


def lose_call(hands: Hands, at: Position, call_id: str, error: str) -> None:
    """The call's Lambda died or timed out for good. The model is told, so that every call has its result; where the
    tool runs once only and may have run, a person is asked.
    """
    journal = hands.journal
    thread = journal.turn(at)
    call = thread.call(call_id)
    open_call = thread.head.open_call(call_id)
    if call is None or open_call is None or open_call.state in ("withheld", "done"):
        return
    call = _as_it_runs(journal, thread, call, open_call)
    spec = hands.registry.specs(at.tenant, thread.head.agent_id).get(call.name)
    if spec is not None and spec.effect == "once" and open_call.state == "started":
        ask_whether_it_happened(hands, thread, at, call)
        return
    outcome = Outcome(LOST.format(error=error), ok=False)
    journal.commit(
        thread,
        at.call_key(call_id, "finish"),
        lambda _, change: _finish(change, call, outcome, duration_ms=0),
    )


def _as_it_runs(journal: Journal, thread: Thread, call: ToolCall, open_call: OpenCall) -> ToolCall:
    """The call with the input that runs: a person's amendment, else the model's."""
    loaded = journal.load_input(thread, call)
    return loaded.model_copy(update={"input": effective(loaded, open_call)})


def _log_start(journal: Journal, thread: Thread, at: Position, call: ToolCall) -> bool:
    """A call with an effect appends its start first: after a cancel's 2xx none is started any more (§6.4).

    False: its start was logged before, by an attempt that may have had the effect.
    """

    mine = journal.clock.new_id("try")
    before = thread.head.open_call(call.call_id)
    tries = before.tries if before is not None else 0

    def build(now: Thread, change: Change) -> Draft:
        _may_start(now.head, at, call.call_id)
        open_call = change.head.open_call(call.call_id)
        assert open_call is not None
        started = open_call.model_copy(update={"state": "started", "starter": mine})
        change.set(calls=change.head.with_call(started).calls)
        change.event("tool.started", _named(call))
        return Draft(change)

    journal.commit(thread, at.call_key(call.call_id, f"start-{tries}"), build)
    logged = thread.head.open_call(call.call_id)
    return logged is not None and logged.starter == mine


def ask_whether_it_happened(hands: Hands, thread: Thread, at: Position, call: ToolCall) -> None:
    """A call that runs once only died between its start and its finish: it is never repeated blindly (§6.3)."""
    journal, policies = hands.journal, hands.policies(at.tenant, thread.head.agent_id)

    def build(_: Thread, change: Change) -> Draft:
        open_call = change.head.open_call(call.call_id)
        if change.head.is_over or open_call is None or open_call.state != "started":
            raise _Withdrawn
        change.set(calls=change.head.with_call(open_call.model_copy(update={"state": "withheld"})).calls)
        open_doubt(change, call, journal.clock, policies)
        if change.head.state != "waiting_for_user":
            change.to_state("waiting_for_user", "error_recovery")
        return Draft(change)

    with suppress(_Withdrawn):
        journal.commit(thread, at.call_key(call.call_id, f"doubt-{thread.number}"), build)


def _may_start(head: Head, at: Position, call_id: str) -> None:
    if overtaken(head, at):
        raise Fenced("another run or generation has the session")
    open_call = head.open_call(call_id)
    if head.is_over or head.interventions or open_call is None or open_call.state == "done":
        raise _Withdrawn


def _run(
    hands: Hands,
    spec: ToolSpec | None,
    call: ToolCall,
    head: Head,
    deadline: float,
    rerun: bool,
) -> Outcome:
    arguments = call.input or {}
    if spec is None:
        return Outcome(f"Error: the tool {call.name!r} is not available any more. Try another way.", ok=False)
    context = CallContext(
        tenant=head.tenant,
        session_id=head.session_id,
        agent_id=head.agent_id,
        effect_id=call.effect_id,
        deadline_seconds=min(deadline, spec.timeout_seconds),
        rerun=rerun,
    )
    try:
        hands.registry.check(spec, arguments)
        if spec.name == READ_RESULT:
            said: str | Outside = read_result(hands.journal, head, arguments)
        else:
            said = hands.toolbox.run(spec, arguments, context)
    except ModelFeedback as failure:
        return Outcome(f"Error: {failure}", ok=False)
    result = told(said, spec.result_limit_bytes, lambda content: hands.journal.keep(head, content))
    return Outcome(result.text, ok=True, whole=result.whole)


def _finish(change: Change, call: ToolCall, outcome: Outcome, duration_ms: int) -> Draft:
    """Settles the call. Where the run is over it only records what happened and moves nothing (§6.1)."""
    content = Content.of(outcome.text)
    change.entry(
        ToolEntry(call_id=call.call_id, name=call.name, content=content, ok=outcome.ok, whole=outcome.whole)
    )
    size = (outcome.whole or content).bytes
    finished = {"ok": outcome.ok, "duration_ms": duration_ms, "bytes": size}
    change.event("tool.finished", _named(call) | finished)
    head = change.head
    change.set(usage=head.usage.model_copy(update={"tool_calls": head.usage.tool_calls + 1}))
    open_call = head.open_call(call.call_id)
    if open_call is None:
        return Draft(change)
    change.set(
        calls=head.with_call(
            open_call.model_copy(update={"state": "done", "amended": None, "starter": ""})
        ).calls
    )
    if head.is_over:
        return Draft(change)
    if outcome.ok and head.plan is not None and head.plan.is_live:
        change.set(plan=head.plan.with_evidence(call.call_id, change.now))
    if not change.head.unfinished_calls and change.head.state == "waiting_for_tool":
        change.to_state("executing")
    return Draft(change)


def _named(call: ToolCall) -> dict[str, Any]:
    hashed = input_hash(call.input or {})
    return {"call_id": call.call_id, "effect_id": call.effect_id, "name": call.name, "input_hash": hashed}
