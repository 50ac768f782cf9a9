"""What a model has said so far of a turn that is not committed yet; for whoever watches, and for nothing else."""

from datetime import datetime

from shared.domain.value import Value

PARTIAL_VERSION = 1
MAX_PARTIAL_BYTES = 4_096


class Partial(Value):
    """`key`: the commit key of the turn it belongs to; `text`: the end of what was said by `at`."""

    key: str
    text: str
    at: datetime


def tail_of(text: str) -> str:
    """Its last bytes, as many as a partial may have, without half a character."""
    data = text.encode("utf-8", "replace")
    return data[-MAX_PARTIAL_BYTES:].decode("utf-8", "ignore")
