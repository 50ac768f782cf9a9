"""What a person approves must be the whole of it: a large input is cut in the session's snapshot, not here."""

from collections.abc import Mapping
from typing import Any

from acta.cli.client import Client, session_path
from acta.cli.errors import CliError
from shared.domain.interventions.intervention import input_hash


def with_whole_input(client: Client, session_id: str, intervention: Mapping[str, Any]) -> Mapping[str, Any]:
    """The intervention with all of its calls' inputs, which have to be what the decision will be bound to."""
    path = session_path(session_id, "interventions", str(intervention.get("intervention_id")), "input")
    whole = dict(intervention)
    if intervention.get("tool_call"):
        whole["tool_call"] = _whole(client, path, intervention["tool_call"])
    context = intervention.get("context") or {}
    if context.get("calls"):
        calls = [_whole(client, path, call, of_several=True) for call in context["calls"]]
        whole["context"] = {**context, "calls": calls}
    return whole


def _whole(client: Client, path: str, call: Any, *, of_several: bool = False) -> Any:
    """`call` may be a name alone: an earlier release told no more of a review's calls."""
    if not isinstance(call, Mapping) or not call.get("shortened"):
        return call
    whole = client.get(path, call_id=str(call.get("call_id")) if of_several else None).get("input")
    if not isinstance(whole, dict) or input_hash(whole) != call.get("input_hash"):
        raise CliError("the input that was answered is not the one to be decided on")
    return {**call, "input": whole}
