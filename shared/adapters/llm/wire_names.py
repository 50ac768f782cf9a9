"""Ids and names in the spelling that both providers accept.

A call id is the runtime's and a tool name may be the model's own invention: neither may make the provider
refuse every later request of the session.
"""

import hashlib
import re

_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def call_id_on_wire(call_id: str) -> str:
    """The id itself, or a hash of it when a provider would refuse it (openai takes 40 characters)."""
    if _CALL_ID.fullmatch(call_id):
        return call_id
    return "c_" + hashlib.sha256(call_id.encode()).hexdigest()[:32]


def tool_name_on_wire(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name)[:64] or "_"
