"""A tool runs, and its call ends: what tool calls need from the process, how a tool is run, how its result is
recorded, or what people are asked about the call before it ends.

`Tools` is the one place where a call goes to its tool. What becomes of a result that comes after a cancel is decided in
`finish`. Whether a call may start at all: `execute.py`.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from acta.engine.agents.agent import AgentDefinition, agent_of_session, built_in, policies_of
from acta.engine.errors import ModelFeedback, ToolFailed, ToolNotRun, TransientError
from acta.engine.log.commit import Change, Position, StepRecord, milliseconds
from acta.engine.log.conversation import Content, ToolCall, ToolEntry
from acta.engine.log.events import ToolFinished, ToolStarted
from acta.engine.log.head import EndedCall, Head, OpenCall, Restarts
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.people.effects import go_on
from acta.engine.people.opening import (
    AskingRules,
    amended_note,
    open_doubt,
    open_tool_question,
    wait_for_people,
)
from acta.engine.people.policies import ANYONE, ApprovalReason, Policies, approval_reason
from acta.engine.recovery.outage import OutageLimits
from acta.engine.recovery.recover import begin_next_generation
from acta.engine.tools.mcp.server_task import ServerTask, ToolQuestion
from acta.engine.tools.port import (
    BuiltinCall,
    BuiltinReach,
    Callback,
    CallContext,
    Registry,
    ServerTasks,
    Toolbox,
)
from acta.engine.tools.result_text import failure_text, result_text
from acta.engine.tools.tool import BuiltinTool, ToolKind, ToolSpec
from acta.engine.turn.engine import check_run
from acta.engine.untrusted.path import PathRefused
from acta.engine.untrusted.quoting import OutsideText

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.subagents.family import Family


class ToolRuntime(NamedTuple):
    """What tool calls need from the process. `family`: what calls of agents need; None: there are none here.
    `agent`: the present definition, by tenant and agent id; None: it was
    deleted. `server_tasks`: what looks for the tasks of tools' servers; None: servers are to answer at once.
    `high_stakes_approver`: the setting of that name. `callback_url`: where a call may be answered later, by tenant,
    session and call; None: nowhere.
    """

    repository: SessionRepository
    registry: Registry
    toolbox: Toolbox
    agent: Callable[[str, str], AgentDefinition | None] = lambda tenant, agent_id: built_in()
    outage_limits: OutageLimits = OutageLimits()
    server_tasks: Callable[[], ServerTasks] | None = None
    high_stakes_approver: str = ANYONE
    family: "Callable[[], Family] | None" = None
    callback_url: Callable[[str, str, str], str] | None = None

    def policies(self, head: Head) -> Policies:
        """How the session's agent asks people."""
        return policies_of(self.agent_of(head), head)

    def agent_of(self, head: Head) -> AgentDefinition | None:
        """As `agent_of_session`."""
        return agent_of_session(head, partial(self.agent, head.tenant))


class CallResult(NamedTuple):
    text: str
    """For the model."""
    ok: bool
    """False: the text says what went wrong."""
    whole: Content | None = None
    """Where all of a large result is stored."""
    outside: bool = False
    """The text comes from outside, or a part of it does."""
    written_path: str | None = None
    """The path of the file that the call wrote. The event says it: a person may have changed the model's input."""
    by: Literal["tool", "callback", "deadline"] | None = None
    """Who has answered a call that could be answered later. None: this one could not."""
    answer_id: str = ""
    """As of `EndedCall`."""


