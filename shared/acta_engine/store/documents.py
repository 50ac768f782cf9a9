"""Converts domain documents to the bytes that are stored, and back.

The bytes are the document's complete JSON, compressed. The schema version is stored beside the bytes and is checked
first; `convert.py` converts between versions. An unknown version raises SchemaUnknown, a damaged document
PoisonedSession; no message quotes the document.

Compression uses a preset dictionary: field names and phrases that most commits have. With it a small commit takes less
than half of the bytes that zlib alone needs, and costs one write unit instead of two or three. A compressed document
names its dictionary by a checksum. So never change a dictionary: add another one, and keep the old one as long as
documents exist that need it.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from acta_engine.errors import PoisonedSession, SchemaUnknown
from acta_engine.log.commit import Commit
from acta_engine.people.intervention import Intervention
from acta_engine.store.schema import FrozenModel, check_version, read_json, to_json

ATTRIBUTES_VERSION = 1
"""The version of items that are plain attributes. A new attribute needs no new version: readers take what they know."""

_HAS_DICTIONARY = 0x20
"""A flag in the second byte of zlib's format. The next four bytes then are the dictionary's checksum (RFC 1950)."""

_Document = TypeVar("_Document", bound=FrozenModel)
_Stored = TypeVar("_Stored")
_Read = TypeVar("_Read")


def pack(data: bytes) -> bytes:
    press = zlib.compressobj(zdict=PHRASES)
    return press.compress(data) + press.flush()


def unpack(data: bytes) -> bytes:
    """Raises SchemaUnknown where the dictionary is unknown, PoisonedSession where the data is damaged."""
    phrases = b""
    if _names_dictionary(data):
        phrases = BY_CHECKSUM.get(int.from_bytes(data[2:6], "big"), b"")
        if not phrases:
            raise SchemaUnknown("a stored document needs a dictionary this release does not have")
    try:
        press = zlib.decompressobj(zdict=phrases)
        whole = press.decompress(data)
    except zlib.error:
        raise PoisonedSession("a stored document cannot be decompressed") from None
    if not press.eof or press.unused_data:
        raise PoisonedSession("a stored document is cut off, or has bytes after its end")
    return whole


def _names_dictionary(data: bytes) -> bool:
    """Whether the data has a header of zlib's format that names a dictionary (RFC 1950)."""
    is_zlib = len(data) > 6 and data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
    return is_zlib and bool(data[1] & _HAS_DICTIONARY)


def dump(document: FrozenModel, version: int) -> bytes:
    """`version`: the one to write."""
    return pack(to_json(document, version))


def load(what: str, model: type[_Document], version: int, data: bytes) -> _Document:
    """Reads a document. `version`: the stored one. Raises SchemaUnknown, PoisonedSession."""
    check_version(what, version)
    return read_json(what, model, version, unpack(data))


def load_json(what: str, data: bytes) -> Any:
    """Reads JSON that is no domain document. Raises SchemaUnknown, PoisonedSession."""
    try:
        return json.loads(unpack(data))
    except ValueError:
        raise PoisonedSession(f"a stored {what} is not JSON") from None


def skip_damaged(read: Callable[[_Stored], _Read], found: Iterable[_Stored]) -> Iterator[_Read]:
    """Reads what a listing has found and leaves out what is damaged, so that the others can be listed."""
    for stored in found:
        with suppress(PoisonedSession):
            yield read(stored)


def from_commit(commit: Commit) -> bytes:
    """In the version that the commit has."""
    return dump(commit, commit.version)


def to_commit(version: int, data: bytes) -> Commit:
    """Raises SchemaUnknown, PoisonedSession; also for the version of the head in the commit."""
    return load("commit", Commit, version, data)


def from_intervention(intervention: Intervention, version: int) -> bytes:
    return dump(intervention, version)


def to_intervention(version: int, data: bytes) -> Intervention:
    """Raises SchemaUnknown, PoisonedSession."""
    return load("intervention", Intervention, version, data)


