"""The conversation as the model sees it, in no provider's dialect.

Order is delivery order (design §6.6). Every tool call of an assistant entry is followed by exactly one tool entry
with its `call_id` before the next assistant entry.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from shared.domain.session.content import Content
from shared.domain.value import Value


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