class HeldCall(NamedTuple):
    """One call, in a process that holds its session."""

    runtime: ToolRuntime
    session: Session
    at: Position
    call: ToolCall
    """With the input that it runs with."""
    spec: ToolSpec | None = None
    """Its tool as it is now. None: it was deleted."""
    attempt: int = 0
    """The engine's retry count."""
    fused: bool = False
    """The worker that committed the reply makes the call itself."""

    @property
    def open_call(self) -> OpenCall | None:
        """The call's entry in the newest head."""
        return self.session.head.open_call(self.call.call_id)

    @property
    def asking_rules(self) -> AskingRules:
        runtime = self.runtime
        policies = runtime.policies(self.session.head)
        return AskingRules(runtime.repository.clock, policies, runtime.high_stakes_approver)

    def new_try(self) -> str:
        return self.runtime.repository.clock.new_id("try")

    def attempts(self, key: str) -> Iterator[Change]:
        """The loop of a commit about the call. `key`: what it settles, such as `finish`, or `doubt/` and a new try."""
        return self.runtime.repository.attempts(self.session, self.at.call_key(self.call.call_id, key))

    def context(self, spec: ToolSpec, deadline: float) -> CallContext:
        """Raises ToolNotRun while no callback URL can be made."""
        head, open_call = self.session.head, self.open_call
        asked = open_call.asked if open_call is not None else None
        return CallContext(
            tenant=head.tenant,
            session_id=head.session_id,
            agent_id=head.agent_id,
            effect_id=self.call.effect_id,
            deadline_seconds=min(deadline, spec.timeout_seconds),
            user=head.created_by,
            read_outside=head.read_outside,
            private=head.private_to is not None,
            answered=asked if asked is not None and asked.responses is not None else None,
            takes_tasks=self.runtime.server_tasks is not None,
            seen_file=open_call.seen_file if open_call is not None else None,
            given_files=head.seen_files,
            text_of=lambda handle: self.runtime.repository.text(head, handle),
            callback=self._callback(spec),
        )

    def _callback(self, spec: ToolSpec) -> Callback | None:
        runtime, head = self.runtime, self.session.head
        if spec.later is None or runtime.callback_url is None:
            return None
        try:
            url = runtime.callback_url(head.tenant, head.session_id, self.call.call_id)
        except TransientError as away:
            raise ToolNotRun(away) from None
        return Callback(url, spec.later, runtime.repository.clock)

    def refused(self, text: str) -> CallResult:
        """A result that says why the call came to nothing. `text`: with the tool's `{name}`."""
        return CallResult(text.format(name=self.call.name), ok=False)


def as_it_runs(
    repository: SessionRepository, session: Session, call: ToolCall, open_call: OpenCall
) -> ToolCall:
    """The call with the input it runs with: a person's, where one changed it, else the model's."""
    loaded = repository.load_input(session, call)
    return loaded if open_call.amended is None else loaded.model_copy(update={"input": open_call.amended})


EARLIER_ATTEMPT = "An earlier attempt of this call may have had its effect: look before you do it again."


def run_tool(held: HeldCall, deadline: float, *, rerun: bool) -> CallResult:
    """Raises ToolAsks, ToolWaits, ToolUnanswered, ToolNotRun, and what the engine retries."""
    spec, arguments = held.spec, held.call.input or {}
    if spec is None:
        name = held.call.name
        return CallResult(f"Error: the tool {name!r} is not available any more. Try another way.", ok=False)
    runtime, context = held.runtime, held.context(spec, deadline)._replace(rerun=rerun)

    def run() -> str | OutsideText:
        runtime.registry.check(spec, arguments, private=context.private)
        return runtime.toolbox.run(spec, arguments, context)

    result = result_of(held, spec, run)
    if context.callback is not None:
        result = result._replace(by="tool")
    if rerun and not result.ok and spec.effect == "idempotent" and not isinstance(spec, BuiltinTool):
        # such as a 409 that says that the first request with this key is still being worked on
        return result._replace(text=f"{result.text}\n{EARLIER_ATTEMPT}")
    if result.ok and isinstance(spec, BuiltinTool):
        return result._replace(written_path=spec.written_path(arguments))
    return result


