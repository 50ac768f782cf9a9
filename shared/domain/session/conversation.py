"""The conversation as the model sees it, independent of any provider's format.

Entries stand in the order in which they were delivered to the model (design §6.6). Each tool call of an assistant entry
has exactly one tool entry with its `call_id`, before the next assistant entry. Small texts stand in the entry itself,
large ones in the blob store.
"""

import hashlib
from typing import Annotated, Any, Literal

from pydantic import Field

from shared.domain.schema.stored_model import StoredModel
from shared.domain.untrusted.exact_json import canonical_json

INLINE_BYTES = 4_096
"""A text with more bytes goes to the blob store, so that a commit stays small (design §6.1)."""


class Content(StoredModel):
    """A text, or a pointer to it. `text` None: the text is in the blob store under the name `blob` and is not loaded.
    `bytes`: its length in UTF-8.
    """

    text: str | None = None
    blob: str | None = None
    bytes: int = 0

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
    """A call that the model asked for. `effect_id`: issued by Acta, never by the model.

    `input` None: the model sent no JSON object, because the text was malformed or cut off. `malformed` then says what
    is wrong; that is the call's result, and the call never runs. A large input is stored as JSON text in
    `input_content`, and is in `input` again once loaded.
    """

    call_id: str
    effect_id: str
    name: str
    input: dict[str, Any] | None = None
    malformed: str | None = None
    input_content: Content | None = None

    @property
    def event_data(self) -> dict[str, str]:
        """The data of every `tool.*` event about this call. A large input must be loaded."""
        hashed = input_hash(self.input or {})
        return {"call_id": self.call_id, "effect_id": self.effect_id, "name": self.name, "input_hash": hashed}


class UserEntry(StoredModel):
    """A message that a person wrote. Origin `summary`: a summary that stands in the place of earlier turns."""

    kind: Literal["user"] = "user"
    message_id: str
    content: Content
    origin: Literal["user", "summary"] = "user"


class AssistantEntry(StoredModel):
    """A model's reply. `continues`: the id of the message that was cut off and that this one continues without a gap.

    `raw`: the parts that only `provider` understands, such as signatures of thinking; only that provider gets them
    back. Large `thinking` and `raw` are stored as JSON text in `private`, and are in their fields again once loaded.
    """

    kind: Literal["assistant"] = "assistant"
    message_id: str
    content: Content
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    provider: str = ""
    raw: Any = None
    private: Content | None = None
    continues: str = ""


class ToolEntry(StoredModel):
    """The result of a call; each call has one. `ok` False: the text starts with `Error:` and says what to do instead.
    `whole`: the complete result, if `content` is only a part; the tool `read_result` reads it page by page.
    """

    kind: Literal["tool"] = "tool"
    call_id: str
    name: str
    content: Content
    ok: bool = True
    whole: Content | None = None


Entry = Annotated[UserEntry | AssistantEntry | ToolEntry, Field(discriminator="kind")]


def input_hash(arguments: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of a call's input, 32 hex digits."""
    return hashlib.sha256(canonical_json(arguments).encode()).hexdigest()[:32]
