"""One tool call: its start is logged, it runs, its finish is logged (design §6.3).

What becomes of a result that comes after a cancel is decided in `_finish`.
"""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from shared.agent.interventions.excerpt import amended_note
from shared.agent.interventions.opening import AskingRules, open_doubt, open_tool_question, wait_for_people
from shared.agent.outages.wait_out import wait_or_ask
from shared.agent.session.engine_decision import outage_wait
from shared.agent.session.fencing import check_run
from shared.agent.session.next_turn import count_open_calls, turn_again
from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.agent.session.session import Session
from shared.agent.tools.effect_ledger import is_in_doubt, is_replanned, log_start, take_back_start
from shared.agent.tools.results_for_model import failure_text, read_result, result_text
from shared.domain.definitions.agent import AgentDefinition, built_in, policies_of
from shared.domain.definitions.builtins import READ_RESULT
from shared.domain.definitions.mcp_server import McpTool
from shared.domain.definitions.tool import ToolDefinition, ToolSpec, written_as
from shared.domain.errors import ModelFeedback, ToolAsks, ToolFailed, ToolNotRun
from shared.domain.interventions.approval import approval_reason
from shared.domain.interventions.options_and_defaults import Policies
from shared.domain.rules.outage import Cause, OutageLimits
from shared.domain.rules.outage_causes import cause_of_lost_call
from shared.domain.schema.versions import added_after
from shared.domain.session.change import Change
from shared.domain.session.commit import Position, StepRecord, milliseconds
from shared.domain.session.conversation import Content, ToolCall, ToolEntry
from shared.domain.session.head import Head, OpenCall, input_to_run
from shared.domain.session.tool_question import ToolQuestion
from shared.domain.untrusted.quoting import OutsideText
from shared.ports.tools import CallContext, Registry, Toolbox

LOST = (
    "Error: the tool did not answer ({error}). Whether it had an effect is unknown; check before you repeat it, or "
    "try another way."
)


REPLANNED = (
    "Error: a person has changed the plan after this call of {name} was asked for, so it was not run. Read what they "
    "changed; make the call again if it is still right."
)
UNASKED = (
    "Error: the server of {name} asks for something that nobody can be asked about now, so the call did not come to an "
    "end. Try another way, or ask the user."
)
CHANGED = (
    "Error: the tool {name} was changed after this call was asked for, so the call was not run, approved or not. Make "
    "it again if it is still right; a person is asked where the tool wants that now."
)


class ToolRuntime(NamedTuple):
    """What tool calls need from the process. `agent`: the present definition, by tenant and agent id; None: it was
    deleted.
    """

    repository: SessionRepository
    registry: Registry
    toolbox: Toolbox
    agent: Callable[[str, str], AgentDefinition | None] = lambda tenant, agent_id: built_in()
    outage_limits: OutageLimits = OutageLimits()

    def policies(self, head: Head) -> Policies:
        """How the session's agent asks people."""
        return policies_of(self.agent(head.tenant, head.agent_id))


class CallResult(NamedTuple):
    """`text`: for the model; `ok` False: it is an error; `whole`: where all of a large result is stored; `outside`: it
    has a text from outside.
    """

    text: str
    ok: bool
    whole: Content | None = None
    outside: bool = False


def run_call(runtime: ToolRuntime, at: Position, call_id: str, attempt: int, deadline_seconds: float) -> None:
    """Runs the call unless its finish is logged already.

    `attempt`: the engine's retry count. `deadline_seconds`: what the invocation leaves the tool (`seconds_for_work` in
    `shared/engine_event.py`). Raises what the engine retries.
    """
    run_held_call(runtime, runtime.repository.turn(at), at, call_id, attempt, deadline_seconds)


