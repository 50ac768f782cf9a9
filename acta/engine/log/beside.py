"""What is stored of a session beside its log: large texts and segments of the conversation (docs/design/log.md 18),
the attempts to call a model, and the text of a reply while the model still writes it.

A commit stays small because a large text goes to the blob store first, and the commit has its pointer.
`Content.is_large` in `log/conversation.py` decides what is large.

Every `SEGMENT_COMMITS` commits of a session get a segment: what they brought to the conversation, texts included, as
one object (ADR 58). A worker that starts cold reads segments instead of most of the log. A segment follows from the
log, so whoever writes it writes the same. Nothing depends on it: if one is missing or cannot be read, the log is read.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Literal, Protocol, TypeVar, cast

from acta.engine.errors import EngineError, PoisonedSession
from acta.engine.log.commit import Commit
from acta.engine.log.conversation import (
    AssistantEntry,
    Compacted,
    Content,
    Entry,
    ToolCall,
    ToolEntry,
    UserEntry,
)
from acta.engine.log.head import Head
from acta.engine.store.schema import (
    CURRENT,
    FrozenModel,
    StoredModel,
    VersionedModel,
    as_written,
    read_json,
    to_json,
)


class BlobMissing(LookupError):
    """The store has no text under this name.

    A text is always written before a commit points to it, so the session was deleted, or there is a bug.
    """


class BlobStore(Protocol):
    def put(self, tenant: str, session_id: str, text: str) -> str:
        """Stores the text and returns its name. The same text has the same name, so storing it twice is harmless.

        Raises StoreThrottled, StoreUnavailable.
        """

    def put_named(self, tenant: str, session_id: str, name: str, text: str) -> None:
        """Stores the text under a name of the caller's, in place of what is there. `name`: letters, digits and `-`; it
        has no hash's form. Raises StoreThrottled, StoreUnavailable.
        """

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        """Returns the texts by name. Raises BlobMissing, StoreThrottled, StoreUnavailable."""

    def delete_all(self, tenant: str, session_id: str) -> None:
        """Removes every text of a session, and all that is left of deleted ones. Raises StoreThrottled,
        StoreUnavailable.
        """


E = TypeVar("E", bound=UserEntry | AssistantEntry | ToolEntry)
Document = TypeVar("Document", bound=VersionedModel)


def has_large(commit: Commit) -> bool:
    """Whether the first commit of a session has texts that go to the blob store."""
    return any(one.content.is_large for one in commit.entries) or (
        commit.compacted is not None and commit.compacted.is_large
    )


def offloaded(commit: Commit, blobs: BlobStore) -> Commit:
    """Stores the commit's large texts and returns the commit as it is put: every blob it points to exists."""
    if not commit.entries and commit.compacted is None:
        return commit
    head = commit.head
    changed: dict[str, object] = {"entries": offloaded_entries(commit.entries, head, blobs)}
    if commit.compacted is not None:
        changed["compacted"] = _put(commit.compacted, head, blobs)
    return commit.model_copy(update=changed)


def offloaded_entries(entries: Iterable[E], head: Head, blobs: BlobStore) -> tuple[E, ...]:
    """Stores the entries' large texts and returns the entries with pointers in their place."""
    return tuple(_offloaded(entry, head, blobs) for entry in entries)


def _offloaded(one: E, head: Head, blobs: BlobStore) -> E:
    content = _put(one.content, head, blobs)
    changed: dict[str, object] = {} if content is one.content else {"content": content}
    if isinstance(one, AssistantEntry):
        calls = tuple(_offloaded_call(call, head, blobs) for call in one.calls)
        if calls != one.calls:
            changed["calls"] = calls
        private = Content.of(json.dumps({"thinking": one.thinking, "raw": one.raw}, ensure_ascii=False))
        if private.is_large:
            changed |= {"thinking": "", "raw": None, "private": _put(private, head, blobs)}
    return cast(E, one.model_copy(update=changed)) if changed else one


def _offloaded_call(call: ToolCall, head: Head, blobs: BlobStore) -> ToolCall:
    if call.input is None:
        return call
    text = Content.of(json.dumps(call.input, ensure_ascii=False, separators=(",", ":")))
    if not text.is_large:
        return call
    return call.model_copy(update={"input": None, "input_content": _put(text, head, blobs)})


