"""Builds a reply from the chunks of a Chat Completions stream. A stream without a finish reason is broken.

Some servers want the thinking back that came before a call. `ModelReply.raw` keeps what that takes:
`{"api", "model", "name"}`, the name of the field that the thinking came in. The thinking itself is in the entry.
"""

from collections.abc import Callable
from typing import Any

from acta_engine.errors import StreamBroken
from acta_engine.models.common.stops import CHAT_STOPS, stop_reason
from acta_engine.models.common.token_estimate import estimate_tokens, utf8_size
from acta_engine.models.common.tool_arguments import InvalidJson, joined, parse_call, parse_object
from acta_engine.models.model import ModelReply, RequestedCall, TokenUsage

API = "chat"
"""Stands in `raw`, because OpenAI's other API cannot take back what this one gave."""
THINKING_FIELDS = ("reasoning_content", "reasoning")
"""Compatible servers send thinking in one of them. OpenAI sends none."""


class ChatReplyBuilder:
    """See `ReplyBuilder` in `common/stream.py`."""

    def __init__(
        self, model: str, request_bytes: Callable[[], int], on_text: Callable[[str], None] | None = None
    ) -> None:
        self._model = model
        self._request_bytes = request_bytes
        self._on_text = on_text
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._thinking_field = ""
        self._refusal: list[str] = []
        self._calls: list[dict[str, str]] = []
        self._position_of: dict[int, int] = {}
        self._finish: str | None = None
        self._usage: Any = None

    def has_content(self, chunk: Any) -> bool:
        deltas = [choice.delta for choice in chunk.choices or () if choice.delta is not None]
        return any(
            delta.content or delta.tool_calls or getattr(delta, "refusal", None) or _thinking_in(delta)[1]
            for delta in deltas
        )

    def add(self, chunk: Any) -> None:
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices or ():
            delta = choice.delta
            if delta is not None:
                self._text.append(delta.content or "")
                if self._on_text is not None and delta.content:
                    self._on_text(delta.content)
                self._refusal.append(getattr(delta, "refusal", None) or "")
                field, thinking = _thinking_in(delta)
                self._thinking.append(thinking)
                self._thinking_field = self._thinking_field or field
                for part in delta.tool_calls or ():
                    self._add_call_part(part)
            self._finish = choice.finish_reason or self._finish

    def _add_call_part(self, part: Any) -> None:
        """Parts with the same index belong to one call. But some servers send every call with index 0."""
        position = self._position_of.get(part.index) if part.index is not None else len(self._calls) - 1
        known = self._calls[position] if position is not None and position >= 0 else None
        if known is None or _begins_another_call(part, known):
            position = len(self._calls)
            self._calls.append({"id": part.id or "", "name": known["name"] if known else "", "json": ""})
            if part.function is not None and part.function.name:
                self._calls[position]["name"] = part.function.name
        assert position is not None
        call = self._calls[position]
        call["id"] = call["id"] or part.id or ""
        if part.index is not None:
            self._position_of[part.index] = position
        if part.function is not None:
            call["name"] = call["name"] or part.function.name or ""
            call["json"] += part.function.arguments or ""

    @property
    def is_complete(self) -> bool:
        """Never: the usage comes after everything else, and the SDK ends the stream at the server's end mark."""
        return False

    def reply(self) -> ModelReply:
        if self._finish is None:
            raise StreamBroken("openai: the answer ended before it was complete")
        refusal = joined("".join(self._refusal))
        stop = stop_reason(CHAT_STOPS, self._finish, calls=bool(self._calls))
        text = joined("".join(self._text)) or refusal
        thinking = joined("".join(self._thinking))
        return ModelReply(
            text=text,
            calls=self._requested_calls(cut=stop == "max_tokens"),
            stop="refusal" if refusal else stop,
            usage=self._token_usage(text, thinking),
            thinking=thinking,
            raw=self._raw(thinking),
        )

    def _raw(self, thinking: str) -> Any:
        """None: no server wants thinking back that no call followed."""
        if not thinking or not self._calls:
            return None
        return {"api": API, "model": self._model, "name": self._thinking_field}

    def _requested_calls(self, *, cut: bool) -> tuple[RequestedCall, ...]:
        last = len(self._calls) - 1
        return tuple(
            parse_call(call["name"], call["json"], cut=cut and position == last)
            for position, call in enumerate(self._calls)
        )

    def _token_usage(self, *written: str) -> TokenUsage:
        details = getattr(self._usage, "prompt_tokens_details", None)
        prompt = int(getattr(self._usage, "prompt_tokens", None) or 0)
        output = int(getattr(self._usage, "completion_tokens", None) or 0)
        size = utf8_size(*written, *(call["json"] for call in self._calls))
        return TokenUsage(
            input=prompt or estimate_tokens(self._request_bytes()),
            output=output or estimate_tokens(size),
            cached_input=int(getattr(details, "cached_tokens", None) or 0),
            cache_write=int(getattr(details, "cache_write_tokens", None) or 0),
        )


def _begins_another_call(part: Any, known: dict[str, str]) -> bool:
    """Whether the part is not of the `known` call with the same index. It is not where its id differs. Where neither
    has an id: where its name differs, or where the known call's arguments are complete and the part brings more.
    """
    if part.id or known["id"]:
        return bool(part.id and known["id"] and part.id != known["id"])
    name, more = (part.function.name, part.function.arguments) if part.function is not None else ("", "")
    if name and known["name"] and name != known["name"]:
        return True
    return bool((more or "").strip()) and _is_object(known["json"])


def _is_object(text: str) -> bool:
    if not text.rstrip().endswith("}"):
        return False
    try:
        parse_object(text)
    except InvalidJson:
        return False
    return True


def _thinking_in(delta: Any) -> tuple[str, str]:
    """The field's name and its text, both empty where there is none."""
    for field in THINKING_FIELDS:
        value = getattr(delta, field, None)
        if isinstance(value, str) and value:
            return field, value
    return "", ""
