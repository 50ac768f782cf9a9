"""The whole input of a tool call. An intervention shows the beginning of a large input; the log has all of it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from shared.agent.session.large_texts import load_call
from shared.domain.errors import InterventionNotFound, ValidationFailed
from shared.domain.interventions.intervention import Intervention, PendingCall, reviewed_calls
from shared.domain.session.commit import Commit
from shared.domain.session.conversation import AssistantEntry, ToolCall, input_hash
from shared.ports.blobs import BlobStore
from shared.ports.log import SessionLog

PAGE = 200
"""Commits of one read."""


class CallInput(NamedTuple):
    """`input_hash` is the hash that the decision is bound to."""

    name: str
    input: dict[str, Any]
    input_hash: str


def full_call_input(
    log: SessionLog, blobs: BlobStore, tenant: str, one: Intervention, call_id: str | None = None
) -> CallInput:
    """`call_id`: which of a review's calls; needed where the review has more than one.

    Raises InterventionNotFound where the intervention is not about this call, or where its session is gone, and
    ValidationFailed where `call_id` is needed.
    """
    call = _chosen(one, call_id)
    if not call.shortened:
        return CallInput(call.name, call.input, call.input_hash)
    for call_made in _inputs_of(log, tenant, one.session_id, call.call_id):
        pointer = call_made.input_content
        if pointer is not None and pointer.blob is not None:
            call_made = load_call(call_made, blobs.get(tenant, one.session_id, (pointer.blob,)))
        if call_made.input is not None and input_hash(call_made.input) == call.input_hash:
            return CallInput(call.name, call_made.input, call.input_hash)
    raise InterventionNotFound("The session does not have this call any more.")


def _chosen(one: Intervention, call_id: str | None) -> PendingCall:
    calls = reviewed_calls(one) if one.tool_call is None else (one.tool_call,)
    if not calls:
        raise InterventionNotFound("This intervention is not about a call: it has no input.")
    if call_id is None and len(calls) > 1:
        ids = ", ".join(call.call_id for call in calls)
        raise ValidationFailed("This review is about several calls.", {"call_id": [f"one of {ids}"]})
    found = next((call for call in calls if call_id in (None, call.call_id)), None)
    if found is None:
        raise InterventionNotFound("This intervention is not about a call of that id.")
    return found


def _inputs_of(log: SessionLog, tenant: str, session_id: str, call_id: str) -> Iterator[ToolCall]:
    """The call as the model made it, then as people changed it: people may be asked about a changed call again."""
    for commit in _commits(log, tenant, session_id):
        for entry in commit.entries:
            if isinstance(entry, AssistantEntry):
                yield from (call for call in entry.calls if call.call_id == call_id)
        open_call = commit.head.open_call(call_id)
        if open_call is not None and open_call.amended is not None:
            yield ToolCall(call_id=call_id, effect_id="", name=open_call.name, input=open_call.amended)


def _commits(log: SessionLog, tenant: str, session_id: str) -> Iterator[Commit]:
    since = 1
    while page := log.read(tenant, session_id, since, limit=PAGE).commits:
        yield from page
        since = page[-1].number + 1
