"""Keeps commits small: a large text goes to the blob store first, then its pointer is committed
(docs/design/log.md 18).

What is large is decided by `Content.is_large` in `shared/acta_engine/log/conversation.py`.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from acta_engine.errors import PoisonedSession
from acta_engine.log.blobs import BlobStore
from acta_engine.log.commit import Commit
from acta_engine.log.conversation import (
    AssistantEntry,
    Compacted,
    Content,
    Entry,
    ToolCall,
    ToolEntry,
    UserEntry,
)
from acta_engine.log.head import Head
from acta_engine.store.convert import as_written, read_json, to_json
from acta_engine.store.stored_model import VersionedModel
from acta_engine.store.versions import CURRENT

E = TypeVar("E", bound=UserEntry | AssistantEntry | ToolEntry)
Document = TypeVar("Document", bound=VersionedModel)


def has_large(commit: Commit) -> bool:
    """Whether the first commit of a session has texts that are stored apart."""
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
    changed: dict[str, object] = {"content": _put(one.content, head, blobs)}
    if isinstance(one, AssistantEntry):
        changed["calls"] = tuple(_offloaded_call(call, head, blobs) for call in one.calls)
        private = _private(one)
        if private is not None and private.is_large:
            changed |= {"thinking": "", "raw": None, "private": _put(private, head, blobs)}
    return cast(E, one.model_copy(update=changed))


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
    """The commit as it is once it was written in `version` and read again, the compacted conversation in it too."""
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


def _private(entry: AssistantEntry) -> Content | None:
    if not entry.thinking and entry.raw is None:
        return None
    return Content.of(json.dumps({"thinking": entry.thinking, "raw": entry.raw}, ensure_ascii=False))


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
