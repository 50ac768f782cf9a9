"""The conversation as the model sees it, in no provider's dialect, and texts of any size in it.

Order is delivery order (design §6.6). Every tool call of an assistant entry is followed by exactly one tool entry with
its `call_id` before the next assistant entry. A small text is inline, a large one is in the blob store.
"""

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import Field

from shared.domain.value import Value

INLINE_BYTES = 4_096
"""Design §6.1: content over 4 KB goes to the blob store, so that a commit stays small."""


class Content(Value):
    """`text` is None when the text was offloaded to `blob` and is not loaded; `bytes` is its UTF-8 length."""

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
        """The text; a caller that may hold an unloaded one resolves it through the blob store first."""
        if self.text is None:
            raise ValueError("content was not loaded")
        return self.text

    def offloaded(self, blob: str) -> "Content":
        """The pointer that is stored once `blob` holds the text."""
        return Content(text=None, blob=blob, bytes=self.bytes)


class ToolCall(Value):
    """One call the model asked for. `effect_id` is issued by the runtime, never by the model.

    `input` is None when what the model sent was not a JSON object (malformed or cut off); then `malformed` says
    why and the call is answered with that, never executed. A large input is stored as JSON text in
    `input_content` and is in `input` again once loaded.
    """

    call_id: str
    effect_id: str
    name: str
    input: dict[str, Any] | None = None
    malformed: str | None = None
    input_content: Content | None = None

    @property
    def event_data(self) -> dict[str, str]:
        """What every `tool.*` event says about the call. A large input must be loaded."""
        hashed = input_hash(self.input or {})
        return {"call_id": self.call_id, "effect_id": self.effect_id, "name": self.name, "input_hash": hashed}


class UserEntry(Value):
    """What a person said; with origin `summary`, what stands in the place of earlier turns: data, nobody's words."""

    kind: Literal["user"] = "user"
    message_id: str
    content: Content
    origin: Literal["user", "summary"] = "user"


class AssistantEntry(Value):
    """`continues`: the message whose text was cut off and goes on here without a gap.
    `raw` holds the provider's own parts (thinking signatures and the like), meant for that `provider` only.
    Where they are large, `thinking` and `raw` are stored as JSON text in `private` and are back once loaded.
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


class ToolEntry(Value):
    """The one result of a call. `ok` False: the text starts with `Error:` and says what to do instead. `whole`: where
    all of it is stored, if `content` is only a part; `read_result` pages through it.
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
    canonical = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]
