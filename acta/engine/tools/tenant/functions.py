"""Tools that are Lambda functions, of kind `lambda` and `python`: which functions a tenant's tools may call, how one is
invoked and how its answer is read (docs/design/tools.md 32).

A tool of kind `lambda` calls a function `acta-<env>-tool-…` of this account and region that the operator has named for
the tenant. This is checked when the tool is written, and again at every call. The function gets `{"arguments",
"effect_id", "session_id", "tenant"}`, and `"callback_url"` where the tool declares `later`; `effect_id` is the
idempotency key of the effect. What it returns is the result: a text as it is, everything else as JSON, but
`{"acta": "later"}`, after which the result is awaited. docs/tools.md says all of this to those who write functions.

An exception of the function means that the call failed. A function that timed out or crashed gave no answer. If Lambda
turns a call away, fails or cannot be reached, that is an outage of AWS. The session waits it out if the call may be
made again (docs/design/engine.md, tools.md 10).
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from acta.engine.aws.clients import Service, keeping_alive, make_client
from acta.engine.aws.errors import NOT_FOUND, AwsRefused, is_overdue, read_body, was_sent
from acta.engine.clock import Clock
from acta.engine.errors import (
    ActaError,
    AwsDenied,
    FunctionUnanswered,
    FunctionUnavailable,
    StoreThrottled,
    StoreUnavailable,
    ToolFailed,
    ToolNotRun,
    ToolUnanswered,
)
from acta.engine.settings import Settings
from acta.engine.tools.port import NOT_AWAITED, CallContext
from acta.engine.tools.tool import (
    EVERY_TENANT,
    FileAccess,
    LambdaConfig,
    PythonTool,
    ToolDefinition,
    ToolSpec,
    function_prefix,
)
from acta.engine.untrusted.encodings import NotText, decoded
from acta.engine.untrusted.quoting import OutsideText


class FunctionRefused(Exception):
    """The message is for the admin or the model. `remedy`: a sentence for admins and operators, about what helps."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy

    @property
    def explained(self) -> str:
        """Both, for the caller of the API."""
        return f"{self}. {self.remedy}"


class FunctionGuard:
    """Applies the list of the setting `tenant_tools`."""

    def __init__(self, settings: Settings) -> None:
        self._prefix = function_prefix(settings.env)
        self._named = settings.tenant_tools
        self._is_local = settings.is_local

    def check(self, tenant: str, function: str) -> None:
        """Raises FunctionRefused."""
        if not function.startswith(self._prefix):
            raise FunctionRefused(
                f"a tool's function has a name that begins with {self._prefix}; rename the function",
                f"Deploy it as {self._prefix}… and have an operator name it in the setting tenant_tools.",
            )
        if function not in (*self._named.get(EVERY_TENANT, ()), *self._named.get(tenant, ())):
            locally = f': start the local stack with ACTA_TENANT_TOOLS=\'{{"*": ["{function}"]}}\''
            raise FunctionRefused(
                "the operator of this deployment has not named the function for this tenant",
                f"An operator adds {function} to the setting tenant_tools of the environment, under the tenant or "
                f'under "*" for all{locally if self._is_local else ""}.',
            )


MAX_BYTES = 2_097_152
SHOWN_CHARS = 1_000
LAMBDA_ERRORS = ("Extension.", "Runtime.", "Sandbox.")
"""The beginnings of error types that come from Lambda, not from the function: it timed out, crashed or was killed."""
NOT_STARTED = frozenset((
    "Runtime.BuiltInModuleConflict", "Runtime.HandlerNotFound", "Runtime.ImportModuleError",
    "Runtime.InvalidEntrypoint", "Runtime.InvalidWorkingDir", "Runtime.LambdaContextUnmarshalError",
    "Runtime.MalformedHandlerName", "Runtime.UnmarshalError", "Runtime.UserCodeSyntaxError",
))  # fmt: skip
TOO_LARGE = frozenset(("RequestTooLargeException", "SerializedRequestEntityTooLargeException", "413"))
"""The codes where the request has more than the 6 MB that Lambda passes on."""
HAS_RUN = frozenset(("Function.ResponseSizeTooLarge", "Runtime.MarshalError"))
"""The function has returned, but Lambda cannot pass on what it returned."""


@lru_cache(maxsize=16)
def function_client(seconds: int) -> Any:
    """A client that makes one attempt: the SDK's repeats could have the effect twice. Its time limit cannot be changed,
    so there is one for each limit; tools name few. While the function works the connection is silent.
    """
    return keeping_alive(make_client("lambda", read_seconds=seconds, attempts=1))


