"""Segments of a conversation: what a worker that starts cold reads instead of most of the log (ADR 58).

Every `SEGMENT_COMMITS` commits of a session get one: what they brought to the conversation, texts included, as one
object beside the session's large texts. A segment follows from the log, so whoever writes it writes the same. Nothing
depends on it: where one is missing or cannot be read, the log is read.
"""

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

from acta_engine.errors import EngineError
from acta_engine.log.blobs import BlobMissing, BlobStore
from acta_engine.log.conversation import Entry, ToolEntry, UserEntry
from acta_engine.log.head import Head
from acta_engine.log.large_texts import read_conversation
from acta_engine.store.convert import to_json
from acta_engine.store.stored_model import VersionedModel
from acta_engine.store.versions import CURRENT

SEGMENT_COMMITS = 32
"""16 turns of one call. A cold worker reads so many commits at most before those of its turn: 18 read units where each
has a result of 2 KB.
"""
PREFIX = "conversation-"
AT_ONCE = 8
"""A turn writes no more, where segments of a long session are missing."""


class Segment(VersionedModel):
    """`since`, `through`: the numbers of its first and its last commit. `is_whole`: the conversation begins with it, so
    what came before is not in it; else it goes on where the segment before ends. `entries`: those that its commits
    brought. The rest is as it stood after the last commit: `waiting` and `results` as in `Compacted`, `has_waited` as
    in `Session`.
    """

    since: int
    through: int
    is_whole: bool
    entries: tuple[Entry, ...]
    waiting: tuple[UserEntry, ...]
    results: tuple[ToolEntry, ...]
    has_waited: bool


def covered_before(number: int, every: int) -> int:
    """The last commit before `number` that ends a segment; 0: there is none."""
    return (number - 1) // every * every


def keep(blobs: BlobStore, head: Head, segments: Sequence[Segment]) -> None:
    """Stores them, as far as the store takes them now."""
    with suppress(EngineError):
        for one in segments:
            text = to_json(one, CURRENT).decode()
            blobs.put_named(head.tenant, head.session_id, _name(one.through), text)


def read(blobs: BlobStore, head: Head, begin: int, through: int, every: int) -> tuple[Segment, ...] | None:
    """The segments that have the conversation from commit `begin` to commit `through`. None: one is missing, or cannot
    be read by this release. Raises what the store raises.
    """
    ends = range(covered_before(begin, every) + every, through + 1, every)
    names = [_name(end) for end in ends]
    try:
        texts = blobs.get(head.tenant, head.session_id, names)
        found = tuple(read_conversation(Segment, texts[name]) for name in names)
    except (BlobMissing, EngineError):
        return None
    is_chain = all(after.since == one.through + 1 for one, after in pairwise(found))
    return found if found[0].is_whole and is_chain and found[-1].through == through else None


def _name(through: int) -> str:
    return f"{PREFIX}{through:010d}"