_FIRST = (
    # The rarest phrases come first: zlib takes fewer bits to point to phrases near the end.
    '{"intervention_id":"int_01","session_id":"ses_01","type":"clarification_needed","type":"error_recovery",'
    '"type":"budget_exceeded","type":"checkpoint_review","type":"approval_required","context":{"question":"","reason":'
    '""},"tool_call":{"call_id":"call_01","name":"delete_file","input":{"path":""},"input_hash":""},"options":["answer'
    '","cancel"],["approve","reject","modify"],"default_action":"reject","timeout_at":"2026-","warned":true,"state":'
    '"pending","resolution":null,"input":null,"comment":null,"resolved_by":null,"resolved_at":null,"created_at":"2026-'
    '"}],"result":{"goal_met":true,"answer":"GOAL_COMPLETE","reason":"plan_completed","message_id":"msg_01"},"error":{'
    '"code":"PROVIDER_","message":""},"wait":{"token":"","turn":'
    '"type":"run.finished","type":"plan.created","type":"plan.closed","type":"plan.rejected","type":"message.user",'
    '"type":"intervention.opened","type":"intervention.resolved","type":"budget.warning","type":"hint.injected",'
    '"data":{"intervention_id":"int_01","type":"","option":"","resolved_by":"","goal_met":true,"reason":"","version":1,'
    '"plan":{"version":1,"goal":"completed","failed","cancelled","idle","planning","waiting_for_user"'
    # a step of the conversation
    ',"events":[{"seq":1,"at":"2026-01-0","type":"run.started","step_number":null,"data":{}},{"seq":2,"at":"2026-01-0",'
    '"type":"state.changed","step_number":2,"data":{"from":"executing","to":"waiting_for_tool","reason":null}},{"seq":'
    '3,"at":"2026-01-0","type":"thought","step_number":3,"data":{"message_id":"msg_01"}},{"seq":4,"at":"2026-01-0",'
    '"type":"message.assistant","step_number":4,"data":{"message_id":"msg_01","plan_step":1,"from":"pending","status":'
    '"in_progress"}},{"seq":5,"at":"2026-01-0","type":"plan.step","step_number":5,"data":{"plan_step":2,"from":'
    '"in_progress","status":"completed"}},{"seq":6,"at":"2026-01-0","type":"tool.requested","step_number":6,"data":{'
    '"call_id":"call_01","effect_id":"eff_01","name":"create_file","input_hash":"0"}},{"type":"tool.started","step_'
    'number":7,"data":{"type":"tool.finished","step_number":8,"data":{"call_id":"call_01","effect_id":"eff_01","name":'
    '"list_files","input_hash":"0","ok":true,"duration_ms":1,"bytes":1}}],"entries":[{"kind":"user","message_id":'
    '"msg_01","content":{"text":null,"blob":"0","bytes":1}},{"kind":"assistant","message_id":"msg_01","content":{"text"'
    ':"","blob":null,"bytes":0},"thinking":"","calls":[{"call_id":"call_01","effect_id":"eff_01","name":"update_plan",'
    '"input":{"action":"update_step","step_number":1,"step_status":"completed","step_result":""},"malformed":null,'
    '"input_content":null},{"call_id":"call_01","effect_id":"eff_01","name":"read_file","input":{"path":""},"malformed'
    '":null,"input_content":null}],"provider":"anthropic","openai","offline","raw":null,"private":null},{"kind":"tool",'
    '"call_id":"call_01","name":"read_file","content":{"text":"Error: ","blob":null,"bytes":1},"ok":true}],"delivered":'
    '[],"step":{"step_number":1,"kind":"tool","kind":"llm","name":null,"started_at":"2026-01-0","completed_at":"2026-01'
    '-0","duration_ms":1,"attempt":0,"input_tokens":0,"output_tokens":0,"cached_input_tokens":0,"cost_usd":0.0,"error":'
    'null},"decision":{"next":"think","at":{"tenant":"","session_id":"ses_01","run_id":"run_01","generation":1,"turn":1'
    ',"first":1},"calls":["call_01"],"wait_seconds":null,"then":null,"wake_at":null}}'
    # the head
    '{"version":1,"number":1,"key":"run_01/1/1/think","key":"run_01/call_01/finish","at":"2026-01-0","head":{"version":1'
    ',"tenant":"","session_id":"ses_01","agent_id":"default","created_by":"","state":"waiting_for_tool","state":'
    '"executing","state_reason":null,"goal":"","created_at":"2026-01-0","updated_at":"2026-01-0","run":{"run_id":'
    '"run_01","generation":1,"iteration":1,"turn":1,"first":1,"max_steps":50,"events":1},"plan":{"version":1,"goal":"",'
    '"steps":[{"step_number":1,"description":"","tool":"list_files","input":{},"requires_permission":true,"status":'
    '"skipped","result":"","evidence":["call_01"],"started_at":"2026-01-0","completed_at":"2026-01-0"},{"step_number":2'
    ',"description":"","tool":"read_file","input":null,"requires_permission":false,"status":"completed","result":"",'
    '"evidence":["call_01","call_01"],"started_at":"2026-01-0","completed_at":"2026-01-0"},{"step_number":3,'
    '"description":"","tool":"read_file","input":{"path":""},"requires_permission":false,"status":"in_progress",'
    '"result":null,"evidence":[],"started_at":"2026-01-0","completed_at":null},{"step_number":4,"description":"","tool":'
    'null,"input":null,"requires_permission":false,"status":"pending","result":null,"evidence":[],"started_at":null,'
    '"completed_at":null}],"current_step_index":1,"status":"executing","risks":[],"created_at":"2026-01-0","updated_at":'
    '"2026-01-0"},"usage":{"input_tokens":1,"output_tokens":1,"cached_input_tokens":0,"llm_calls":1,"tool_calls":1,'
    '"cost_usd":0.0},"budget":{"token_budget":50000,"cost_budget_usd":null},"interventions":[],"result":null,"error":'
    'null,"metadata":{},"review_every":0,"max_steps":50,"last_seq":1,"last_step":1,"calls":[{"call_id":"call_01","name":'
    '"read_file","state":"started","state":"done","state":"ready","amended":null}],"undelivered":[],"progress":{'
    '"text_replies":0,"planning_attempts":0,"provider_waits":0,"hint":""},"wait":null},"events":[{"seq":1,"at":"2026-01-0","type":"'
)  # fmt: skip

PHRASES = _FIRST.encode()
BY_CHECKSUM = {zlib.adler32(phrases): phrases for phrases in (PHRASES,)}
