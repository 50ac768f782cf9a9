"""What tool calls need from the process, and how a tool is run. `Tools` is the one place where a call goes to its
tool."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from acta_engine.agents.agent import AgentDefinition, built_in, policies_of
from acta_engine.errors import ModelFeedback, ToolFailed
from acta_engine.log.conversation import Content, ToolCall
from acta_engine.log.head import Head
from acta_engine.log.repository import SessionRepository
from acta_engine.people.options_and_defaults import Policies
from acta_engine.recovery.outage import OutageLimits
from acta_engine.tools.mcp.server_task import ToolQuestion
from acta_engine.tools.port import BuiltinCall, BuiltinReach, CallContext, Registry, ServerTasks, Toolbox
from acta_engine.tools.results_for_model import failure_text, result_text
from acta_engine.tools.tool import BuiltinTool, ToolKind, ToolSpec
from acta_engine.untrusted.path import PathRefused
from acta_engine.untrusted.quoting import OutsideText


class ToolRuntime(NamedTuple):
    """What tool calls need from the process. `agent`: the present definition, by tenant and agent id; None: it was
    deleted. `server_tasks`: what looks for the tasks of tools' servers; None: servers are to answer at once.
    """

    repository: SessionRepository
    registry: Registry
    toolbox: Toolbox
    agent: Callable[[str, str], AgentDefinition | None] = lambda tenant, agent_id: built_in()
    outage_limits: OutageLimits = OutageLimits()
    server_tasks: Callable[[], ServerTasks] | None = None

    def policies(self, head: Head) -> Policies:
        """How the session's agent asks people."""
        return policies_of(self.agent(head.tenant, head.agent_id))

    @property
    def takes_tasks(self) -> bool:
        """Whether a call may become a task."""
        return self.server_tasks is not None


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


def run_tool(
    runtime: ToolRuntime, spec: ToolSpec | None, call: ToolCall, head: Head, deadline: float, *, rerun: bool
) -> CallResult:
    """Raises ToolAsks, ToolWaits, ToolUnanswered, ToolNotRun, and what the engine retries."""
    arguments = call.input or {}
    if spec is None:
        return CallResult(
            f"Error: the tool {call.name!r} is not available any more. Try another way.", ok=False
        )
    context = context_of(runtime, spec, call, head, deadline)._replace(rerun=rerun)

    def run() -> str | OutsideText:
        runtime.registry.check(spec, arguments, private=context.private)
        return runtime.toolbox.run(spec, arguments, context)

    result = result_of(runtime, spec, head, run)
    if result.ok and isinstance(spec, BuiltinTool):
        return result._replace(written_path=spec.written_path(arguments))
    return result


def context_of(
    runtime: ToolRuntime, spec: ToolSpec, call: ToolCall, head: Head, deadline: float
) -> CallContext:
    return CallContext(
        tenant=head.tenant,
        session_id=head.session_id,
        agent_id=head.agent_id,
        effect_id=call.effect_id,
        deadline_seconds=min(deadline, spec.timeout_seconds),
        user=head.created_by,
        read_outside=head.read_outside,
        private=head.private_to is not None,
        answered=_answered(head, call.call_id),
        takes_tasks=runtime.takes_tasks,
        text_of=lambda handle: runtime.repository.text(head, handle),
    )


def result_of(
    runtime: ToolRuntime, spec: ToolSpec, head: Head, run: Callable[[], str | OutsideText]
) -> CallResult:
    """What the model is told of what `run` says, or of how it fails."""
    try:
        said = run()
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