def run_held_call(
    runtime: ToolRuntime,
    session: Session,
    at: Position,
    call_id: str,
    attempt: int,
    deadline_seconds: float,
    *,
    fused: bool = False,
) -> None:
    """The same in a process that holds the session, at least since the reply that made the call.

    `fused`: the worker that committed the reply makes the call itself.
    """
    repository = runtime.repository
    if session.recorded(at.call_key(call_id, "finish")) is not None:
        return
    call = session.call(call_id)
    open_call = session.head.open_call(call_id)
    if call is None or open_call is None or open_call.state == "withheld":
        return
    call = _as_it_runs(repository, session, call, open_call)
    amended = open_call.amended is not None
    spec = _present_tool(runtime, session, call.name)
    is_other_tool = spec is not None and _is_changed_since(spec, call, open_call, session.called_at)
    effect = spec.effect if spec is not None and not is_other_tool else None
    if effect is None and is_in_doubt(open_call, effect):
        ask_whether_it_happened(runtime, session, at, call, spec)
        return
    started = repository.clock.now()
    match log_start(repository, session, at, call, effect, fused=fused):
        case "withdrawn":
            return
        case "replanned":
            _leave_out(repository, session, at, call, fused)
            return
        case "ask":
            ask_whether_it_happened(runtime, session, at, call, spec)
            return
        case "first" | "again" as start:
            try:
                result = (
                    CallResult(CHANGED.format(name=call.name), ok=False)
                    if is_other_tool
                    else _run(runtime, spec, call, session.head, deadline_seconds, rerun=start == "again")
                )
            except ToolNotRun as turned_away:
                if effect == "once":
                    take_back_start(repository, session, at, call)
                raise turned_away.reason from None
            except ToolAsks as asks:
                if _ask_for_server(runtime, session, at, call, spec, asks.question):
                    return
                result = CallResult(UNASKED.format(name=call.name), ok=False)
    start_is_logged = effect not in (
        None,
        "read",
    )  # then the finish is recorded whatever came meanwhile (§6.1)

    def build(now: Session, change: Change) -> CommitDraft | None:
        change.is_fused = fused
        if not start_is_logged:
            check_run(change.head, at)
            change.event("tool.started", call.event_data)
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
                error=None if result.ok else "TOOL_ERROR",
            )
        )
        said = result._replace(text=result.text + amended_note(call.input)) if amended else result
        return _finish(now, change, call, said, took)

    repository.commit(session, at.call_key(call_id, "finish"), build)


def _ask_for_server(
    runtime: ToolRuntime,
    session: Session,
    at: Position,
    call: ToolCall,
    spec: ToolSpec | None,
    question: ToolQuestion,
) -> bool:
    """Asks a person what the tool's server asks; the call is made again with the answer. False: it cannot be asked,
    because the run is over, or because heads of the older schema version cannot keep it.
    """
    repository = runtime.repository
    rules = AskingRules(repository.clock, runtime.policies(session.head))
    if ("OpenCall", "asked") in added_after(repository.write_version):
        return False
    mine = session.head.open_call(call.call_id)

    def build(_: Session, change: Change) -> CommitDraft | None:
        open_call = change.head.open_call(call.call_id)
        if change.head.is_over or open_call is None or open_call.state not in ("ready", "started"):
            return None
        check_run(change.head, at)
        withheld = open_call.model_copy(update={"state": "withheld", "asked": question})
        change.set(calls=change.head.with_call(withheld).calls, read_outside=True)
        open_tool_question(change, call, spec, question, rules)
        wait_for_people(change)
        return CommitDraft(change)

    key = at.call_key(call.call_id, f"asked-{mine.tries if mine is not None else 0}")
    asked = repository.commit(session, key, build)
    return asked is not None or not session.head.is_over


def _leave_out(
    repository: SessionRepository, session: Session, at: Position, call: ToolCall, fused: bool
) -> None:
    """Settles a call that does not run because the plan was changed. Where a turn has told the model of that in the
    meantime, or the run has ended, nothing is settled here.
    """
    result = CallResult(REPLANNED.format(name=call.name), ok=False)

    def build(now: Session, change: Change) -> CommitDraft | None:
        check_run(change.head, at)
        if change.head.is_over or change.head.interventions or not is_replanned(change.head, call.call_id):
            return None
        change.is_fused = fused
        return _finish(now, change, call, result, duration_ms=0)

    repository.commit(session, at.call_key(call.call_id, "finish"), build)


