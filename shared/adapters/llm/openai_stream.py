"""A Chat Completions stream, chunk by chunk, as one reply. Without a finish reason it is broken."""

from collections.abc import Callable
from typing import Any

from shared.adapters.llm import stops
from shared.adapters.llm.tool_input import readable, requested
from shared.domain.errors import StreamBroken
from shared.ports.model import ModelReply, RequestedCall, TokenUsage

_CHARS_PER_TOKEN = 4


class Reading:
    """What has arrived so far. `feed` each chunk, then `reply`. `on_text` is given the text as it comes."""

    def __init__(self, prompt_chars: int, on_text: Callable[[str], None] | None = None) -> None:
        """`prompt_chars`: for an estimate where a compatible server reports no usage."""
        self._prompt_chars = prompt_chars
        self._on_text = on_text
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[dict[str, str]] = []
        self._at: dict[int, int] = {}
        self._finish: str | None = None
        self._usage: Any = None

    def feed(self, chunk: Any) -> None:
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices or ():
            delta = choice.delta
            if delta is not None:
                self._text.append(delta.content or "")
                if self._on_text is not None and delta.content:
                    self._on_text(delta.content)
                self._refusal.append(getattr(delta, "refusal", None) or "")
                self._thinking.append(_reasoning(delta))
                for part in delta.tool_calls or ():
                    self._feed_call(part)
            self._finish = choice.finish_reason or self._finish

    def _feed_call(self, part: Any) -> None:
        """Parts belong together by index; some servers send every call under index 0, each with an id of its
        own."""
        place = self._at.get(part.index) if part.index is not None else len(self._calls) - 1
        known = self._calls[place]["id"] if place is not None and place >= 0 else None
        if known is None or (part.id and known and part.id != known):
            place = len(self._calls)
            self._calls.append({"id": part.id or "", "name": "", "json": ""})
        assert place is not None
        if part.index is not None:
            self._at[part.index] = place
        if part.function is not None:
            self._calls[place]["name"] = self._calls[place]["name"] or part.function.name or ""
            self._calls[place]["json"] += part.function.arguments or ""

    def reply(self) -> ModelReply:
        if self._finish is None:
            raise StreamBroken("openai: the answer ended before it was complete")
        refusal = readable("".join(self._refusal))
        stop = stops.meaning(stops.CHAT, self._finish, calls=bool(self._calls))
        text = readable("".join(self._text)) or refusal
        return ModelReply(
            text=text,
            calls=self._requested(cut=stop == "max_tokens"),
            stop="refusal" if refusal else stop,
            usage=self._counted(len(text)),
            thinking=readable("".join(self._thinking)),
        )

    def _requested(self, *, cut: bool) -> tuple[RequestedCall, ...]:
        last = len(self._calls) - 1
        return tuple(
            requested(call["name"], call["json"], cut=cut and position == last)
            for position, call in enumerate(self._calls)
        )

    def _counted(self, reply_chars: int) -> TokenUsage:
        if self._usage is None:
            written = reply_chars + sum(len(call["json"]) for call in self._calls)
            return TokenUsage(self._prompt_chars // _CHARS_PER_TOKEN, written // _CHARS_PER_TOKEN)
        details = getattr(self._usage, "prompt_tokens_details", None)
        return TokenUsage(
            input=int(self._usage.prompt_tokens or 0),
            output=int(self._usage.completion_tokens or 0),
            cached_input=int(getattr(details, "cached_tokens", None) or 0),
            cache_write=int(getattr(details, "cache_write_tokens", None) or 0),
        )


def _reasoning(delta: Any) -> str:
    """OpenAI shows none here; compatible servers use one of these names."""
    for name in ("reasoning_content", "reasoning"):
        value = getattr(delta, name, None)
        if isinstance(value, str):
            return value
    return ""