def invoke(
    client: Callable[[int], Any],
    tool: ToolSpec,
    function: str,
    payload: Mapping[str, Any],
    seconds: float,
    *,
    tells_messages: bool = True,
    environment: str | None = None,
) -> bytes:
    """What the function returned. `client`: makes a botocore Lambda client that makes one attempt, for a time limit in
    seconds. `function`: its name, with a version after a colon or without. `tells_messages`: the model is told what an
    exception of the function says, else its type alone. `environment`: the `environment_id` of the execution
    environments that may serve the call; None: all of them.

    Raises ToolFailed, ToolUnanswered, ToolNotRun, FunctionUnavailable.
    """
    lambdas = Service("lambda", client(max(1, int(seconds))))
    try:
        answer = lambdas.call(
            "invoke",
            FunctionName=function,
            InvocationType="RequestResponse",
            Payload=json.dumps(payload).encode(),
            **({} if environment is None else {"TenantId": environment}),
        )
        body = read_body("invoke", answer["Payload"], MAX_BYTES + 1)
    except StoreThrottled as throttled:
        raise ToolNotRun(FunctionUnavailable(str(throttled))) from None
    except AwsDenied as denied:
        raise ToolNotRun(denied) from None
    except AwsRefused as refused:
        why, remedy = (
            f"Lambda refused the call ({refused.code})",
            f"See what AWS Lambda says of {refused.code}.",
        )
        if refused.code == NOT_FOUND:
            why = "there is no such function"
            remedy = f"Deploy the function {function} in this account and region, or name another one."
        elif refused.code in TOO_LARGE:
            why, remedy = "its input is larger than Lambda passes on; send less", ""
        message = f"{tool.name} did not run: {why}. Tell the user, or try another way."
        raise ToolFailed(message, ran=False, remedy=remedy) from None
    except StoreUnavailable as unavailable:
        raise _no_answer(tool, unavailable) from None
    if len(body) > MAX_BYTES:
        raise ToolFailed(f"{tool.name} answered with more than {MAX_BYTES} bytes. {tool.large_answer_hint}")
    if "FunctionError" in answer:
        _failed(tool, body, tells_messages)
    return body


def _no_answer(tool: ToolSpec, error: StoreUnavailable) -> ActaError:
    """What to raise. A function that works for longer than its tool may is no outage: a further attempt would take as
    long.
    """
    if not was_sent(error):
        return ToolNotRun(FunctionUnavailable(str(error)))
    if tool.effect == "once":
        return ToolUnanswered("a tool's function did not answer")
    if not is_overdue(error):
        return FunctionUnanswered(str(error))
    if tool.effect == "read":
        return ToolFailed(f"{tool.name} did not answer in time. Try again later.")
    return ToolUnanswered("a tool's function did not answer in time")


def _failed(tool: ToolSpec, body: bytes, tells_messages: bool) -> NoReturn:
    """Raises ToolFailed with the type of the function's error, without its stack trace. Raises
    ToolUnanswered where nobody knows whether the function had its effect.
    """
    try:
        raised = json.loads(body)
    except (ValueError, RecursionError):
        raised = None
    if not isinstance(raised, dict):
        raised = {}
    kind = raised.get("errorType")
    if not isinstance(kind, str):  # some runtimes report a timeout with a message and no type
        kind = ""
    has_run = kind in HAS_RUN
    by_lambda = not kind or kind.startswith(LAMBDA_ERRORS)
    if by_lambda and not has_run and kind not in NOT_STARTED and tool.effect != "read":
        raise ToolUnanswered("a tool's function ended without an answer")
    message = f": {raised.get('errorMessage', '')}" if tells_messages else ""
    how = "has run, but its answer cannot be passed on" if has_run else "failed"
    raise ToolFailed(f"{tool.name} {how}.", _beginning(tool, f"{kind or 'Error'}{message}"))


def _beginning(tool: ToolSpec, said: str) -> OutsideText:
    """What a tool says went wrong: the beginning, and how long all of it is."""
    size = len(said.encode("utf-8", "surrogatepass"))
    return OutsideText("answer", tool.name, said[:SHOWN_CHARS], size=size)


