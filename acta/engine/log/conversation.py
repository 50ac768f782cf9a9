"""The conversation as the model sees it, independent of any provider's format.

Entries stand in the order in which they were delivered to the model (docs/design/log.md 35). Each tool call of an
assistant entry has exactly one tool entry with its `call_id`, before the next assistant entry. Small texts stand in
the entry itself, large ones in the blob store.
"""

import hashlib
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import Field

from acta.engine.store.schema import StoredModel, VersionedModel
from acta.engine.untrusted.exact_json import canonical_json

INLINE_BYTES = 4_096
"""A text with more bytes goes to the blob store, so that a commit stays small (docs/design/log.md 18)."""


class Content(StoredModel):
    """A text, or a pointer to it."""

    text: str | None = None
    """None if the text is in the blob store and was not loaded."""
    blob: str | None = None
    """The text's name in the blob store, if it is there."""
    bytes: int = 0
    """Its length in UTF-8."""

    @classmethod
    def of(cls, text: str) -> "Content":
        return cls(text=text, bytes=len(text.encode()))

    @property
    def is_large(self) -> bool:
        return self.bytes > INLINE_BYTES

    @property
    def loaded(self) -> str:
        """The text. Raises ValueError where it is not loaded: load it from the blob store first."""
        if self.text is None:
            raise ValueError("content was not loaded")
        return self.text

    def offloaded(self, blob: str) -> "Content":
        """A pointer to the text. `blob`: the name under which the blob store has it."""
        return Content(text=None, blob=blob, bytes=self.bytes)


class ToolCall(StoredModel):
    """A call that the model asked for."""

    call_id: str
    effect_id: str
    """Issued by Acta, never by the model. A tool that runs again gets the same id."""
    name: str
    input: dict[str, Any] | None = None
    """None if the model sent no JSON object, because the text was malformed or cut off."""
    malformed: str | None = None
    """What is wrong with such an input. This text becomes the call's result, and the call never runs."""
    input_content: Content | None = None
    """A large input, stored as JSON text. Once loaded it is in `input` again."""
    through: str = ""
    """The name of the tool that the model called, if its input named this call. Empty: the model called this tool."""

    @property
    def as_made(self) -> "ToolCall":
        """The call as the model made it. It has to find its own words in the conversation."""
        made = {"name": self.through, "input": {"tool": self.name, "input": self.input}}
        return self.model_copy(update=made) if self.through else self

    @property
    def event_data(self) -> dict[str, Any]:
        """The data of every `tool.*` event about this call. A large input must be loaded."""
        hashed = input_hash(self.input or {})
        return {"call_id": self.call_id, "effect_id": self.effect_id, "name": self.name, "input_hash": hashed}


class UserEntry(StoredModel):
    """A message that a person wrote."""

    kind: Literal["user"] = "user"
    message_id: str
    content: Content
    origin: Literal["user", "summary"] = "user"
    """A `summary` replaces earlier turns of the conversation."""


class AssistantEntry(StoredModel):
    """A model's reply."""

    kind: Literal["assistant"] = "assistant"
    message_id: str
    content: Content
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    provider: str = ""
    raw: Any = None
    """The parts that only `provider` understands, such as signatures of thinking. Only that provider gets them back."""
    private: Content | None = None
    """Large `thinking` and `raw`, stored as JSON text. Once loaded they are in their fields again."""
    continues: str = ""
    """The id of the message that was cut off and that this one continues without a gap."""


AMENDED = "\n\n(A person changed the input of this call before it ran. It ran with: "
"""Begins the note after the result of such a call, which tells the model what the person wrote."""


class ToolEntry(StoredModel):
    """The result of a call. Each call has exactly one."""

    kind: Literal["tool"] = "tool"
    call_id: str
    name: str
    content: Content
    ok: bool = True
    """If False, the text starts with `Error:` and says what to do instead."""
    whole: Content | None = None
    """The complete result, if `content` is only a part of it. The tool `read_result` reads it page by page."""


Entry = Annotated[UserEntry | AssistantEntry | ToolEntry, Field(discriminator="kind")]


def input_hash(arguments: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of a call's input, 32 hex digits."""
    return hashlib.sha256(canonical_json(arguments).encode()).hexdigest()[:32]


T = TypeVar("T")
Turns = Sequence[Sequence[Entry]]


def entry_bytes(entry: Entry) -> int:
    """The bytes that the entry takes in a request, inputs of calls included."""
    calls = sum(len(str(call.input)) for call in entry.calls) if isinstance(entry, AssistantEntry) else 0
    return entry.content.bytes + calls


def total_bytes(entries: Sequence[Entry]) -> int:
    return sum(map(entry_bytes, entries))


class Compacted(VersionedModel):
    """The whole conversation after a compaction. A worker that knows nothing of the session starts from it."""

    entries: tuple[Entry, ...]
    """What the model has seen."""
    waiting: tuple[UserEntry, ...] = ()
    """Users' messages that it has not seen yet."""
    results: tuple[ToolEntry, ...] = ()
    """Results of the last reply's calls."""


class _Kept(NamedTuple):
    """`made`: what was made of the entries before index `end`, at which the reply of the next turn stands."""

    end: int
    reply: Entry
    made: Any


class EndedTurns:
    """Remembers what was made of the turns that have ended, so that a turn costs the same however many came before. It
    lives as long as the conversation in this process. Nothing in it is ever out of date: a turn has ended once the next
    reply is there, an ended turn does not change, and a conversation that a compaction replaces gets a new
    `EndedTurns`.

    Any two are equal, because they are no part of what a model is asked.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, _Kept] = {}

    def made(self, form: Hashable, entries: Sequence[Entry], nothing: T, added: Callable[[T, Turns], T]) -> T:
        """What `added` makes of all turns, the running one included. The first turn is what came before any reply;
        it may be empty. Each other one begins with a reply.

        `added` gets what it made of the turns before, `nothing` at first, and the turns that follow. It returns
        something new that follows from these and from `form` alone, and changes neither.
        """
        known = self._kept.get(form)
        if known is not None and (len(entries) <= known.end or entries[known.end] is not known.reply):
            known = None
        start, before = (0, nothing) if known is None else (known.end, known.made)
        replies = [at for at, entry in enumerate(entries[start:], start) if isinstance(entry, AssistantEntry)]
        bounds = [0, *replies] if known is None else replies
        if len(bounds) > 1:
            before = added(before, [entries[begin:end] for begin, end in pairwise(bounds)])
            self._kept[form] = _Kept(bounds[-1], entries[bounds[-1]], before)
        return added(before, [entries[bounds[-1] :]])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EndedTurns)

    __hash__ = None  # type: ignore[assignment]
