"""Interventions as a client sees them: which are open, and what they are about."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from acta.client.errors import UnexpectedAnswer
from acta.client.flows import Flow, Request, data, session_path

ENDED_STATES = ("completed", "failed", "cancelled")
ID_PREFIX = "int_"
"""How an intervention's id begins; a session's begins differently."""


def open_interventions(session: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The interventions of a session that a person can decide."""
    return [one for one in session.get("interventions") or [] if one.get("state", "pending") == "pending"]


def needs_a_person(session: Mapping[str, Any]) -> bool:
    """It has not ended, and a person paused it or is asked."""
    return not has_ended(session) and (is_paused(session) or bool(open_interventions(session)))


def has_ended(session: Mapping[str, Any]) -> bool:
    return session.get("state") in ENDED_STATES


def is_paused(session: Mapping[str, Any]) -> bool:
    """A person paused it. That is no state of its own (docs/design/api.md 30)."""
    return (session.get("state"), session.get("state_reason")) == ("waiting_for_user", "paused")


def is_intervention_id(text: str) -> bool:
    return text.startswith(ID_PREFIX)


def whole_inputs(session_id: str, intervention: Mapping[str, Any]) -> Flow[dict[str, Any]]:
    """The intervention with the whole input of each of its tool calls. Raises ClientError.

    A session's snapshot carries only the beginning of a large input, and a person must see all of what they approve.
    Raises UnexpectedAnswer for an input that is not the one the decision will be bound to.
    """
    path = session_path(session_id, "interventions", str(intervention.get("intervention_id")), "input")
    whole = dict(intervention)
    if intervention.get("tool_call"):
        whole["tool_call"] = yield from _whole_call(path, intervention["tool_call"])
    context = intervention.get("context") or {}
    if context.get("calls"):
        calls = []
        for call in context["calls"]:
            calls.append((yield from _whole_call(path, call, is_one_of_several=True)))
        whole["context"] = {**context, "calls": calls}
    return whole


def _whole_call(path: str, call: Mapping[str, Any], *, is_one_of_several: bool = False) -> Flow[Any]:
    if not call.get("shortened"):
        return call
    query = {"call_id": str(call.get("call_id"))} if is_one_of_several else {}
    text = (yield from data(Request("GET", path, query))).get("input_text")
    if not isinstance(text, str) or input_hash(text) != call.get("input_hash"):
        raise UnexpectedAnswer("the deployment sent another input than the one to decide on")
    return {**call, "input": json.loads(text), "input_text": text}


def input_hash(input_text: str) -> str:
    """The `input_hash` of a tool call: SHA-256 of the canonical JSON text of its input, 32 hex digits."""
    return hashlib.sha256(input_text.encode()).hexdigest()[:32]