class LambdaTool(NamedTuple):
    guard: FunctionGuard
    """Says which functions may be called."""
    client: Callable[[int], Any] = function_client
    """Makes a botocore Lambda client that makes one attempt. Its argument is the time limit in seconds, from
    `CallContext.deadline_seconds`."""

    def run(self, tool: ToolDefinition, arguments: Mapping[str, Any], context: CallContext) -> OutsideText:
        """Raises ToolFailed, ToolLater, ToolUnanswered, ToolNotRun, FunctionUnavailable."""
        config = tool.config
        assert isinstance(config, LambdaConfig)
        try:
            self.guard.check(context.tenant, config.function)
        except FunctionRefused as refused:
            raise ToolFailed(
                f"{tool.name} did not run: {refused}. Tell the user, or try another way.",
                ran=False,
                remedy=refused.remedy,
            ) from None
        payload = {
            "arguments": dict(arguments),
            "effect_id": context.effect_id,
            "session_id": context.session_id,
            "tenant": context.tenant,
            **_callback(context),
        }
        body = invoke(self.client, tool, config.function, payload, context.deadline_seconds)
        try:
            said = decoded(body)
        except NotText as other:
            note = f"[its answer is {other} ({len(body):,} bytes), which is not shown]"
            return OutsideText("answer", tool.name, "", note=note)
        try:
            value = json.loads(said.text)
        except (ValueError, RecursionError):
            value = None
        if context.callback is not None and isinstance(value, dict) and value.get("acta") == "later":
            raise context.callback.awaited(tool.name, value)
        text = value if isinstance(value, str) else said.text
        return OutsideText("answer", tool.name, text, note=said.note)


def _callback(context: CallContext) -> dict[str, str]:
    return {} if context.callback is None else {"callback_url": context.callback.url}


ReachFiles = Callable[[str, str | None, FileAccess, tuple[str, ...] | None], Mapping[str, Any]]
"""From a tenant, the person of a private session, what a tool may do, and the files that the session was given (None:
it sees all), to how its function reaches the files.
"""


def environment_id(tenant: str, person: str | None) -> str:
    """Names the execution environments that serve a tenant's calls, or those that serve one person's private sessions.

    It is a hash, because a tenant's name may have characters that a `TenantId` may not, and Lambda may write it into
    logs. `acta/tools/run.py` computes it, too, and refuses a call that is not for its environment.
    """
    return hashlib.sha256(json.dumps([tenant, person]).encode()).hexdigest()


class PythonTools(NamedTuple):
    versions: Mapping[str, str]
    """Folder -> the published version of its function that belongs to this release. A folder that is not among them is
    called at its newest code."""
    clock: Clock
    reach_files: ReachFiles
    """`FileCredentials.for_call`."""
    client: Callable[[int], Any] = function_client
    """As `LambdaTool`'s."""
    isolated: bool = True
    """Each execution environment serves one tenant (ADR 140)."""

    def run(self, tool: PythonTool, arguments: Mapping[str, Any], context: CallContext) -> OutsideText:
        """Raises ToolFailed, ToolLater, ToolUnanswered, ToolNotRun, FunctionUnavailable."""
        version = self.versions.get(tool.folder)
        function = tool.function if version is None else f"{tool.function}:{version}"
        deadline = self.clock.now() + timedelta(seconds=context.deadline_seconds)
        person = context.user if context.private else None
        payload: dict[str, Any] = {
            "tool": tool.name,
            "arguments": dict(arguments),
            "effect_id": context.effect_id,
            "session_id": context.session_id,
            "tenant": context.tenant,
            "user": context.user,
            "private": context.private,
            "rerun": context.rerun,
            "deadline": deadline.isoformat(),
            **_callback(context),
        }
        if tool.files is not None:
            try:
                payload["files"] = self.reach_files(context.tenant, person, tool.files, context.given_files)
            except (AwsDenied, StoreThrottled, StoreUnavailable) as missing:
                raise ToolNotRun(missing) from None
        body = invoke(
            self.client,
            tool,
            function,
            payload,
            context.deadline_seconds,
            tells_messages=False,
            environment=environment_id(context.tenant, person) if self.isolated else None,
        )
        return _result(tool, body, context)


def _result(tool: PythonTool, body: bytes, context: CallContext) -> OutsideText:
    """A text as it is, everything else as JSON. Raises ToolFailed, ToolLater."""
    try:
        match json.loads(body):
            case {"error": str(said)}:
                raise ToolFailed(f"{tool.name} failed.", _beginning(tool, said))
            case {"result": result}:
                text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
                return OutsideText("answer", tool.name, text)
            case {"later": dict(said)} if context.callback is not None:
                raise context.callback.awaited(tool.name, said)
            case {"later": dict()}:
                return OutsideText("answer", tool.name, "", note=NOT_AWAITED)
    except (ValueError, RecursionError):
        pass
    raise ToolFailed(
        f"{tool.name} has run, but its answer cannot be read. Tell the user, or try another way."
    )
