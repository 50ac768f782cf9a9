"""What `tool` does when the API asks, because this function alone meets the network and tenants' credentials (ADR 96).

A request is `{"op", "tenant", "user", "given"}`. Its answer is `{"answer": {…}}`, or `{"refused": {"code", "message",
"details"}}` where the caller of the API is to be told so. The engine's events have other operations. A new one is a
name in `acta/engine/tools/port.py` and a line in `operations_of`.

One operation is the trial call: a tool runs once outside a session, so that who defines it sees what a call does. It
passes the same checks as a session's call, and nothing of it is stored but who made it, in the audit trail.
"""

import time
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from acta.engine.app import App
from acta.engine.bound_tenant import bound_to, tenant_hash
from acta.engine.clock import Clock
from acta.engine.errors import (
    AwsDenied,
    CallerError,
    Conflict,
    FieldsInvalid,
    Forbidden,
    NotFound,
    Refused,
    ToolAsks,
    ToolFailed,
    ToolInputInvalid,
    ToolNotRun,
    ToolUnanswered,
    TransientError,
    Unavailable,
)
from acta.engine.log.commit import milliseconds
from acta.engine.telemetry import Telemetry
from acta.engine.tools.mcp.server import McpConnection, McpServerAuth
from acta.engine.tools.port import (
    OPERATION_SECONDS,
    CallContext,
    Registry,
    Toolbox,
    ToolOperation,
    Trial,
    TrialOutcome,
)
from acta.engine.tools.tool import ToolSpec
from acta.engine.untrusted.quoting import OutsideText
from acta.engine.untrusted.visible import well_formed

if TYPE_CHECKING:
    from acta.engine.tools.mcp.servers import McpServers

ROOM_SECONDS = 2
"""The seconds of an invocation's time that are kept back for the answer."""


class OperationRequest(NamedTuple):
    """`seconds`: how long it may take."""

    tenant: str
    user: str
    given: Mapping[str, Any]
    seconds: float


Operations = Mapping[str, Callable[[OperationRequest], Mapping[str, Any]]]


def operations_of(app: App) -> Operations:
    def try_tool(asked: OperationRequest) -> Mapping[str, Any]:
        runtime = app.tool_runtime
        return trial(asked, runtime.registry, runtime.toolbox, runtime.repository.clock)._asdict()

    return {
        "list_mcp_tools": lambda asked: list_mcp_tools(asked, app.mcp_servers),
        "try_tool": try_tool,
    }


def is_asked(event: Mapping[str, Any]) -> bool:
    """Whether the API asks, and not the engine."""
    return event.get("op") in get_args(ToolOperation)


def answer(
    event: Mapping[str, Any], remaining_ms: int, telemetry: Telemetry, operations: Operations
) -> dict[str, Any]:
    """Answers while bound to the event's tenant, which the API took from the caller's token. Raises Refused."""
    match event:
        case {"op": str(op), "tenant": str(tenant), "user": str(user), "given": dict(given)} if tenant:
            seconds = max(1.0, min(OPERATION_SECONDS, remaining_ms / 1_000 - ROOM_SECONDS))
            asked = OperationRequest(tenant, user, given, seconds)
        case _:
            raise Refused("not a request of the API")
    ids = {"op": op, "tenant_hash": tenant_hash(tenant)}
    telemetry.logger.info("asked", extra=ids)
    with bound_to(tenant):
        try:
            return {"answer": operations[op](asked)}
        except CallerError as refused:
            return _refused(refused)
        except TransientError as error:  # what runs something says itself what a missing answer means
            telemetry.failure(error, **ids)
            return _refused(Unavailable("Acta cannot reach its storage just now. Try again in a moment."))
        except Exception as error:
            telemetry.failure(error, **ids)
            raise


def _refused(refused: CallerError) -> dict[str, Any]:
    details = refused.details and {field: list(said) for field, said in refused.details.items()}
    return {"refused": {"code": refused.code, "message": str(refused), "details": details}}


LISTED = ("title", "description", "input_schema", "annotations", "pin", "reads", "unusable")
"""What an admin gets to see of a server's tool besides its name."""


def list_mcp_tools(asked: OperationRequest, servers: "McpServers") -> Mapping[str, Any]:
    """What an MCP server says of its tools, for an admin to look at and confirm. What is given: the server's name, url
    and auth, which the API has checked. Answers with `tools`, and why they are not all (`broken`); with `failed`, a
    sentence's end, what the server `said` of it, and what its metadata say of where `tokens_from`; or with `refused`,
    a sentence.
    """
    from acta.engine.tools.mcp.exchange import McpFailed  # it loads what speaks HTTP

    given = asked.given
    auth = None if given["auth"] is None else McpServerAuth.model_validate(given["auth"])
    connection = McpConnection(server=given["name"], url=given["url"], auth=auth)
    deadline = time.monotonic() + asked.seconds
    try:
        listing = servers.list_tools(asked.tenant, connection, asked.seconds)
    except McpFailed as failed:
        tokens_from = servers.tokens_from(connection, failed, deadline)
        return {"failed": str(failed), "said": failed.said, "tokens_from": tokens_from}
    except ToolFailed as failed:  # its secret is not there
        return {"refused": str(failed)}
    except ToolNotRun as away:
        raise away.reason from None
    tools = [{"tool": one.name} | {name: getattr(one, name) for name in LISTED} for one in listing.tools]
    return {"tools": tools, "broken": listing.broken}