def result_of(held: HeldCall, spec: ToolSpec, run: Callable[[], str | OutsideText]) -> CallResult:
    """What the model is told of what `run` says, or of how it fails."""
    repository, head = held.runtime.repository, held.session.head
    try:
        said = run()
    except ModelFeedback as failure:
        outside = isinstance(failure, ToolFailed) and failure.outside is not None
        return CallResult(failure_text(failure, head.quotation_key), ok=False, outside=outside)
    result = result_text(
        said, spec.result_limit_bytes, lambda content: repository.keep(head, content), head.quotation_key
    )
    return CallResult(result.text, ok=True, whole=result.whole, outside=isinstance(said, OutsideText))


Runner = Callable[[Any, Mapping[str, Any], CallContext], str | OutsideText]
"""Makes the calls of all tools of one kind. It gets the tool, the arguments and the context, as `Toolbox.run` does."""
Outside = Mapping[ToolKind, Callable[[], Runner]]
"""How to get the runner of each kind that is not built in. A runner is made with the first call of its kind, because
what it loads would make every cold start longer."""
NONE_OUTSIDE: Outside = MappingProxyType({})


class Tools:
    """A Toolbox. Without `outside` only built-in tools run here."""

    def __init__(self, reach: BuiltinReach, outside: Outside = NONE_OUTSIDE) -> None:
        self._reach = reach
        self.outside = outside

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        if isinstance(spec, BuiltinTool) and spec.run is not None:
            try:
                return spec.run(BuiltinCall(arguments, context, self._reach))
            except PathRefused as refused:  # the path is longer than the store's keys may be
                raise ToolFailed(f"{refused}.") from None
        runner = self.outside.get(spec.kind)
        if runner is None:
            raise ToolFailed(f"there is no tool {spec.name} here. Try another way.")
        return runner()(spec, arguments, context)


def record_finish(held: HeldCall, result: CallResult, started: datetime, *, start_is_logged: bool) -> None:
    """If `start_is_logged`, the finish is recorded whatever came meanwhile (docs/design/log.md 8)."""
    call, open_call = held.call, held.open_call
    # whether it ran with an input of a person's
    amended = open_call is not None and open_call.amended is not None
    said = result._replace(text=result.text + amended_note(call.input)) if amended else result
    for change in held.attempts("finish"):
        if result.answer_id and (change.head.is_over or change.head.answered_call(call.call_id)):
            return  # a cancel or another answer was faster
        change.is_fused = held.fused
        if not start_is_logged:
            check_run(change.head, held.at)
            change.event(ToolStarted(**call.event_data))
        took = milliseconds(started, change.now)
        told = change.head.open_call(call.call_id)
        children = None if told is None else told.children
        if told is not None and children is not None and (children.working or told.state == "done"):
            return  # it ends once, with the last of its children
        change.has_waited = told is not None and told.later is not None
        change.step(
            StepRecord(
                step_number=change.next_step,
                kind="tool",
                name=call.name,
                started_at=started,
                completed_at=change.now,
                duration_ms=took,
                attempt=held.attempt,
                error=None if result.ok else "TOOL_ERROR",
            )
        )
        finish(held, change, said, took)
        change.commit()


