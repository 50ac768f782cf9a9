"""Builds a reply from the events of a Responses API stream.

Text counts as it arrives. Everything else counts when its item is complete, so half of a call's arguments is never
taken for the whole. A stream without a final event that holds the response's status is broken.

Reasoning has to go back with the items around it. `ModelReply.raw` keeps what that takes: `{"api", "model", "items"}`,
the items in their order. A reasoning item is kept whole. Of a message and of a call only ids and the text's length in
characters are kept, because the entry holds their contents already.
"""

from collections.abc import Callable
from typing import Any

from acta_engine.errors import ActaError, StreamBroken
from acta_engine.models.common.stops import DECLINED_CODES, RESPONSES_STOPS, stop_reason
from acta_engine.models.common.token_estimate import estimate_tokens, utf8_size
from acta_engine.models.common.tool_arguments import CUT_OFF, joined, joined_exactly, parse_call
from acta_engine.models.errors import error_from_stream, name_in
from acta_engine.models.model import ModelReply, RequestedCall, StopReason, TokenUsage
from acta_engine.models.openai.client import PROVIDER

API = "responses"
"""Stands in `raw`, because OpenAI's other API cannot take back what this one gave."""


class _Item:
    """One output item. `completed`: the SDK's item once it is complete, None before and where it was cut off."""

    def __init__(self, opened: Any) -> None:
        self.type = str(opened.type)
        self.name = getattr(opened, "name", None) or ""
        self.text = ""
        self.refusal = ""
        self.completed: Any = None

    def complete(self, item: Any) -> None:
        self.name = getattr(item, "name", None) or self.name
        if self.type == "message":
            self.text = "".join(p.text or "" for p in item.content if p.type == "output_text")
            self.refusal = "".join(p.refusal or "" for p in item.content if p.type == "refusal")
        if getattr(item, "status", None) not in ("incomplete", "in_progress"):
            self.completed = item


class ResponsesReplyBuilder:
    """See `ReplyBuilder` in `common/stream.py`."""

    def __init__(
        self, model: str, request_bytes: Callable[[], int], on_text: Callable[[str], None] | None = None
    ) -> None:
        self._model = model
        self._request_bytes = request_bytes
        self._on_text = on_text
        self._items: dict[int, _Item] = {}
        self._response: Any = None

    def has_content(self, event: Any) -> bool:
        return str(event.type).startswith(("response.output", "response.refusal", "response.function_call"))

    def add(self, event: Any) -> None:
        """Raises the error that an `error` event reports."""
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
                raise _failure(event, begun=bool(self._items))

    def take(self, response: Any) -> None:
        """A whole response, that was not streamed."""
        self._items = {number: _Item(item) for number, item in enumerate(response.output)}
        for number, item in enumerate(response.output):
            self._items[number].complete(item)
        self._response = response

    @property
    def is_complete(self) -> bool:
        return self._response is not None

    def reply(self) -> ModelReply:
        """Raises StreamBroken, or the error that a failed response reports."""
        response = self._response
        if response is None or response.status not in ("completed", "incomplete", "failed"):
            raise StreamBroken("openai: the answer ended before it was complete")
        if response.status == "failed" and getattr(response.error, "code", None) not in DECLINED_CODES:
            raise _failure(response.error, begun=bool(self._items))
        items = [self._items[index] for index in sorted(self._items)]
        calls = [item for item in items if item.type == "function_call"]
        stop: StopReason = "refusal"
        if response.status != "failed":
            word = getattr(response.incomplete_details, "reason", None) or response.status
            stop = stop_reason(RESPONSES_STOPS, word, calls=bool(calls))
        refusal = joined("".join(item.refusal for item in items))
        text = joined("".join(item.text for item in items))
        return ModelReply(
            text=text or refusal,
            calls=tuple(
                _requested_call(item, cut=stop == "max_tokens" and item is items[-1]) for item in calls
            ),
            stop="refusal" if refusal else stop,
            usage=self._token_usage(items),
            thinking="\n\n".join(_thinking(items)),
            raw=self._raw(items),
        )

    def _token_usage(self, items: list[_Item]) -> TokenUsage:
        usage = self._response.usage
        details = getattr(usage, "input_tokens_details", None)
        arguments = [
            item.completed.arguments or ""
            for item in items
            if item.type == "function_call" and item.completed is not None
        ]
        size = utf8_size(*arguments, *(item.text for item in items), *_thinking(items))
        return TokenUsage(
            input=int(getattr(usage, "input_tokens", None) or 0) or estimate_tokens(self._request_bytes()),
            output=int(getattr(usage, "output_tokens", None) or 0) or estimate_tokens(size),
            cached_input=int(getattr(details, "cached_tokens", None) or 0),
            cache_write=int(getattr(details, "cache_write_tokens", None) or 0),
        )

    def _raw(self, items: list[_Item]) -> Any:
        """None: there is no reasoning to keep, or a part of it cannot be stored as it came. The API refuses the items
        that follow a missing one, so then nothing is kept.
        """
        if not all(map(_is_storable, items)):
            return None
        kept = [part for part in map(_kept_part, items) if part is not None]
        if not any(part["type"] == "reasoning" or part.get("phase") for part in kept):
            return None
        return {"api": API, "model": self._model, "items": kept}


