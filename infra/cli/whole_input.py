"""What a person approves must be the whole of it: a large input is cut in the session's snapshot, not here."""

from collections.abc import Mapping
from typing import Any

from infra.cli.client import Client, session_path
from infra.cli.errors import CliError
from shared.domain.intervention import input_hash


def with_whole_input(client: Client, session_id: str, intervention: Mapping[str, Any]) -> Mapping[str, Any]:
    """The intervention with all of its call's input, which has to be what the decision will be bound to."""
    call = intervention.get("tool_call") or {}
    if not call.get("shortened"):
        return intervention
    identity = str(intervention.get("intervention_id"))
    whole = client.get(session_path(session_id, "interventions", identity, "input")).get("input")
    if not isinstance(whole, dict) or input_hash(whole) != call.get("input_hash"):
        raise CliError("the input that was answered is not the one to be decided on")
    return {**intervention, "tool_call": {**call, "input": whole}}