def abandon_call(runtime: ToolRuntime, at: Position, call_id: str, error: str) -> None:
    """Settles a call whose Lambda died or timed out for good.

    The model gets an error as the call's result, so that every call has one. Where the tool may run only once and may
    have run, a person is asked instead. Where the world is the reason, nothing is settled: the call stays open and is
    tried again after a wait. `error`: the name of the error class that was left.
    """
    repository = runtime.repository
    session = repository.turn(at)
    call = session.call(call_id)
    open_call = session.head.open_call(call_id)
    if call is None or open_call is None or open_call.state in ("withheld", "done"):
        return
    cause = cause_of_lost_call(error)
    if cause is not None:
        _wait_for_call(runtime, session, at, call_id, cause)
        return
    call = _as_it_runs(repository, session, call, open_call)
    spec = runtime.registry.specs(at.tenant, session.head.agent_id).get(call.name)
    if is_in_doubt(open_call, spec.effect if spec is not None else None):
        ask_whether_it_happened(runtime, session, at, call, spec)
        return
    result = CallResult(LOST.format(error=error), ok=False)

    def build(now: Session, change: Change) -> CommitDraft | None:
        check_run(change.head, at)  # whoever has the session settles the call itself
        known = change.head.open_call(call_id)
        if known is None or known.state != open_call.state:  # its worker is alive: the next turn looks again
            return None
        return _finish(now, change, call, result, duration_ms=0)

    repository.commit(session, at.call_key(call_id, "finish"), build)


def _wait_for_call(runtime: ToolRuntime, session: Session, at: Position, call_id: str, cause: Cause) -> None:
    """Begins the wait, once for all calls of the reply that are lost together. The next turn waits and runs them
    again; a call that may have had its effect is treated then as after any other lost worker.

    Heads of the older schema version do not say until when: there the wait is the decision of the next turn, Think,
    which finds itself made.
    """
    repository = runtime.repository
    rules = AskingRules(repository.clock, runtime.policies(session.head))
    is_stored = ("Head", "outage") not in added_after(repository.write_version)

    def build(_: Session, change: Change) -> CommitDraft | None:
        check_run(change.head, at)
        head, open_call = change.head, change.head.open_call(call_id)
        if head.is_over or open_call is None or open_call.state in ("withheld", "done"):
            return None
        if head.run is None or head.run.turn != at.turn:
            return None
        if _waits(head, change.now):
            return CommitDraft(change) if _joins(change, call_id) else None
        wait_or_ask(change, cause, runtime.outage_limits, rules)
        count_open_calls(change)
        _joins(change, call_id)
        if is_stored:
            return CommitDraft(change)
        turn_again(change)
        return CommitDraft(change, outage_wait(change.head, change.now))

    key = at.call_key(call_id, f"outage-{session.number}") if is_stored else at.key("think")
    repository.commit(session, key, build)


def _joins(change: Change, call_id: str) -> bool:
    """Adds the call to those that wait. False: it is there, or no wait of calls has begun."""
    outage = change.head.outage
    if outage is None or call_id in outage.lost_calls:
        return False
    change.set(outage=outage.model_copy(update={"lost_calls": (*outage.lost_calls, call_id)}))
    return True


def _waits(head: Head, now: datetime) -> bool:
    return head.outage is not None and head.outage.is_ahead(now)


def _present_tool(runtime: ToolRuntime, session: Session, name: str) -> ToolSpec | None:
    """The tool as it is now. None: it was deleted. What admins change holds from the next turn on, and so for a call
    that has waited longer than that: then the tool is as the present agent has it, and gone with it.
    """
    head = session.head
    spec = runtime.registry.specs(head.tenant, head.agent_id).get(name)
    if spec is None or not session.has_waited:
        return spec
    agent = runtime.agent(head.tenant, head.agent_id)
    return agent.toolset({name: spec}).get(name) if agent is not None else None


def _is_changed_since(spec: ToolSpec, call: ToolCall, open_call: OpenCall, called_at: datetime) -> bool:
    """Whether the call is not for the tool as it is now (design §8): an admin has written the tool after the turn read
    it, or nobody has approved the call and somebody would have to now. Plans ask for permissions, too: those are known
    since the reply.

    `called_at`: what decides about a call of a tenant's tool that an earlier release stored.
    """
    if open_call.approval == "" and approval_reason(None, spec, call.input or {}) is not None:
        return True
    if open_call.tool_written == "" and isinstance(spec, ToolDefinition | McpTool):
        return spec.updated_at > called_at
    return written_as(spec) != open_call.tool_written


def _as_it_runs(
    repository: SessionRepository, session: Session, call: ToolCall, open_call: OpenCall
) -> ToolCall:
    """The call with the input it runs with: a person's, where one changed it, else the model's."""
    loaded = repository.load_input(session, call)
    return loaded.model_copy(update={"input": input_to_run(loaded, open_call)})