def finish(held: HeldCall, change: Change, result: CallResult, duration_ms: int = 0) -> None:
    """Records the result and moves the session on.

    Where the run is over it only records what happened. The same holds where the call has its one result already: a
    person said what came of it, or the model was told that nobody knows.
    """
    session, call, content = held.session, held.call, Content.of(result.text)
    answered = session.call(call.call_id) is None or call.call_id in session.results
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
        finished: dict[str, Any] = {"ok": result.ok, "duration_ms": duration_ms, "bytes": size}
        if result.written_path is not None:
            finished["path"] = result.written_path
        change.event(ToolFinished(**call.event_data, **finished))
        if result.by is not None:
            ended = EndedCall(
                answer_id=result.answer_id, call_id=call.call_id, ok=result.ok, at=change.now, by=result.by
            )
            change.set(answered_calls=head.answered_with(ended))
    change.set(usage=head.usage.model_copy(update={"tool_calls": head.usage.tool_calls + 1}))
    if answered or open_call is None:
        return
    wait = head.wait_for_calls
    change.set_call(open_call, state="done", amended=None, starter="", asked=None, task=None, later=None)
    if head.is_over:
        return
    if result.by == "callback" and open_call.state == "withheld":
        _withdraw_doubt(change, call.call_id)
    if result.ok and head.plan is not None and head.plan.is_live:
        is_edited = head.has_unread_plan_edit
        change.set(plan=head.plan.with_evidence(call.call_id, change.now, is_edited=is_edited))
    if not change.head.unfinished_calls and change.head.state == "waiting_for_tool":
        if wait is not None:
            change.to_state("executing")  # the end of the wait is no news of its own
        change.end_outage()
        change.to_state("executing")
        if wait is not None and wait.is_ahead(change.now) and head.run is not None:
            # No execution is there that would notice, or it sleeps: the next generation goes on, as after `try_now`.
            begin_next_generation(change, head.run, Restarts())
            change.set(delay=wait.model_copy(update={"until": None}))
    elif open_call.later is None and change.head.wait_for_calls is not None:
        change.tell_wait(change.head.wait_for_calls)


def _withdraw_doubt(change: Change, call_id: str) -> None:
    """Nobody has to say any more whether the call happened. Whoever brought the answer wakes the engine."""
    for one in change.head.interventions:
        if one.type == "error_recovery" and one.tool_call is not None and one.tool_call.call_id == call_id:
            change.close_intervention(
                one.model_copy(update={"state": "withdrawn", "resolved_at": change.now})
            )
    if change.head.interventions:
        wait_for_people(change)
    else:
        go_on(change)


def ask_whether_it_happened(held: HeldCall) -> None:
    """Asks a person about a `once` call that died between its start and its finish: it is never repeated blindly. A
    task of its server is not looked for any more.
    """
    rules, mine = held.asking_rules, held.open_call
    spec, why = _as_asked(held)
    for change in held.attempts(f"doubt/{held.new_try()}"):
        check_run(change.head, held.at)
        open_call = change.head.open_call(held.call.call_id)
        if change.head.is_over or open_call is None or open_call != mine or open_call.state != "started":
            return
        change.set_call(open_call, state="withheld", asked=None, task=None)
        open_doubt(change, held.call, spec, rules, why)
        wait_for_people(change)
        change.commit()


def _as_asked(held: HeldCall) -> tuple[ToolSpec | None, ApprovalReason | None]:
    """The tool as its agent has it, and why a person had to approve the call, whatever its plan says."""
    head, spec = held.session.head, held.spec
    agent = held.runtime.agent_of(head)
    if spec is not None and agent is not None:  # the agent may have added the tool to those of high stakes
        spec = agent.toolset({spec.name: spec}).get(spec.name, spec)
    return spec, None if spec is None else approval_reason(None, spec, held.call.input or {})


def ask_for_server(held: HeldCall, question: ToolQuestion, looked: ServerTask | None = None) -> bool:
    """Asks a person what the tool's server asks; the call is made again with the answer, or its task gets it. False: it
    cannot be asked, because the run is over.

    `looked`: the task as it stood after the look that found the question. None: the server answered the call with it.
    """
    rules, mine = held.asking_rules, held.open_call
    spec, why = _as_asked(held)
    for change in held.attempts(f"asked/{held.new_try()}"):
        open_call = change.head.open_call(held.call.call_id)
        if change.head.is_over or open_call is None or open_call != mine:
            return not held.session.head.is_over
        check_run(change.head, held.at)
        change.set_call(open_call, state="withheld", asked=question, task=looked)
        change.set(read_outside=True)
        open_tool_question(change, held.call, spec, question, rules, why)
        wait_for_people(change)
        change.commit()
    return True
