"""The text of a reply while the model still writes it. It is only for people who watch: nothing depends on it."""

from datetime import datetime

from shared.domain.frozen_model import FrozenModel

PARTIAL_VERSION = 1
MAX_PARTIAL_BYTES = 4_096


class Partial(FrozenModel):
    """`key`: the commit key of the turn. `text`: the end of the reply as it was at `at`."""

    key: str
    text: str
    at: datetime


def last_part(text: str) -> str:
    """The end of `text`, at most `MAX_PARTIAL_BYTES` bytes, cut between two characters."""
    data = text.encode("utf-8", "replace")
    return data[-MAX_PARTIAL_BYTES:].decode("utf-8", "ignore")