def ask_whether_it_happened(
    runtime: ToolRuntime, session: Session, at: Position, call: ToolCall, spec: ToolSpec | None
) -> None:
    """Asks a person about a `once` call that died between its start and its finish: it is never repeated blindly."""
    repository = runtime.repository
    rules = AskingRules(repository.clock, runtime.policies(session.head))

    def build(_: Session, change: Change) -> CommitDraft | None:
        check_run(change.head, at)
        open_call = change.head.open_call(call.call_id)
        if change.head.is_over or open_call is None or open_call.state != "started":
            return None
        change.set(calls=change.head.with_call(open_call.model_copy(update={"state": "withheld"})).calls)
        open_doubt(change, call, spec, rules)
        wait_for_people(change)
        return CommitDraft(change)

    repository.commit(session, at.call_key(call.call_id, f"doubt-{session.number}"), build)


def _run(
    runtime: ToolRuntime,
    spec: ToolSpec | None,
    call: ToolCall,
    head: Head,
    deadline: float,
    rerun: bool,
) -> CallResult:
    arguments = call.input or {}
    if spec is None:
        return CallResult(
            f"Error: the tool {call.name!r} is not available any more. Try another way.", ok=False
        )
    context = CallContext(
        tenant=head.tenant,
        session_id=head.session_id,
        agent_id=head.agent_id,
        effect_id=call.effect_id,
        deadline_seconds=min(deadline, spec.timeout_seconds),
        rerun=rerun,
        user=head.created_by,
        read_outside=head.read_outside is not False,
        private=head.private_to is not None,
        answered=_answered(head, call.call_id),
    )
    try:
        runtime.registry.check(spec, arguments, private=context.private)
        if spec.name == READ_RESULT:
            said: str | OutsideText = read_result(runtime.repository, head, arguments)
        else:
            said = runtime.toolbox.run(spec, arguments, context)
    except ModelFeedback as failure:
        outside = isinstance(failure, ToolFailed) and failure.outside is not None
        return CallResult(failure_text(failure, head.quotation_key), ok=False, outside=outside)
    result = result_text(
        said,
        spec.result_limit_bytes,
        lambda content: runtime.repository.keep(head, content),
        head.quotation_key,
    )
    return CallResult(result.text, ok=True, whole=result.whole, outside=isinstance(said, OutsideText))


def _answered(head: Head, call_id: str) -> ToolQuestion | None:
    """What a person has answered the tool's server in the middle of this call."""
    open_call = head.open_call(call_id)
    asked = open_call.asked if open_call is not None else None
    return asked if asked is not None and asked.responses is not None else None


def _finish(
    now: Session, change: Change, call: ToolCall, result: CallResult, duration_ms: int
) -> CommitDraft:
    """Records the result and moves the session on.

    Where the run is over it only records what happened. The same holds where the call has its one result already: a
    person said what came of it, or the model was told that nobody knows.
    """
    content = Content.of(result.text)
    answered = now.call(call.call_id) is None or call.call_id in now.results
    if not answered:
        change.entry(
            ToolEntry(call_id=call.call_id, name=call.name, content=content, ok=result.ok, whole=result.whole)
        )
    if result.outside:
        change.set(read_outside=True)
    size = (result.whole or content).bytes
    head = change.head
    open_call = head.open_call(call.call_id)
    if open_call is None or open_call.state != "done":  # else a person ended it, and it has its event
        finished = {"ok": result.ok, "duration_ms": duration_ms, "bytes": size}
        change.event("tool.finished", call.event_data | finished)
    change.set(usage=head.usage.model_copy(update={"tool_calls": head.usage.tool_calls + 1}))
    if answered or open_call is None:
        return CommitDraft(change)
    change.set(
        calls=head.with_call(
            open_call.model_copy(update={"state": "done", "amended": None, "starter": "", "asked": None})
        ).calls
    )
    if head.is_over:
        return CommitDraft(change)
    if result.ok and head.plan is not None and head.plan.is_live:
        change.set(plan=head.plan.with_evidence(call.call_id, change.now))
    if not change.head.unfinished_calls and change.head.state == "waiting_for_tool":
        change.end_outage()
        change.to_state("executing")
    return CommitDraft(change)
