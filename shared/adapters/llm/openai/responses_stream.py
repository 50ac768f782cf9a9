"""A Responses API stream, event by event, as one reply.

Text counts as it arrives; everything else counts when its item is complete, so half of a call's arguments is never
taken for the whole. Without a final event that holds the response's status the answer is broken.
"""

from collections.abc import Callable
from typing import Any

from shared.adapters.llm import errors as failures
from shared.adapters.llm.common import stops
from shared.adapters.llm.common import tokens as estimate
from shared.adapters.llm.common.tool_arguments import CUT_OFF, readable, requested, storable
from shared.adapters.llm.errors import told
from shared.adapters.llm.openai.client import PROVIDER
from shared.domain.errors import ActaError, StreamBroken
from shared.ports.model import ModelReply, RequestedCall, StopReason, TokenUsage

API = "responses"
"""What a kept part says it is meant for, since another API of the same provider cannot take it."""

_REJECTED = frozenset({"invalid_prompt", "data_residency_mismatch"})


class _Item:
    """One output item: `whole` is the item itself once it has been completed."""

    def __init__(self, opened: Any) -> None:
        self.type = str(opened.type)
        self.name = getattr(opened, "name", None) or ""
        self.text = ""
        self.refusal = ""
        self.whole: Any = None

    def complete(self, item: Any) -> None:
        self.name = getattr(item, "name", None) or self.name
        if self.type == "message":
            self.text = "".join(p.text or "" for p in item.content if p.type == "output_text")
            self.refusal = "".join(p.refusal or "" for p in item.content if p.type == "refusal")
        if getattr(item, "status", None) not in ("incomplete", "in_progress"):
            self.whole = item


class Reading:
    """What has arrived so far. `feed` each event, then `reply`."""

    def __init__(self, model: str, asked_bytes: int, on_text: Callable[[str], None] | None = None) -> None:
        """`asked_bytes`: of the request, for an estimate where a compatible server reports no usage. `on_text` is
        given the text as it comes."""
        self._model = model
        self._on_text = on_text
        self._asked_bytes = asked_bytes
        self._items: dict[int, _Item] = {}
        self._response: Any = None

    def says(self, event: Any) -> bool:
        return str(event.type).startswith(("response.output", "response.refusal", "response.function_call"))

    def feed(self, event: Any) -> None:
        match event.type:
            case "response.output_item.added":
                self._items[event.output_index] = _Item(event.item)
            case "response.output_text.delta":
                self._items[event.output_index].text += event.delta
                if self._on_text is not None:
                    self._on_text(event.delta)
            case "response.refusal.delta":
                self._items[event.output_index].refusal += event.delta
            case "response.output_item.done":
                self._items.setdefault(event.output_index, _Item(event.item)).complete(event.item)
            case "response.completed" | "response.incomplete" | "response.failed":
                self._response = event.response
            case "error":
                raise _failed(event, begun=bool(self._items))

    @property
    def is_whole(self) -> bool:
        return self._response is not None

    def reply(self) -> ModelReply:
        response = self._response
        if response is None or response.status not in ("completed", "incomplete", "failed"):
            raise StreamBroken("openai: the answer ended before it was complete")
        if response.status == "failed" and getattr(response.error, "code", None) not in stops.POLICY:
            raise _failed(response.error, begun=bool(self._items))
        items = [self._items[index] for index in sorted(self._items)]
        word = getattr(response.incomplete_details, "reason", None) or response.status
        calls = [item for item in items if item.type == "function_call"]
        stop: StopReason = "refusal"
        if response.status != "failed":
            stop = stops.meaning(stops.RESPONSES, word, calls=bool(calls))
        refusal = readable("".join(item.refusal for item in items))
        text = readable("".join(item.text for item in items))
        return ModelReply(
            text=text or refusal,
            calls=tuple(_requested(item, cut=stop == "max_tokens" and item is items[-1]) for item in calls),
            stop="refusal" if refusal else stop,
            usage=self._counted(items),
            thinking="\n\n".join(_thoughts(items)),
            raw=self._raw(items),
        )

    def _counted(self, items: list[_Item]) -> TokenUsage:
        usage = self._response.usage
        arguments = [item.whole.arguments or "" for item in items if _is_call(item)]
        size = estimate.size(*arguments, *(item.text for item in items), *_thoughts(items))
        details = getattr(usage, "input_tokens_details", None)
        return TokenUsage(
            input=int(getattr(usage, "input_tokens", None) or 0) or estimate.tokens(self._asked_bytes),
            output=int(getattr(usage, "output_tokens", None) or 0) or estimate.tokens(size),
            cached_input=int(getattr(details, "cached_tokens", None) or 0),
            cache_write=int(getattr(details, "cache_write_tokens", None) or 0),
        )

    def _raw(self, items: list[_Item]) -> Any:
        """Reasoning in its place among the other items, whose contents the entry holds already. Where some cannot be
        stored as it came nothing is kept: what followed it is refused without it."""
        if not all(map(_is_storable, items)):
            return None
        kept = [part for part in map(_kept, items) if part is not None]
        if not any(part["type"] == "reasoning" or part.get("phase") for part in kept):
            return None
        return {"api": API, "model": self._model, "items": kept}


def _is_call(item: _Item) -> bool:
    return item.type == "function_call" and item.whole is not None


def _requested(item: _Item, *, cut: bool) -> RequestedCall:
    if item.whole is None:
        return RequestedCall(readable(item.name), None, CUT_OFF)
    return requested(item.name, item.whole.arguments or "", cut=cut)


def _is_storable(item: _Item) -> bool:
    parts = _kept(item) or {}
    texts = [value for value in parts.values() if isinstance(value, str)]
    texts += [part["text"] for part in parts.get("summary", ())]
    return all(storable(text) == text for text in texts)


def _kept(item: _Item) -> dict[str, Any] | None:
    """Unreadable reasoning, which the server would look up by its id and not find, is left out."""
    whole = item.whole
    if item.type == "message":
        known = {"id": whole.id, "phase": getattr(whole, "phase", None)} if whole is not None else {}
        told = {key: value for key, value in known.items() if value}
        return {"type": "message", "chars": len(readable(item.text)), **told}
    if item.type == "function_call":  # a cut one keeps its place
        return {"type": "function_call", **({"id": whole.id, "call_id": whole.call_id} if whole else {})}
    if item.type == "reasoning" and whole is not None and getattr(whole, "encrypted_content", None):
        summary = [{"type": "summary_text", "text": part.text} for part in whole.summary or ()]
        told = {"id": whole.id, "summary": summary, "encrypted_content": whole.encrypted_content}
        return {"type": "reasoning", **told}
    return None


def _thoughts(items: list[_Item]) -> list[str]:
    """OpenAI shows summaries where they are asked for; servers of open models show the reasoning itself."""
    return [
        readable(part.text)
        for item in items
        if item.type == "reasoning" and item.whole is not None
        for part in [*(item.whole.summary or ()), *(getattr(item.whole, "content", None) or ())]
    ]


def _failed(error: Any, *, begun: bool) -> ActaError:
    """`error`: an `error` event, or a failed response's; the server may name no reason at all."""
    code, kind = getattr(error, "code", None), getattr(error, "type", None)
    rejected = "invalid_request_error" if isinstance(code, str) and code in _REJECTED else None
    kinds = (code, kind if kind != "error" else None, rejected, told(getattr(error, "message", None)))
    return failures.from_stream(PROVIDER, {}, kinds=kinds, begun=begun)
