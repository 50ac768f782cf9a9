"""Interventions as a client sees them: which are open, what they are about, and deciding them."""

import hashlib
import json
from collections.abc import Mapping
from itertools import chain, islice
from typing import Any

from acta.client.api import Client, session_path
from acta.client.errors import UnexpectedAnswer

LISTING = "/v1/interventions"
PAGE_SIZE = 100
MAX_SEARCHED = 500
"""How many of the tenant's last interventions are searched for one that is no longer open."""
ID_PREFIX = "int_"
"""How an intervention's id begins; a session's begins differently."""


def open_interventions(session: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The interventions of a session that a person can decide."""
    return [one for one in session.get("interventions") or [] if one.get("state", "pending") == "pending"]


def is_intervention_id(text: str) -> bool:
    return text.startswith(ID_PREFIX)


def find_session(client: Client, intervention_id: str) -> str | None:
    """The id of the session that the intervention belongs to; None where it is not found. Raises ClientError.

    The closed ones are searched too, the newest `MAX_SEARCHED`: a decision on one of them is refused, and the refusal
    says what was decided.
    """
    waiting, newest = client.items(LISTING, state="pending"), client.items(LISTING, limit=PAGE_SIZE)
    for one in chain(waiting, islice(newest, MAX_SEARCHED)):
        if one.get("intervention_id") == intervention_id:
            return str(one["session_id"])
    return None


def resolve(client: Client, session_id: str, intervention_id: str, body: Mapping[str, Any]) -> None:
    """Sends a decision: `option`, and where they are given `input` and `comment`. Raises ClientError."""
    client.post(session_path(session_id, "interventions", intervention_id, "resolve"), body)


def with_whole_inputs(client: Client, session_id: str, intervention: Mapping[str, Any]) -> Mapping[str, Any]:
    """The intervention with the whole input of each of its tool calls. Raises ClientError.

    A session's snapshot carries only the beginning of a large input, and a person must see all of what they approve.
    Raises UnexpectedAnswer for an input that is not the one the decision will be bound to.
    """
    path = session_path(session_id, "interventions", str(intervention.get("intervention_id")), "input")
    whole = dict(intervention)
    if intervention.get("tool_call"):
        whole["tool_call"] = _whole_call(client, path, intervention["tool_call"])
    context = intervention.get("context") or {}
    if context.get("calls"):
        calls = [_whole_call(client, path, call, is_one_of_several=True) for call in context["calls"]]
        whole["context"] = {**context, "calls": calls}
    return whole


def _whole_call(client: Client, path: str, call: Any, *, is_one_of_several: bool = False) -> Any:
    """`call` may be a bare name: a review that an earlier release opened has nothing else."""
    if not isinstance(call, Mapping) or not call.get("shortened"):
        return call
    query = {"call_id": str(call.get("call_id"))} if is_one_of_several else {}
    whole = client.get(path, **query).get("input")
    if not isinstance(whole, dict) or input_hash(whole) != call.get("input_hash"):
        raise UnexpectedAnswer("the deployment sent another input than the one to decide on")
    return {**call, "input": whole}


def input_hash(arguments: dict[str, Any]) -> str:
    """The `input_hash` of a tool call: SHA-256 over the canonical JSON of its input, 32 hex digits."""
    canonical = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]