def _put(content: Content, head: Head, blobs: BlobStore) -> Content:
    if not content.is_large or content.text is None:
        return content
    return stored(content, head, blobs)


def stored(content: Content, head: Head, blobs: BlobStore) -> Content:
    """Stores a text of any size and returns its pointer."""
    if content.blob is not None:
        return content.offloaded(content.blob)
    return content.offloaded(blobs.put(head.tenant, head.session_id, content.loaded))


def in_version(commit: Commit, version: int) -> Commit:
    """The commit, and the compacted conversation in it, as if written in `version` and read again."""
    if version == CURRENT:
        return commit
    if commit.compacted is not None and commit.compacted.text is not None:
        text = to_json(read_compacted(commit.compacted.text), version).decode()
        commit = commit.model_copy(update={"compacted": Content.of(text)})
    return as_written(commit, version)


def read_compacted(text: str) -> Compacted:
    """A compacted conversation from its JSON. Raises SchemaUnknown, PoisonedSession."""
    return read_conversation(Compacted, text)


def read_conversation(model: type[Document], text: str) -> Document:
    """A document with entries of a conversation, from its JSON. Raises SchemaUnknown, PoisonedSession."""
    try:
        version = int(json.loads(text)["version"])
    except (ValueError, KeyError, TypeError):
        raise PoisonedSession("a stored conversation cannot be read") from None
    return read_json("conversation", model, version, text)


def pointers(entries: Iterable[Entry]) -> list[str]:
    """Names of the blobs whose texts the entries point to and do not hold."""
    names: list[str] = []
    for entry in entries:
        contents = [entry.content]
        if isinstance(entry, AssistantEntry):
            contents += [call.input_content for call in entry.calls if call.input_content is not None]
            contents += [entry.private] if entry.private is not None else []
        names += [content.blob for content in contents if content.blob is not None and content.text is None]
    return names


def load_entry(entry: E, texts: Mapping[str, str]) -> E:
    """The entry with its texts in place. `texts`: blob name -> text, for each of its pointers."""
    if not pointers((entry,)):
        return entry
    changed: dict[str, object] = {"content": _text(entry.content, texts)}
    if isinstance(entry, AssistantEntry):
        changed["calls"] = tuple(load_call(call, texts) for call in entry.calls)
        if entry.private is not None:
            changed |= _json(_text(entry.private, texts).loaded) | {"private": None}
    return cast(E, entry.model_copy(update=changed))


def load_call(call: ToolCall, texts: Mapping[str, str]) -> ToolCall:
    """The call with its input in place. `texts`: blob name -> text."""
    if call.input_content is None:
        return call
    text = _text(call.input_content, texts).loaded
    return call.model_copy(update={"input": _json(text), "input_content": None})


def _json(text: str) -> dict[str, Any]:
    """A JSON object that was stored as text. Raises PoisonedSession."""
    try:
        read = json.loads(text)
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise PoisonedSession("a stored part of a reply cannot be read")
    return read


def _text(content: Content, texts: Mapping[str, str]) -> Content:
    if content.text is not None or content.blob is None:
        return content
    return content.model_copy(update={"text": texts[content.blob]})


SEGMENT_COMMITS = 32
"""16 turns of one call. Besides the commits of its turn, a cold worker reads at most this many: 18 read units if each
has a result of 2 KB."""
SEGMENT_PREFIX = "conversation-"
SEGMENTS_AT_ONCE = 8
"""The most segments that a turn writes when those of a long session are missing."""


class Segment(VersionedModel):
    """What `SEGMENT_COMMITS` commits in a row brought to the conversation."""

    since: int
    """The number of its first commit."""
    through: int
    """The number of its last commit."""
    is_whole: bool
    """The conversation begins with this segment. Otherwise it goes on from the segment before."""
    entries: tuple[Entry, ...]
    """The entries that its commits brought."""
    waiting: tuple[UserEntry, ...]
    """As in `Compacted`, after the last commit. The same holds for the next two fields."""
    results: tuple[ToolEntry, ...]
    has_waited: bool
    """As in `Session`."""


def covered_before(number: int, every: int) -> int:
    """The last commit before `number` that ends a segment; 0: there is none."""
    return (number - 1) // every * every


def keep_segments(blobs: BlobStore, head: Head, segments: Sequence[Segment]) -> None:
    """Stores the segments, as far as the store takes them now."""
    with suppress(EngineError):
        for one in segments:
            text = to_json(one, CURRENT).decode()
            blobs.put_named(head.tenant, head.session_id, _name(one.through), text)


