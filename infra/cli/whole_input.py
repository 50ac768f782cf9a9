"""What a person approves must be the whole of it: a large input is cut in the session's snapshot, not here."""

from collections.abc import Mapping
from typing import Any

from infra.cli.client import Client, session_path
from shared.domain.intervention import input_hash


def with_whole_input(client: Client, session_id: str, intervention: Mapping[str, Any]) -> Mapping[str, Any]:
    """The intervention with its call's input as the conversation has it, found by the hash the decision binds to."""
    context, call = intervention.get("context") or {}, intervention.get("tool_call") or {}
    if not context.get("shortened"):
        return intervention
    for message in client.items(session_path(session_id, "messages")):
        for asked in message.get("tool_calls") or []:
            whole = asked.get("input")
            if isinstance(whole, dict) and input_hash(whole) == call.get("input_hash"):
                rest = {name: value for name, value in context.items() if name != "shortened"}
                return {**intervention, "context": rest, "tool_call": {**call, "input": whole}}
    return intervention
