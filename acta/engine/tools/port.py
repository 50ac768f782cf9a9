"""Tools: which ones an agent has, how a call runs, and what the function `tool` does for the API."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Literal, NamedTuple, Protocol

from acta.engine.clock import Clock
from acta.engine.errors import ToolFailed, ToolLater
from acta.engine.files.given import GivenFiles
from acta.engine.files.store import FileStore
from acta.engine.log.head import Later
from acta.engine.memories.memory import MemoryStore
from acta.engine.people.intervention import SeenFile
from acta.engine.tools.mcp.server_task import ServerTask, ToolQuestion
from acta.engine.tools.tool import MAX_LATER_DEFAULT_CHARS, MAX_LATER_SECONDS, LaterRule, ToolSpec
from acta.engine.untrusted.quoting import OutsideText

ToolOperation = Literal["try_tool", "list_mcp_tools"]
"""What `tool` does when the API asks. What each one is: `acta/engine/tools/operations.py`."""
OPERATION_SECONDS = 20
"""The most seconds that an operation may take. With a cold start of `tool` it fits into a request to the API."""


class Callback(NamedTuple):
    """How a call may be answered later."""

    url: str
    """Where the answer is sent. Whoever has it can answer this call, so it is in no log and no store."""
    rule: LaterRule
    clock: Clock

    def awaited(self, tool: str, said: Mapping[str, Any]) -> ToolLater:
        """What to raise when the tool has said that the answer comes later. `said`: `seconds` and `default`, where it
        names them. Raises ToolFailed for what cannot be awaited.
        """
        seconds, default = said.get("seconds"), said.get("default")
        seconds = self.rule.seconds if seconds is None else seconds
        default = self.rule.default if default is None else default
        if type(seconds) is not int or not 1 <= seconds <= MAX_LATER_SECONDS:
            raise ToolFailed(f"{tool} has begun, but waits for no 1 to {MAX_LATER_SECONDS:,} whole seconds.")
        if default is not None and (not isinstance(default, str) or len(default) > MAX_LATER_DEFAULT_CHARS):
            raise ToolFailed(
                f"{tool} has begun, but its default is no text of at most {MAX_LATER_DEFAULT_CHARS:,} characters."
            )
        now = self.clock.now()
        return ToolLater(
            Later(kind="callback", began=now, until=now + timedelta(seconds=seconds), default=default)
        )


NOT_AWAITED = "[the tool works on and would answer later; nobody waits for that here]"
"""The result of a call that no callback can end, such as a trial call."""


class CallContext(NamedTuple):
    """The call that runs."""

    tenant: str
    session_id: str
    agent_id: str
    effect_id: str
    """The idempotency key of the call's effect (docs/design/tools.md 10)."""
    deadline_seconds: float
    """The time that is left, and no more than the tool's `timeout_seconds`."""
    rerun: bool = False
    """An earlier attempt may have had the effect already."""
    user: str = ""
    """The subject of the person who started the session."""
    read_outside: bool = True
    """The agent may have been given a text from outside before it made this call."""
    private: bool = False
    """Only `user` may see the session."""
    answered: ToolQuestion | None = None
    """What a person has answered the tool's server, which asked in the middle of this call."""
    takes_tasks: bool = False
    """The server may answer with a task, and is asked later what came of it."""
    seen_file: SeenFile | None = None
    """The file that a person was shown who let the call run. The call is for that version of it."""
    given_files: tuple[str, ...] | None = None
    """The paths of the files that the session was given, and sees no others. None: it sees what its person sees."""
    text_of: Callable[[str], str] | None = None
    """Reads a text that the session has stored, by its handle. Raises BlobMissing. None: there is no session."""
    callback: Callback | None = None
    """None: the tool's own answer is the result."""


class BuiltinReach(NamedTuple):
    """All that built-in tools may reach."""

    files: FileStore
    memories: MemoryStore
    clock: Clock
    max_file_bytes: int


class BuiltinCall(NamedTuple):
    """A call of a built-in tool, as its code gets it. The arguments were checked against the tool's schema."""

    arguments: Mapping[str, Any]
    context: CallContext
    reach: BuiltinReach

    @property
    def files(self) -> FileStore:
        """The tenant's files, and where the session is private its owner's private ones."""
        seen = self.reach.files.seen_by(self.context.user if self.context.private else None)
        given = self.context.given_files
        return seen if given is None else GivenFiles(seen, given)

    @property
    def seen_etag(self) -> str | None:
        """The tag that the file at the call's path had when a person was shown it. Empty: there was no file, or nobody
        was shown one; then the call may neither replace nor delete a file. None: the person who decided named another
        path than the one that they were shown.
        """
        seen = self.context.seen_file
        if seen is None:
            return ""
        return seen.etag if seen.path == self.arguments["path"] else None


class Registry(Protocol):
    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        """All tools of the registry, by name, always in the same order. Which of them the agent may use is decided by
        `AgentDefinition.toolset`.
        """

    def bent(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a model's arguments mean by the tool's schema, where they do not fit as they stand (ADR 172). This comes
        before anything is committed, so that people approve, and the log has, what is run. Never raises.
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


TrialOutcome = Literal["succeeded", "failed", "not_run", "unknown"]
"""`failed`: it ran and failed. `not_run`: nothing was done. `unknown`: no answer came, so nobody knows."""


class Trial(NamedTuple):
    """What became of a trial call: a tool runs once outside a session."""

    outcome: TrialOutcome
    duration_ms: int
    result: str | None = None
    """What the tool answered, a failure's answer too; its beginning where `bytes` are more."""
    bytes: int = 0
    status: int | None = None
    """Of the HTTP answer."""
    message: str = ""
    """What a model would be told of a failure."""
    remedy: str = ""
    """What an admin or an operator can do."""


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
