"""A session as a task of MCP: its status, what it waits for, its result (ADR 94).

A task's id is the session's. 2026-07-28 has tasks as an extension, 2025-11-25 has them with other names of fields.
"""

import json
from collections.abc import Mapping
from typing import Any

from acta_engine.api.envelope import Response, to_json
from acta_engine.mcp_server.protocol import INVALID_PARAMS, RpcError, RpcMessage
from acta_engine.people.policies import NEEDS_INPUT

Json = dict[str, Any]

OVER: Mapping[str, str] = {"completed": "completed", "failed": "completed", "cancelled": "cancelled"}
"""States of a session that has ended -> a task's. A run that failed is a result that says so: a task fails only where
the protocol does."""
_FIELDS: Mapping[str, Json] = {
    "answer": {"text": {"type": "string", "title": "Your answer"}},
    "retry": {"hint": {"type": "string", "title": "A hint for the agent, if it tries again"}},
    "record": {"result": {"type": "string", "title": "What the call's result is, if you record one"}},
    "raise": {
        "token_budget": {"type": "integer", "title": "The new token budget, if you raise it"},
        "cost_budget_usd": {"type": "number", "title": "The new budget in dollars, if you raise it"},
    },
}
"""Option -> the fields of its input, in a form's plain types. `modify` needs a whole input, which no form has."""
_COMMENT: Json = {"comment": {"type": "string", "title": "Why (optional)"}}


def task_of(session: Json, message: RpcMessage, poll_after_ms: int) -> Json:
    """`session`: as the API shows it. What waits for people is part of it where the client can ask its person."""
    state = str(session["state"])
    status = OVER.get(state, "working")
    told: Json = {
        "taskId": session["session_id"],
        "status": status,
        "statusMessage": _said(session),
        "createdAt": session["created_at"],
        "lastUpdatedAt": session["updated_at"],
    }
    if not message.is_stateless:
        return {**told, "ttl": None, "pollInterval": poll_after_ms}
    told |= {"ttlMs": None, "pollIntervalMs": poll_after_ms}
    asked = {one["intervention_id"]: _form(one) for one in session["interventions"]}
    if status == "working" and asked and message.takes_forms:
        told |= {"status": "input_required", "inputRequests": asked}
    return told


def _said(session: Json) -> str:
    waiting = session["interventions"]
    if waiting:
        return f"Waits for a person: {', '.join(_question(one) for one in waiting)} The tool decide settles it, too."
    reason = session["state_reason"]
    return f"The session is {session['state']}{f' ({reason})' if reason else ''}."


def result_of(session: Json) -> Json:
    """The result of a session that has ended, in the form of a tool call's result. `session`: with its whole answer."""
    state, result, error = session["state"], session["result"], session["error"]
    text = f"The session {session['session_id']} is {state}."
    if state == "completed" and result is not None:
        text = result["answer"] or text
    elif error is not None:
        text = f"{error['code']}: {error['message']}"
    told = {name: session[name] for name in ("session_id", "state", "state_reason", "result", "error")}
    return tool_result(told, text, is_error=state != "completed")


def started(session: Json) -> Json:
    """The result for a client without tasks, which says what to do next."""
    session_id = session["session_id"]
    text = (
        f"The agent works on it as session {session_id}. Call watch_session with this session_id and wait: 20 until "
        "its state is completed, failed or cancelled, each time with the cursor of the answer before as after. What it "
        "asks a person stands in session.interventions: show it to the person, and decide with decide as they say."
    )
    told = {name: session[name] for name in ("session_id", "agent_id", "state", "created_at")}
    return tool_result(told, text)


def decisions(session: Json, responses: Json) -> list[tuple[str, Json]]:
    """Which open questions the answers settle, and how: id of the intervention, and a decision. Answers to others are
    passed over. Refusing a form rejects a call that waits for an approval; every other question stays open then.
    """
    settled: list[tuple[str, Json]] = []
    for one in session["interventions"]:
        given = responses.get(one["intervention_id"])
        if not isinstance(given, dict):
            continue
        if given.get("action") == "accept":
            settled.append((one["intervention_id"], _decision(given.get("content"))))
        elif given.get("action") == "decline" and "reject" in one["options"]:
            settled.append((one["intervention_id"], {"option": "reject"}))
    return settled


def _decision(content: object) -> Json:
    """Raises RpcError."""
    if not isinstance(content, dict) or not isinstance(content.get("option"), str):
        raise RpcError(INVALID_PARAMS, "An accepted form has content with an option.")
    option = content["option"]
    given = {name: content[name] for name in _FIELDS.get(option, {}) if content.get(name) not in (None, "")}
    made: Json = {"option": option}
    if given:
        made["input"] = given
    if content.get("comment"):
        made["comment"] = content["comment"]
    return made


def _form(one: Json) -> Json:
    options = [option for option in one["options"] if option in _FIELDS or option not in NEEDS_INPUT]
    fields: Json = {"option": {"type": "string", "title": "What shall be done", "enum": options}}
    for option in options:
        fields |= _FIELDS.get(option, {})
    asked = {"type": "object", "properties": {**fields, **_COMMENT}, "required": ["option"]}
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": _question(one), "requestedSchema": asked},
    }


def _question(one: Json) -> str:
    """What a person is asked. The agent's words and the inputs of calls are marked as what they are."""
    context, call = one["context"], one["tool_call"]
    question = context.get("question") or context.get("reason") or ""
    if context.get("asked_by") == "agent":
        question = f"The agent asks: {question}"
    calls = [each for each in (call, *context.get("calls", ())) if isinstance(each, dict)]
    shown = [_call(each) for each in calls]
    return " ".join((f"{one['type']}:", *filter(None, (question, *shown))))


def _call(call: Json) -> str:
    more = " (its beginning; read_input has all of it)" if call["shortened"] else ""
    return f"The call {call['name']} with the input {json.dumps(call['input'], ensure_ascii=False)}{more}."


def tool_result(data: Json, text: str | None = None, *, is_error: bool = False) -> Json:
    shown = to_json(data) if text is None else text
    return {"content": [{"type": "text", "text": shown}], "structuredContent": data, "isError": is_error}


def of_response(response: Response) -> Json:
    """A route's answer as a tool's result: the model is told the code and the message of what is refused."""
    if response.code is None:
        return tool_result(response.data)
    error = error_in(response)
    details = "".join(f" {field}: {' '.join(said)}" for field, said in error.get("details", {}).items())
    return tool_result({"error": error}, f"{error['code']}: {error['message']}{details}", is_error=True)


def error_in(response: Response) -> Json:
    """Code, message and details of what was refused, and when to come again where that is known."""
    error: Json = json.loads(response.body)["error"]
    retry = response.headers.get("Retry-After")
    return error if retry is None else {**error, "retry_after_seconds": int(retry)}