MAX_RESULT_BYTES = 65_536
"""The most bytes of the result that a trial call shows."""


def trial(asked: OperationRequest, registry: Registry, toolbox: Toolbox, clock: Clock) -> Trial:
    """Runs a tool once outside a session. What is given: `{"name", "input", "effect_id", "confirm", "roles"}`, where
    `confirm` says that a call of high stakes is to run, and `roles` are the caller's.

    Raises Refused; NotFound, Conflict and Forbidden where such a tool is not tried, FieldsInvalid where the input does
    not fit it, and Unavailable where AWS was in the way and nothing has run.
    """
    match asked.given:
        case {
            "name": str(name),
            "input": dict(given),
            "effect_id": str(effect_id),
            "confirm": bool(confirmed),
            "roles": list(roles),
        }:
            spec = registry.specs(asked.tenant, "").get(name)
        case _:
            raise Refused("not a trial call")
    if spec is None:
        raise NotFound("There is no tool of this name.")
    _check_may_run(spec, roles, confirmed=confirmed)
    arguments = registry.bent(spec, given)
    try:
        registry.check(spec, arguments)
    except ToolInputInvalid as invalid:
        raise FieldsInvalid({"input": [str(invalid)]}) from None
    context = CallContext(
        tenant=asked.tenant,
        session_id="",
        agent_id="",
        effect_id=effect_id,
        deadline_seconds=min(asked.seconds, spec.timeout_seconds),
        user=asked.user,
    )
    started = clock.now()
    try:
        said = toolbox.run(spec, arguments, context)
    except ToolFailed as failed:
        return _failed(failed, milliseconds(started, clock.now()))
    except ToolAsks:
        message = (
            f"The server of {spec.name} asks a person in the middle of the call, which only a session can do."
        )
        return Trial("failed", milliseconds(started, clock.now()), message=message)
    except ToolNotRun as turned_away:
        denied = isinstance(turned_away.reason, AwsDenied)
        why = "refused the call: its operator has to see to the permissions" if denied else "is away"
        raise Unavailable(f"The tool has not run: AWS {why}. Try again in a moment.") from None
    except (ToolUnanswered, TransientError):
        return _unanswered(spec, context, milliseconds(started, clock.now()))
    text, status = (said.text or said.note, said.status) if isinstance(said, OutsideText) else (said, None)
    return Trial("succeeded", milliseconds(started, clock.now()), *_shown(text), status)


def _check_may_run(spec: ToolSpec, roles: Collection[str], *, confirmed: bool) -> None:
    """Refuses a trial that would avoid an approval: a tool that somebody else has to approve runs in sessions only."""
    if spec.kind == "builtin":
        raise Conflict("This tool is built in and works on a session. To try it, start one.")
    if spec.wants_another_approver:
        raise Forbidden("Somebody else approves each call of this tool. To try it, start a session.")
    if spec.approver_role is not None and spec.approver_role not in roles:
        raise Forbidden(
            f"Calls of this tool need the role {spec.approver_role}.", {"role": [spec.approver_role]}
        )
    if spec.high_stakes and not confirmed:
        why = 'In a session a person approves each call of this tool. It is run for you with "confirm": true.'
        raise Conflict(why, {"confirm": [why]})


def _failed(failed: ToolFailed, took: int) -> Trial:
    result, size = _shown(failed.outside.text) if failed.outside is not None else (None, 0)
    if failed.outside is not None and failed.outside.size is not None:
        size = failed.outside.size
    outcome: TrialOutcome = "failed" if failed.ran else "not_run"
    return Trial(outcome, took, result, size, failed.status, str(failed), failed.remedy)


def _unanswered(spec: ToolSpec, context: CallContext, took: int) -> Trial:
    message = f"{spec.name} gave no answer, so nobody knows whether it had its effect."
    remedy = ""
    if context.deadline_seconds < spec.timeout_seconds:
        remedy = (
            f"A trial call has {context.deadline_seconds:.0f} seconds, a session's call of this tool "
            f"{spec.timeout_seconds}: try it in a session."
        )
    return Trial("unknown", took, message=message, remedy=remedy)


def _shown(text: str) -> tuple[str, int]:
    data = well_formed(text).encode()
    return data[:MAX_RESULT_BYTES].decode(errors="ignore"), len(data)  # in whole characters
