"""Which requests share a prefix, told to the provider: requests with one key go where that prefix is kept."""

import hashlib

from shared.ports.model import ModelRequest


def cache_key(request: ModelRequest) -> str:
    """The same for all requests whose conversation begins with the same entry: a session's, until a compaction
    gives it another beginning. Entries' ids say nothing of what was said."""
    first = request.entries[0] if request.entries else None
    opening = "" if first is None else getattr(first, "message_id", "") or getattr(first, "call_id", "")
    return "acta-" + hashlib.sha256(f"{request.model}\n{opening}".encode()).hexdigest()[:32]
