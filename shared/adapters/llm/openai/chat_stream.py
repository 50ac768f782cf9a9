"""A Chat Completions stream, chunk by chunk, as one reply. Without a finish reason it is broken."""

from collections.abc import Callable
from typing import Any

from shared.adapters.llm.common import stops
from shared.adapters.llm.common import tokens as estimate
from shared.adapters.llm.common.tool_arguments import NotJson, parse_object, readable, requested
from shared.domain.errors import StreamBroken
from shared.ports.model import ModelReply, RequestedCall, TokenUsage

API = "chat"
"""What a kept part says it is meant for, since another API of the same provider cannot take it."""
THINKING = ("reasoning_content", "reasoning")
"""OpenAI shows none here; compatible servers use one of these names."""


class Reading:
    """What has arrived so far. `feed` each chunk, then `reply`. `on_text` is given the text as it comes."""

    def __init__(self, model: str, asked_bytes: int, on_text: Callable[[str], None] | None = None) -> None:
        """`asked_bytes`: of the request, for an estimate where a compatible server reports no usage."""
        self._model = model
        self._asked_bytes = asked_bytes
        self._on_text = on_text
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._thinking_name = ""
        self._refusal: list[str] = []
        self._calls: list[dict[str, str]] = []
        self._at: dict[int, int] = {}
        self._finish: str | None = None
        self._usage: Any = None

    def says(self, chunk: Any) -> bool:
        deltas = [choice.delta for choice in chunk.choices or () if choice.delta is not None]
        return any(
            delta.content or delta.tool_calls or getattr(delta, "refusal", None) or _thought(delta)[1]
            for delta in deltas
        )

    def feed(self, chunk: Any) -> None:
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices or ():
            delta = choice.delta
            if delta is not None:
                self._text.append(delta.content or "")
                if self._on_text is not None and delta.content:
                    self._on_text(delta.content)
                self._refusal.append(getattr(delta, "refusal", None) or "")
                name, thought = _thought(delta)
                self._thinking.append(thought)
                self._thinking_name = self._thinking_name or name
                for part in delta.tool_calls or ():
                    self._feed_call(part)
            self._finish = choice.finish_reason or self._finish

    def _feed_call(self, part: Any) -> None:
        """Parts belong together by index; some servers send every call under index 0."""
        place = self._at.get(part.index) if part.index is not None else len(self._calls) - 1
        known = self._calls[place] if place is not None and place >= 0 else None
        if known is None or _begins(part, known):
            place = len(self._calls)
            self._calls.append({"id": part.id or "", "name": known["name"] if known else "", "json": ""})
            if part.function is not None and part.function.name:
                self._calls[place]["name"] = part.function.name
        assert place is not None
        self._calls[place]["id"] = self._calls[place]["id"] or part.id or ""
        if part.index is not None:
            self._at[part.index] = place
        if part.function is not None:
            self._calls[place]["name"] = self._calls[place]["name"] or part.function.name or ""
            self._calls[place]["json"] += part.function.arguments or ""

    @property
    def is_whole(self) -> bool:
        """The usage may still come; the SDK knows the end's mark by itself."""
        return False

    def reply(self) -> ModelReply:
        if self._finish is None:
            raise StreamBroken("openai: the answer ended before it was complete")
        refusal = readable("".join(self._refusal))
        stop = stops.meaning(stops.CHAT, self._finish, calls=bool(self._calls))
        text = readable("".join(self._text)) or refusal
        thinking = readable("".join(self._thinking))
        return ModelReply(
            text=text,
            calls=self._requested(cut=stop == "max_tokens"),
            stop="refusal" if refusal else stop,
            usage=self._counted(text, thinking),
            thinking=thinking,
            raw=self._raw(thinking),
        )

    def _raw(self, thinking: str) -> Any:
        """What servers want back is what was thought before a call; the entry holds the text already."""
        if not thinking or not self._calls:
            return None
        return {"api": API, "model": self._model, "name": self._thinking_name}

    def _requested(self, *, cut: bool) -> tuple[RequestedCall, ...]:
        last = len(self._calls) - 1
        return tuple(
            requested(call["name"], call["json"], cut=cut and position == last)
            for position, call in enumerate(self._calls)
        )

    def _counted(self, *written: str) -> TokenUsage:
        details = getattr(self._usage, "prompt_tokens_details", None)
        asked = int(getattr(self._usage, "prompt_tokens", None) or 0)
        answered = int(getattr(self._usage, "completion_tokens", None) or 0)
        size = estimate.size(*written, *(call["json"] for call in self._calls))
        return TokenUsage(
            input=asked or estimate.tokens(self._asked_bytes),
            output=answered or estimate.tokens(size),
            cached_input=int(getattr(details, "cached_tokens", None) or 0),
            cache_write=int(getattr(details, "cache_write_tokens", None) or 0),
        )


def _begins(part: Any, known: dict[str, str]) -> bool:
    """Whether the part is of another call than the `known` one of its index: it has another id, or, where there are
    none, another name, or there is more of it than one whole object."""
    if part.id or known["id"]:
        return bool(part.id and known["id"] and part.id != known["id"])
    name, more = (part.function.name, part.function.arguments) if part.function is not None else ("", "")
    if name and known["name"] and name != known["name"]:
        return True
    return bool((more or "").strip()) and _is_whole(known["json"])


def _is_whole(text: str) -> bool:
    if not text.rstrip().endswith("}"):
        return False
    try:
        parse_object(text)
    except NotJson:
        return False
    return True


def _thought(delta: Any) -> tuple[str, str]:
    """Its name and the text; empty where there is none."""
    for name in THINKING:
        value = getattr(delta, name, None)
        if isinstance(value, str) and value:
            return name, value
    return "", ""
