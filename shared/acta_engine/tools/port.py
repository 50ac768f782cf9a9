"""Tools: which ones an agent has, how a call runs, and what the function `tool` does for the API."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol

from acta_engine.tools.mcp.server_task import ServerTask, ToolQuestion
from acta_engine.tools.tool import ToolSpec
from acta_engine.untrusted.quoting import OutsideText

ToolOperation = Literal["try_tool", "list_mcp_tools"]
"""What `tool` does when the API asks. What each one is: `shared/acta_engine/tools/operations.py`."""
OPERATION_SECONDS = 20
"""The most seconds that an operation may take. With a cold start of `tool` it fits into a request to the API."""


class CallContext(NamedTuple):
    """The call that runs. `effect_id`: the idempotency key of its effect (design §6.3). `deadline_seconds`: the time
    that is left, and no more than the tool's `timeout_seconds` (`_run` in `shared/acta_engine/tools/execute.py`).
    `rerun`: an earlier attempt may have had the effect already. `user`: the subject of who started the session.
    `read_outside`: the agent may have been given a text from outside before it made this call. `private`: the session
    is that user's alone. `answered`: what a person has answered the tool's server, which asked in the middle of this
    call. `takes_tasks`: the server may work on the call by itself, and be asked later what came of it.
    """

    tenant: str
    session_id: str
    agent_id: str
    effect_id: str
    deadline_seconds: float
    rerun: bool = False
    user: str = ""
    read_outside: bool = True
    private: bool = False
    answered: ToolQuestion | None = None
    takes_tasks: bool = False


class Registry(Protocol):
    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        """All tools of the registry, by name, always in the same order. Which of them the agent may use is decided by
        `AgentDefinition.toolset`.
        """

    def check(self, spec: ToolSpec, arguments: Mapping[str, Any], *, private: bool = True) -> None:
        """Raises ToolInputInvalid where the arguments do not fit the tool's schema. The message names the field.
        `private` False: the session is the tenant's, and its file tools reach nobody's private files.
        """


class Toolbox(Protocol):
    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        """Runs a call whose arguments were checked. Returns a sentence of Acta's, or a text from outside.

        Raises ToolFailed, which the model gets as the result, ToolAsks, ToolWaits, ToolUnanswered, ToolNotRun, and
        StoreThrottled, StoreUnavailable, FunctionUnavailable and AwsDenied, after which the engine retries.
        """


class ServerTasks(Protocol):
    """What becomes of calls that their tools' servers work on by themselves."""

    def look(self, spec: ToolSpec, context: CallContext, task: ServerTask) -> str | OutsideText:
        """Tells the server what it was answered, and returns the call's result. Raises ToolFailed where the call has
        failed, ToolAsks where the server asks more, ToolWaits where the task is not over or the server cannot be asked
        now, ToolUnanswered where the server knows the task no more, and ToolNotRun.
        """

    def end(self, spec: ToolSpec, context: CallContext, task_id: str) -> None:
        """Tells the server that nobody waits any more. Raises ToolFailed and ToolNotRun where it cannot be told."""


class ToolFunction(Protocol):
    """The function `tool`, which alone meets the network and tenants' credentials (ADR 96)."""

    def ask(
        self, operation: ToolOperation, tenant: str, user: str, given: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Has `tool` do it for the tenant, once, and returns its answer. `user`: the subject of who asks. `given`:
        what the operation needs, without a secret: names, and what the caller has sent.

        Raises FunctionUnavailable where nothing was done, AnswerLost where nobody knows, and CallerError for what
        the operation itself has to say to the caller.
        """
