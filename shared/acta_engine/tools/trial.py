"""A trial call: a tool runs once outside a session, so that who defines it sees what a call does (ADR 96).

It passes the same checks as a session's call, and nothing of it is stored but who made it, in the audit trail.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from acta_engine.clock import Clock
from acta_engine.errors import (
    AwsDenied,
    Conflict,
    FieldsInvalid,
    Forbidden,
    NotFound,
    ToolAsks,
    ToolFailed,
    ToolInputInvalid,
    ToolNotRun,
    ToolUnanswered,
    TransientError,
    Unavailable,
)
from acta_engine.log.commit import milliseconds
from acta_engine.tools.port import CallContext, Registry, Toolbox
from acta_engine.tools.tool import ToolSpec
from acta_engine.untrusted.quoting import OutsideText

MAX_RESULT_BYTES = 65_536
"""Of the result that a trial call shows."""

Outcome = Literal["succeeded", "failed", "not_run", "unknown"]
"""`failed`: it ran and failed. `not_run`: nothing was done. `unknown`: no answer came, so nobody knows."""


class TrialCall(NamedTuple):
    """`effect_id`: the idempotency key of its effect. `confirmed`: the caller says that a call of high stakes is to
    run. `roles`: of the caller.
    """

    tenant: str
    user: str
    roles: frozenset[str]
    name: str
    input: Mapping[str, Any]
    effect_id: str
    confirmed: bool


class Trial(NamedTuple):
    """`result`: what the tool answered, a failure's answer too; its beginning where `bytes` are more. `status`: of the
    HTTP answer. `message`: what a model would be told of a failure. `remedy`: what an admin or an operator can do.
    """

    outcome: Outcome
    duration_ms: int
    result: str | None = None
    bytes: int = 0
    status: int | None = None
    message: str = ""
    remedy: str = ""


def try_tool(registry: Registry, toolbox: Toolbox, clock: Clock, call: TrialCall, seconds: float) -> Trial:
    """`seconds`: the most that the call may take.

    Raises NotFound, Conflict and Forbidden where such a tool is not tried, FieldsInvalid where the input does not fit
    it, and Unavailable where AWS was in the way and nothing has run.
    """
    spec = registry.specs(call.tenant, "").get(call.name)
    if spec is None:
        raise NotFound("There is no tool of this name.")
    _check_may_run(spec, call)
    try:
        registry.check(spec, call.input)
    except ToolInputInvalid as invalid:
        raise FieldsInvalid({"input": [str(invalid)]}) from None
    context = CallContext(
        tenant=call.tenant,
        session_id="",
        agent_id="",
        effect_id=call.effect_id,
        deadline_seconds=min(seconds, spec.timeout_seconds),
        user=call.user,
    )
    started = clock.now()
    try:
        said = toolbox.run(spec, call.input, context)
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
    text, status = (said.text, said.status) if isinstance(said, OutsideText) else (said, None)
    return Trial("succeeded", milliseconds(started, clock.now()), *_shown(text), status)


def _check_may_run(spec: ToolSpec, call: TrialCall) -> None:
    """A trial is not a way around an approval: what needs somebody else's stays to sessions."""
    if spec.kind == "builtin":
        raise Conflict("This tool is built in and works on a session. To try it, start one.")
    if spec.wants_another_approver:
        raise Forbidden("Somebody else approves each call of this tool. To try it, start a session.")
    if spec.approver_role is not None and spec.approver_role not in call.roles:
        raise Forbidden(
            f"Calls of this tool need the role {spec.approver_role}.", {"role": [spec.approver_role]}
        )
    if spec.high_stakes and not call.confirmed:
        why = 'In a session a person approves each call of this tool. It is run for you with "confirm": true.'
        raise Conflict(why, {"confirm": [why]})


def _failed(failed: ToolFailed, took: int) -> Trial:
    result, size = _shown(failed.outside.text) if failed.outside is not None else (None, 0)
    if failed.outside is not None and failed.outside.size is not None:
        size = failed.outside.size
    outcome: Outcome = "failed" if failed.ran else "not_run"
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
    data = text.encode("utf-8", "replace")
    return data[:MAX_RESULT_BYTES].decode(errors="ignore"), len(data)  # in whole characters
