"""One tool call through the effect ledger (design §6.3): start logged, effect, finish logged."""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from shared.agent.interventions.excerpt import amended_note
from shared.agent.interventions.opening import open_doubt, wait_for_people
from shared.agent.session.position import fence_run
from shared.agent.session.repository import Draft, Journal
from shared.agent.session.session import Thread
from shared.agent.tools.effect_ledger import Withdrawn, begin, named
from shared.agent.tools.results import read_result, told
from shared.domain.definitions.builtins import READ_RESULT
from shared.domain.definitions.tool import ToolSpec
from shared.domain.errors import ModelFeedback
from shared.domain.interventions.intervention import NO_POLICIES, Policies
from shared.domain.session.change import Change
from shared.domain.session.commit import Position, StepRecord, milliseconds
from shared.domain.session.content import Content
from shared.domain.session.conversation import ToolCall, ToolEntry
from shared.domain.session.head import Head
from shared.domain.session.open_call import OpenCall, effective
from shared.domain.untrusted.quoting import Outside
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
    if spec is None and open_call.state == "started":  # taken away meanwhile, with how often it may run
        ask_whether_it_happened(hands, thread, at, call)
        return
    started = journal.clock.now()
    try:
        rerun = begin(journal, thread, at, call, spec.effect if spec is not None else None)
    except Withdrawn:
        return
    if rerun and spec is not None and spec.effect == "once":
        ask_whether_it_happened(hands, thread, at, call)
        return
    outcome = _run(hands, spec, call, thread.head, deadline_seconds, rerun)
    logged = spec is not None and spec.effect != "read"  # then its finish is told whatever came (§6.1)

    def build(now: Thread, change: Change) -> Draft:
        if not logged:
            fence_run(change.head, at)
            change.event("tool.started", named(call))
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
        return _finish(now, change, call, said, took)

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
    if open_call.state == "started" and (spec is None or spec.effect == "once"):
        ask_whether_it_happened(hands, thread, at, call)
        return
    outcome = Outcome(LOST.format(error=error), ok=False)

    def build(now: Thread, change: Change) -> Draft:
        fence_run(change.head, at)  # whoever has the session settles the call itself
        known = change.head.open_call(call_id)
        if known is None or known.state != open_call.state:  # its worker is alive: the next turn looks again
            raise Withdrawn
        return _finish(now, change, call, outcome, duration_ms=0)

    with suppress(Withdrawn):
        journal.commit(thread, at.call_key(call_id, "finish"), build)


def _as_it_runs(journal: Journal, thread: Thread, call: ToolCall, open_call: OpenCall) -> ToolCall:
    """The call with the input that runs: a person's amendment, else the model's."""
    loaded = journal.load_input(thread, call)
    return loaded.model_copy(update={"input": effective(loaded, open_call)})


def ask_whether_it_happened(hands: Hands, thread: Thread, at: Position, call: ToolCall) -> None:
    """A call that runs once only died between its start and its finish: it is never repeated blindly (§6.3)."""
    journal, policies = hands.journal, hands.policies(at.tenant, thread.head.agent_id)

    def build(_: Thread, change: Change) -> Draft:
        fence_run(change.head, at)
        open_call = change.head.open_call(call.call_id)
        if change.head.is_over or open_call is None or open_call.state != "started":
            raise Withdrawn
        change.set(calls=change.head.with_call(open_call.model_copy(update={"state": "withheld"})).calls)
        open_doubt(change, call, journal.clock, policies)
        wait_for_people(change)
        return Draft(change)

    with suppress(Withdrawn):
        journal.commit(thread, at.call_key(call.call_id, f"doubt-{thread.number}"), build)


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


def _finish(now: Thread, change: Change, call: ToolCall, outcome: Outcome, duration_ms: int) -> Draft:
    """Settles the call. Where the run is over it only records what happened and moves nothing (§6.1); so it does
    where the call has its one result already: a person said what came of it, or the model was told that nobody knows.
    """
    content = Content.of(outcome.text)
    answered = now.call(call.call_id) is None or call.call_id in now.results
    if not answered:
        change.entry(
            ToolEntry(
                call_id=call.call_id, name=call.name, content=content, ok=outcome.ok, whole=outcome.whole
            )
        )
    size = (outcome.whole or content).bytes
    finished = {"ok": outcome.ok, "duration_ms": duration_ms, "bytes": size}
    change.event("tool.finished", named(call) | finished)
    head = change.head
    change.set(usage=head.usage.model_copy(update={"tool_calls": head.usage.tool_calls + 1}))
    open_call = head.open_call(call.call_id)
    if answered or open_call is None:
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
