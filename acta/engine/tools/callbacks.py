"""A program answers a call of a tool (docs/design/tools.md 60, 61).

The call itself says whether it is still open. Of two answers one counts, and the other is told how the call ended.
"""

import json
from datetime import UTC, datetime
from typing import Any

from acta.engine.app import App
from acta.engine.errors import Conflict, ToolFailed
from acta.engine.log.head import EndedCall, Head, OpenCall
from acta.engine.recovery.recover import wake_engine
from acta.engine.tools.later import answer_call
from acta.engine.tools.result_text import failure_text, result_text
from acta.engine.tools.runtime import CallResult
from acta.engine.tools.tool import ToolSpec
from acta.engine.untrusted.quoting import OutsideText

SHOWN_ERROR_CHARS = 1_000
"""Of how many characters of what went wrong the model is told."""
OVER = {
    "tool": "The tool has answered this call itself.",
    "callback": "This call was answered already.",
    "deadline": "The time for this answer is over.",
    "cancel": "The run was cancelled before the answer came.",
}
LONG_OVER = "This call is over. The log of its session says how it ended."


def answer_once(
    app: App, tenant: str, session_id: str, call_id: str, result: Any, error: str | None
) -> EndedCall:
    """Records the result, or the failure if `error` is not None, and wakes the session. The tenant is bound. Raises
    SessionNotFound, and Conflict, which says what was recorded, where the call is over.
    """
    session = app.repository.newest(tenant, session_id)
    head = session.head
    try:
        open_call = _still_open(head, call_id, app.clock.now())
    except Conflict:  # whoever answered first may have died before the engine was woken
        wake_engine(app.repository, app.workflow, session)
        raise
    spec = app.current_registry.specs(tenant, head.agent_id).get(open_call.name)
    said = _as_told(app, head, open_call.name, spec, result, error)
    told = said._replace(by="callback", answer_id=app.clock.new_id("ans"))
    recorded = answer_call(app.bounded_tools, app.workflow, session, call_id, told)
    if recorded is None or recorded.answer_id != told.answer_id:
        raise _over(recorded)
    return recorded


def _still_open(head: Head, call_id: str, now: datetime) -> OpenCall:
    """Raises Conflict."""
    recorded, open_call = head.answered_call(call_id), head.open_call(call_id)
    if recorded is not None:
        raise _over(recorded)
    if open_call is None or open_call.state == "done":
        raise _over(None)
    if head.is_over:  # the tool was still at work when the run was cancelled
        raise Conflict(OVER["cancel"], {"by": ["cancel"]})
    later = open_call.later
    if later is not None and later.until <= now:
        ok = later.default is not None
        raise _over(EndedCall(answer_id="", call_id=call_id, ok=ok, at=later.until, by="deadline"))
    return open_call


def _over(recorded: EndedCall | None) -> Conflict:
    if recorded is None:
        return Conflict(LONG_OVER)
    at = recorded.at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    ok, what = ("true", "result") if recorded.ok else ("false", "failure")
    message = f"{OVER[recorded.by]} A {what} was recorded at {at}."
    return Conflict(message, {"by": [recorded.by], "at": [at], "ok": [ok]})


def _as_told(
    app: App, head: Head, name: str, spec: ToolSpec | None, result: Any, error: str | None
) -> CallResult:
    """The result as the model is told it. It comes from outside, as what a tool itself answers does."""
    if error is not None:
        beginning = OutsideText("answer", name, error[:SHOWN_ERROR_CHARS], size=len(error.encode()))
        failed = ToolFailed(f"{name} failed.", beginning)
        return CallResult(failure_text(failed, head.quotation_key), ok=False, outside=True)
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    limit = ToolSpec.model_fields["result_limit_bytes"].default if spec is None else spec.result_limit_bytes
    told = result_text(
        OutsideText("answer", name, text),
        limit,
        lambda content: app.repository.keep(head, content),
        head.quotation_key,
    )
    return CallResult(told.text, ok=True, whole=told.whole, outside=True)