def _requested_call(item: _Item, *, cut: bool) -> RequestedCall:
    if item.completed is None:
        return RequestedCall(joined(item.name), None, CUT_OFF)
    return parse_call(item.name, item.completed.arguments or "", cut=cut)


def _is_storable(item: _Item) -> bool:
    part = _kept_part(item) or {}
    texts = [value for value in part.values() if isinstance(value, str)]
    texts += [summary["text"] for summary in part.get("summary", ())]
    return all(joined_exactly(text) == text for text in texts)


def _kept_part(item: _Item) -> dict[str, Any] | None:
    """What is kept of the item in `raw`. None: nothing. Reasoning that is not encrypted is left out: the server would
    look it up by its id, and has not stored it.
    """
    completed = item.completed
    if item.type == "message":
        known = (
            {"id": completed.id, "phase": getattr(completed, "phase", None)} if completed is not None else {}
        )
        present = {key: value for key, value in known.items() if value}
        return {"type": "message", "chars": len(joined(item.text)), **present}
    if item.type == "function_call":  # one that was cut off keeps its place
        ids = {"id": completed.id, "call_id": completed.call_id} if completed else {}
        return {"type": "function_call", **ids}
    if item.type == "reasoning" and completed is not None and getattr(completed, "encrypted_content", None):
        summary = [{"type": "summary_text", "text": part.text} for part in completed.summary or ()]
        encrypted = completed.encrypted_content
        return {"type": "reasoning", "id": completed.id, "summary": summary, "encrypted_content": encrypted}
    return None


def _thinking(items: list[_Item]) -> list[str]:
    """OpenAI shows summaries where they are asked for. Servers of open models show the reasoning itself."""
    return [
        joined(part.text)
        for item in items
        if item.type == "reasoning" and item.completed is not None
        for part in [*(item.completed.summary or ()), *(getattr(item.completed, "content", None) or ())]
    ]


_REJECTED_CODES = frozenset({"invalid_prompt", "data_residency_mismatch"})
"""Codes of a failed response that no retry changes."""


def _failure(error: Any, *, begun: bool) -> ActaError:
    """`error`: an `error` event, or a failed response's error. A server may give neither code nor message."""
    code, kind = getattr(error, "code", None), getattr(error, "type", None)
    rejected = "invalid_request_error" if isinstance(code, str) and code in _REJECTED_CODES else None
    message = getattr(error, "message", None)
    names = (code, kind if kind != "error" else None, rejected, name_in(message))
    return error_from_stream(PROVIDER, {}, names=names, begun=begun)