def read_segments(
    blobs: BlobStore, head: Head, begin: int, through: int, every: int
) -> tuple[Segment, ...] | None:
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
    return f"{SEGMENT_PREFIX}{through:010d}"


ANSWERED = "ANSWERED"


class Attempt(StoredModel):
    """One request to one model, and what was reserved for it. It is written down before it is made, so that it is not
    forgotten if it vanishes (docs/design/budgets.md 8). A fallback that is asked in the same turn is another attempt.
    """

    attempt_id: str
    key: str
    """The key of the commit that its answer goes into."""
    run_id: str
    turn: int
    kind: Literal["plan", "llm", "judge"]
    number: int
    """The engine's retry count."""
    provider: str
    model: str
    started: datetime
    ended: datetime | None = None
    input_tokens: int
    """Reserved, like the next two. Of a refusal after which another model was asked: counted."""
    output_tokens: int
    cost_usd: float | None = None
    """None if no price is known."""
    outcome: str = ""
    """`ANSWERED`, or an error's code. Empty if nobody knows: the worker is still waiting, or it has vanished."""
    billed: int = 1
    """1 if the attempt may have to be paid for and nothing has said what it used, otherwise 0."""

    @property
    def reserved_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def estimated_tokens(self) -> int:
        """The tokens charged for an attempt that returned no usage: all that were reserved. Otherwise 0."""
        return self.billed * self.reserved_tokens

    @property
    def estimated_usd(self) -> float:
        return self.billed * (self.cost_usd or 0.0)


class Marker(StoredModel):
    """A session's attempts that no commit had settled when the last of them began."""

    attempts: tuple[Attempt, ...] = ()
    """Oldest first."""
    reply: str = ""
    """The answer to the last attempt, as JSON, if it could not be committed."""

    @property
    def last_id(self) -> str | None:
        return self.attempts[-1].attempt_id if self.attempts else None


def open_attempts(head: Head, attempts: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """The attempts that no commit has charged yet."""
    return tuple(one for one in attempts if one.attempt_id not in head.budget.settled)


PARTIAL_VERSION = 1
MAX_PARTIAL_BYTES = 4_096


class PartialReply(FrozenModel):
    """A part of a reply that the model still writes. It is only for people who watch: nothing depends on it."""

    key: str
    """The commit key of the turn."""
    text: str
    """The end of the reply as it was at `at`."""
    at: datetime


def last_part(text: str) -> str:
    """The end of `text`, at most `MAX_PARTIAL_BYTES` bytes, cut between two characters."""
    data = text.encode("utf-8", "replace")
    return data[-MAX_PARTIAL_BYTES:].decode("utf-8", "ignore")


class AttemptsChanged(Exception):
    """The marker is not what the writer took it for: an earlier attempt vanished, or another worker makes this turn
    too. Nothing was written."""

    def __init__(self, marker: Marker) -> None:
        super().__init__("the marker has other attempts")
        self.marker = marker


class AttemptStore(Protocol):
    """All methods raise StoreThrottled and StoreUnavailable."""

    def write(self, tenant: str, session_id: str, marker: Marker, *, after: str | None) -> None:
        """Replaces the session's marker. `after`: the id of the last attempt in the marker that is replaced; None:
        there is no marker yet. A stored marker that ends with the same attempt as `marker` is replaced too, because
        then the answer to an earlier write was lost.

        Raises AttemptsChanged if another marker is stored, and Fenced if the session was deleted.
        """

    def read(self, tenant: str, session_id: str) -> Marker:
        """The marker, empty where there is none. Strongly consistent. Raises SchemaUnknown, PoisonedSession."""


PARTIAL_LIFE = timedelta(minutes=15)
"""How long a partial text is kept: longer than any turn takes."""


class Partials(Protocol):
    """One item for each session, outside the log. Each write replaces the one before. Once its turn is committed, the
    item is no longer needed. All methods raise StoreThrottled and StoreUnavailable."""

    def put(self, tenant: str, session_id: str, partial: PartialReply) -> None:
        """Replaces the session's partial text. Stores nothing where the session was deleted."""

    def get(self, tenant: str, session_id: str) -> PartialReply | None:
        """The partial text that was stored last, of whatever turn. Eventually consistent. Raises SchemaUnknown."""
