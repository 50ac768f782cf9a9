"""OpenAI's Responses API: what its newer models need to reason and call tools in one turn, and its answers in the
background.

The server stores nothing, so a request holds the whole conversation. The API caches a request's content and finds it
again only where the next request begins with the same content. So all items are made from the entries alone, and the
suffix, which changes every turn, is the last item. Models from GPT 5.6 on find a cached prefix at a breakpoint only,
and would set their own after the suffix. They get three: after the system prompt, at the end of the last item before
the suffix, and where the previous request had that end. Breakpoints are no part of the content.

Reasoning goes back to the model that it came from, in its place and encrypted as it came, with the items around it. The
API itself leaves out what the model cannot use any more. `ModelReply.raw` keeps what that takes: `{"api", "model",
"items"}`, the items in their order. A reasoning item is kept whole. Of a message and of a call only ids and the text's
length in characters are kept, because the entry holds their contents already.

In the stream, text counts as it arrives. Everything else counts when its item is complete, so half of a call's
arguments is never taken for the whole. A stream without a final event that holds the response's status is broken. Of an
item that never began, that event has all.

In the background the server makes the answer by itself, and is asked for it by its id. Source: OpenAI's guide
"Background mode" and the types of its SDK 3.54, read 2026-11-23. A response is `queued`, `in_progress`, and in the end
`completed`, `incomplete`, `failed` or `cancelled`. Its server has to keep it until it has been fetched: with `store` it
keeps it for 30 days at least, unless it is deleted. So Acta deletes what it has committed. No request of this API is
idempotent: there is no key that two tries of a `create` could have in common.

A kept response comes without its reasoning, and a look that asks for it (`include`) is refused with 400, "Encrypted
content cannot be requested for persisted responses" (pydantic/pydantic-ai#6611, on gpt-5.6-sol, July 2026). So the
conversation goes on without the reasoning of such a reply, and without the ids of its items: the API refuses an item
whose id it knows without the reasoning that led to it.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from acta.engine.errors import ActaError, ModelRefused, ProviderRejected, StreamBroken
from acta.engine.log.conversation import AssistantEntry, ToolCall
from acta.engine.models.answer_format import answer_format
from acta.engine.models.calls import CallProgress, ReplyBuilder, ask_with_format, declined, run_within
from acta.engine.models.errors import error_from_stream, name_in
from acta.engine.models.model import (
    BackgroundCalls,
    BackgroundResponse,
    ModelReply,
    ModelRequest,
    RequestedCall,
    StopReason,
    TokenUsage,
)
from acta.engine.models.openai.capabilities import (
    effort_within,
    returns_encrypted_reasoning,
    takes_breakpoints,
)
from acta.engine.models.openai.client import (
    PROVIDER,
    NotFoundThere,
    OpenAIClient,
    OpenAIStreamed,
    ReasoningUnreadable,
)
from acta.engine.models.wire import (
    CUT_OFF,
    GO_ON,
    OPENAI_TOOLS,
    RESPONSES_STOPS,
    ConversationTurn,
    body_size,
    cache_key,
    category_of,
    compact,
    joined,
    joined_exactly,
    json_text,
    kept_of,
    paragraphs,
    parse_call,
    rendered,
    stop_reason,
    wire_tool_name,
    wire_tools,
    with_wire_ids,
)

API = "responses"
"""Stands in `raw`, because OpenAI's other API cannot take back what this one gave."""
MIN_OUTPUT_TOKENS = 16
"""With less the API refuses the request."""
_BREAKPOINT = {"mode": "explicit"}

Item = dict[str, Any]


ENCRYPTED_REASONING = "reasoning.encrypted_content"
_REJECTED_CODES = frozenset({"invalid_prompt", "data_residency_mismatch"})
"""Codes of a failed response that no retry changes."""
T = TypeVar("T")
UNFINISHED = ("queued", "in_progress")
ENDED = ("completed", "incomplete", "failed", "cancelled")


class OpenAIResponsesModel(OpenAIStreamed):
    @property
    def in_background(self) -> BackgroundCalls:
        return ResponsesInBackground(self._client)

    def _call(self, request: ModelRequest, timeout: float, progress: CallProgress) -> ModelReply:
        """Asks again without the kept reasoning where the server cannot read it. A key of another organisation makes it
        unreadable for good, and the session could never go on.
        """
        try:
            return self._send(request, timeout, progress, reasoning=True)
        except ReasoningUnreadable:
            pass
        return self._send(request, timeout, progress, reasoning=False)

    def _send(
        self, request: ModelRequest, timeout: float, progress: CallProgress, *, reasoning: bool
    ) -> ModelReply:
        body = to_body(request, official=self._client.official, reasoning=reasoning, provider=self.provider)
        create = self._client.sdk_client.responses.create
        return self._client.call(create, body, ResponsesReplyBuilder, request, timeout, progress)


class ResponsesInBackground:
    """See `BackgroundCalls` in `acta/engine/models/model.py`."""

    def __init__(self, client: OpenAIClient) -> None:
        self._client = client

    def start(self, request: ModelRequest, *, timeout: float) -> str | ModelReply:
        """Raises ProviderTimeout and ProviderUnavailable also where the response may have been made: nobody knows its
        id.
        """
        try:
            return ask_with_format(lambda each: self._begun(each, timeout), request)
        except ModelRefused as refused:
            return declined(refused)

    def result(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        return self._look(self._responses.retrieve, response, timeout)

    def cancel(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        try:
            return self._look(self._responses.cancel, response, timeout)
        except ProviderRejected:  # it has ended already
            return self.result(response, timeout=timeout)

    def forget(self, response: BackgroundResponse, *, timeout: float) -> None:
        delete = partial(self._responses.delete, response.response_id)
        with suppress(NotFoundThere):
            self._within(timeout, delete, lambda deleted: None)

    @property
    def _responses(self) -> Any:
        self._client.load()
        return self._client.sdk_client.responses.with_raw_response

    def _begun(self, request: ModelRequest, timeout: float) -> str | ModelReply:
        try:
            return self._create(request, timeout, reasoning=True)
        except ReasoningUnreadable:
            return self._create(request, timeout, reasoning=False)

    def _create(self, request: ModelRequest, timeout: float, *, reasoning: bool) -> str | ModelReply:
        body = to_body(
            request,
            official=self._client.official,
            reasoning=reasoning,
            background=True,
            provider=self._client.provider,
        )

        def read(created: Any) -> str | ModelReply | ActaError:
            response_id = created.id if isinstance(created.id, str) else ""
            if created.status not in UNFINISHED:
                ended = self._ended(created, request.model, body_size(body))
                return ended._replace(response_id=response_id) if isinstance(ended, ModelReply) else ended
            if not response_id:
                raise StreamBroken(f"{self._client.provider}: the response that was begun has no id")
            return response_id

        begun = self._within(timeout, partial(self._responses.create, **body), read)
        if isinstance(begun, ActaError):
            raise begun
        return begun

    def _look(
        self, ask: Callable[..., Any], response: BackgroundResponse, timeout: float
    ) -> ModelReply | ActaError | None:
        def read(found: Any) -> ModelReply | ActaError | None:
            if found.status not in (*UNFINISHED, *ENDED):
                raise StreamBroken(f"{self._client.provider}: the answer to a look is no response")
            return None if found.status in UNFINISHED else self._ended(found, response.model, response.bytes)

        return self._within(timeout, partial(ask, response.response_id), read)

    def _within(self, timeout: float, send: Callable[..., Any], read: Callable[[Any], T]) -> T:
        return run_within(timeout, self._client.provider, lambda _: self._client.ask(send, read, timeout))

    def _ended(self, response: Any, model: str, request_bytes: int) -> ModelReply | ActaError:
        builder = ResponsesReplyBuilder(model, lambda: request_bytes, provider=self._client.provider)
        builder.take(response)
        try:
            return builder.reply()
        except ActaError as error:
            # It is incomplete for a reason that is not known. Asking the model again would cost the same.
            if response.status == "incomplete":
                raise
            return error


def to_body(
    request: ModelRequest,
    *,
    official: bool,
    reasoning: bool = True,
    background: bool = False,
    provider: str = PROVIDER,
) -> dict[str, Any]:
    """The keyword arguments of `responses.create`, without `timeout`. `official`: OpenAI itself is asked. `reasoning`
    False: without what was kept of earlier replies. `background`: the server makes the answer by itself and keeps it.
    `provider`: who is asked; reasoning goes back to it alone.
    """
    with_breakpoints = official and takes_breakpoints(request.model)
    items = [_message("system", request.system)] if request.system.strip() else []
    items += to_items(request, provider, in_blocks=with_breakpoints, reasoning=reasoning)
    if with_breakpoints:
        _set_breakpoints(items)
    if request.suffix.strip():
        items.append(_message("user", request.suffix))
    elif not items or items[-1].get("role") in ("assistant", "system"):
        items.append(_message("user", GO_ON))
    body: dict[str, Any] = {
        "model": request.model,
        "input": items,
        "max_output_tokens": max(request.max_tokens, MIN_OUTPUT_TOKENS),
        "stream": not background,
        "store": background,
    }
    if background:
        body["background"] = True
    if official:
        body["prompt_cache_key"] = cache_key(request)
    if with_breakpoints:
        body["prompt_cache_options"] = _BREAKPOINT
    if returns_encrypted_reasoning(request.model):
        body["include"] = [ENCRYPTED_REASONING]
    wanted = request.parameters.taken(provider, request.model)
    effort = wanted.effort or effort_within(request.model, request.max_tokens)
    if effort is not None:
        body["reasoning"] = {"effort": effort}
    if wanted.temperature is not None:
        body["temperature"] = wanted.temperature
    if (schema := answer_format(request.answer_schema, all_required=True)) is not None:
        body["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": True}}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
                "strict": False,  # strict mode takes only a part of JSON Schema
            }
            for tool in wire_tools(request.tools, OPENAI_TOOLS)
        ]
        body["tool_choice"] = "auto"
    return body


def to_items(
    request: ModelRequest, provider: str = PROVIDER, *, in_blocks: bool, reasoning: bool = True
) -> list[Item]:
    """All items without the suffix. `provider`, `reasoning`: as in `to_body`. `in_blocks`: results as blocks, which can
    carry a breakpoint, instead of plain text. Other requests share the items, so none may be changed.
    """
    model = request.model if reasoning else ""

    def add(items: list[Item], turns: Iterable[ConversationTurn]) -> None:
        used = {item["call_id"] for item in items if "call_id" in item}
        for turn in turns:
            turn = with_wire_ids(turn, items)
            if turn.reply is not None:
                kept = kept_of(turn.reply, provider, model, API).get("items", [])
                ids = _call_ids(turn.reply, kept, used)
                items += _reply_items(turn.reply, kept, ids)
                for answered, call_id in zip(turn.calls, ids, strict=True):
                    output: Any = [_text(answered.text)] if in_blocks else answered.text
                    items.append({"type": "function_call_output", "call_id": call_id, "output": output})
            items += [_message("user", text) for text in turn.texts]

    return rendered(request, (API, provider, model, in_blocks), add)


def _call_ids(reply: AssistantEntry, kept: list[Item], used: set[str]) -> list[str]:
    """An id for each call: the provider's where it was kept and no earlier call has it, else Acta's. Adds to `used`."""
    provider_ids = iter([part.get("call_id") for part in kept if part["type"] == "function_call"])
    ids = []
    for call in reply.calls:
        provider_id = next(provider_ids, None)
        ids.append(provider_id if provider_id and provider_id not in used else call.call_id)
        used.add(ids[-1])
    return ids


def _reply_items(reply: AssistantEntry, kept: list[Item], ids: list[str]) -> list[Item]:
    """The kept items in their order, then what is left of the text and of the calls."""
    calls = zip(reply.calls, ids, strict=True)
    text = reply.content.loaded
    items: list[Item] = []
    for part in kept:
        if part["type"] == "message":
            piece, text = text[: part["chars"]], text[part["chars"] :]
            items += [_reply_message(piece, part)] if piece.strip() else []
        elif part["type"] == "function_call":
            items += [_function_call(call, call_id, part.get("id")) for call, call_id in islice(calls, 1)]
        else:
            items.append(dict(part))
    while items and items[-1]["type"] == "reasoning":  # refused where nothing follows that it led to
        items.pop()
    if text.strip():
        items.append(_reply_message(text, {}))  # llama.cpp takes no reply without its type
    return items + [_function_call(call, call_id) for call, call_id in calls]


def _reply_message(text: str, part: Item) -> Item:
    item: Item = {"type": "message", "role": "assistant", "content": text}
    if "id" in part:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        item |= {"status": "completed", "content": content}
    return item | {key: part[key] for key in ("id", "phase") if key in part}


def _function_call(call: ToolCall, call_id: str, item_id: str | None = None) -> Item:
    item: Item = {
        "type": "function_call",
        "call_id": call_id,
        "name": wire_tool_name(call.name),
        "arguments": compact(call.input or {}),
    }
    return {**item, "id": item_id} if item_id else item


def _message(role: str, text: str) -> Item:
    return {"role": role, "content": [_text(text)]}


def _text(text: str) -> Item:
    return {"type": "input_text", "text": text}


def _set_breakpoints(items: list[Item]) -> None:
    """Only input can carry a breakpoint: texts to the model and results. Items of input in a row are one group; the
    last two groups get a breakpoint at their ends, and the system prompt gets one.
    """
    ends = (
        position
        for position in range(len(items) - 1, -1, -1)
        if _input_blocks(items[position]) and not any(map(_input_blocks, items[position + 1 : position + 2]))
    )
    system = [0] if items[:1] and items[0].get("role") == "system" else []
    for position in {*islice(ends, 2), *system}:
        items[position] = _with_breakpoint(items[position])


def _with_breakpoint(item: Item) -> Item:
    *before, block = _input_blocks(item)
    blocks = [*before, {**block, "prompt_cache_breakpoint": _BREAKPOINT}]
    return {**item, "output" if "output" in item else "content": blocks}


def _input_blocks(item: Item) -> list[Item]:
    """Empty where the item is the model's own."""
    is_result = item.get("type") == "function_call_output"
    blocks = item.get("output") if is_result else item.get("content")
    is_input = is_result or item.get("role") in ("system", "user")
    return blocks if is_input and isinstance(blocks, list) else []


class _Item:
    """One output item. `completed`: the SDK's item once it is complete, None before and where it was cut off."""

    def __init__(self, kind: str, name: str | None = None) -> None:
        self.type = str(kind)
        self.name = name or ""
        self.pieces: dict[str, list[str]] = {"text": [], "refusal": [], "arguments": []}
        self.completed: Any = None

    def complete(self, item: Any) -> None:
        self.type = str(item.type)
        self.name = getattr(item, "name", None) or self.name
        if self.type == "message":
            self.pieces |= {
                "text": [p.text or "" for p in item.content or () if p.type == "output_text"],
                "refusal": [p.refusal or "" for p in item.content or () if p.type == "refusal"],
            }
        if getattr(item, "status", None) not in ("incomplete", "in_progress"):
            self.completed = item

    @property
    def text(self) -> str:
        return "".join(self.pieces["text"])

    @property
    def refusal(self) -> str:
        return "".join(self.pieces["refusal"])

    @property
    def arguments(self) -> Any:
        """Of a completed call. Some servers send them in pieces alone, and none with the item that is done."""
        return self.completed.arguments or "".join(self.pieces["arguments"])


class ResponsesReplyBuilder(ReplyBuilder):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._items: dict[int, _Item] = {}
        self._earlier: list[_Item] = []
        """Whole items whose index another one has taken: some servers count none."""
        self._response: Any = None

    def has_content(self, event: Any) -> bool:
        return str(event.type).startswith(("response.output", "response.refusal", "response.function_call"))

    def _pieces(self, event: Any, kind: str, part: str) -> list[str]:
        """Where the event's piece goes. `kind`: the type of its item, which some servers never say."""
        return self._items.setdefault(event.output_index, _Item(kind)).pieces[part]

    def add(self, event: Any) -> None:
        """Raises the error that an `error` event reports."""
        if event.type in ("response.output_item.added", "response.output_item.done"):
            whole = getattr(self._items.get(event.output_index), "completed", None)
            if whole is not None and getattr(whole, "id", None) != getattr(event.item, "id", None):
                self._earlier.append(self._items.pop(event.output_index))
        match event.type:
            case "response.output_item.added":
                item = event.item
                self._items[event.output_index] = _Item(item.type, getattr(item, "name", None))
            case "response.output_text.delta" | "response.output_text.done":
                pieces = self._pieces(event, "message", "text")
                # Some servers send no piece before the whole text.
                text = event.delta if event.type.endswith("delta") else "" if pieces else event.text
                pieces.append(text or "")
                self.size += len(text or "")
                if self._on_text is not None and text:
                    self._on_text(text)
            case "response.refusal.delta":
                self._pieces(event, "message", "refusal").append(event.delta or "")
                self.size += len(event.delta or "")
            case "response.function_call_arguments.delta":
                self._pieces(event, "function_call", "arguments").append(event.delta or "")
            case "response.output_item.done":
                self._items.setdefault(event.output_index, _Item(event.item.type)).complete(event.item)
                if event.item.type != "message":  # whose text has been counted as it came
                    self.size += len(str(event.item))
            case "response.completed" | "response.incomplete" | "response.failed":
                self.take(event.response)
            case "error":
                raise _failure(self._provider, event, begun=bool(self._items))

    def take(self, response: Any) -> None:
        """Takes a whole response. Some servers say only here what they have not streamed."""
        items = response.output or ()
        whole = [item for item in self._items.values() if item.completed is not None]
        if len(items) > len(whole) + len(self._earlier):
            self._items, self._earlier = {number: _Item(item.type) for number, item in enumerate(items)}, []
            for number, item in enumerate(items):
                self._items[number].complete(item)
        self._response = response
        self._take_usage(response.usage, "input_tokens", "output_tokens")

    @property
    def parts(self) -> int:
        return len(self._items) + len(self._earlier)

    @property
    def is_complete(self) -> bool:
        return self._response is not None

    def reply(self) -> ModelReply:
        """Raises StreamBroken, or the error that a failed response reports."""
        response = self._response
        if response is None or response.status not in ("completed", "incomplete", "failed"):
            raise StreamBroken(f"{self._provider}: the answer ended before it was complete")
        has_failed, begun = response.status == "failed", bool(self._items)
        failure = _failure(self._provider, response.error, begun=begun) if has_failed else None
        if failure is not None and not isinstance(failure, ModelRefused):
            raise failure
        items = [*self._earlier, *(self._items[index] for index in sorted(self._items))]
        calls = [item for item in items if item.type == "function_call"]
        stop: StopReason = "refusal"
        if failure is not None:
            word = failure.category
        else:
            word = getattr(response.incomplete_details, "reason", None) or response.status
            stop = stop_reason(RESPONSES_STOPS, word, calls=bool(calls))
        said = list(paragraphs(each for item in items for each in (None, item.text)))[1::2]
        for item, text in zip(items, said, strict=True):
            item.pieces["text"] = [text or ""]
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
            category=category_of(word) if stop == "refusal" else "",
        )

    def _token_usage(self, items: list[_Item]) -> TokenUsage:
        arguments = [
            json_text(item.arguments)
            for item in items
            if item.type == "function_call" and item.completed is not None
        ]
        said = [*arguments, *(item.text for item in items), *_thinking(items)]
        return self._counted(said)

    def _raw(self, items: list[_Item]) -> Any:
        """None: there is no reasoning to keep, or a part of it cannot be stored as it came. The API refuses the items
        that follow a missing one by their ids, so then nothing is kept; where the reasoning came without its content,
        only the phases of messages are.
        """
        if not all(map(_is_storable, items)):
            return None
        kept = [part for part in map(_kept_part, items) if part is not None]
        if any(item.type == "reasoning" and _kept_part(item) is None for item in items):
            kept = [
                {key: value for key, value in part.items() if key not in ("id", "call_id")}
                for part in kept
                if part["type"] != "reasoning"
            ]
        if not any(part["type"] == "reasoning" or part.get("phase") for part in kept):
            return None
        return {"api": API, "model": self._model, "items": kept}


def _requested_call(item: _Item, *, cut: bool) -> RequestedCall:
    if item.completed is None:
        return RequestedCall(joined(item.name), None, CUT_OFF)
    return parse_call(item.name, item.arguments, cut=cut)


def _is_storable(item: _Item) -> bool:
    part = _kept_part(item) or {}
    texts = [value for name, value in part.items() if name not in ("chars", "summary")]
    texts += [summary["text"] for summary in part.get("summary", ())]
    return all(joined_exactly(text) == text for text in texts)


def _kept_part(item: _Item) -> dict[str, Any] | None:
    """What is kept of the item in `raw`. None: nothing. Reasoning that is not encrypted is left out: the server would
    look it up by its id, and has not stored it.
    """
    completed = item.completed
    if item.type == "message":
        named = {key: getattr(completed, key, None) for key in ("id", "phase")}
        present = {key: value for key, value in named.items() if value}
        return {"type": "message", "chars": len(joined(item.text)), **present}
    if item.type == "function_call":  # one that was cut off keeps its place
        ids = {"id": completed.id, "call_id": completed.call_id} if completed else {}
        return {"type": "function_call", **ids}
    if item.type == "reasoning" and completed is not None and getattr(completed, "encrypted_content", None):
        summary = [{"type": "summary_text", "text": part.text or ""} for part in completed.summary or ()]
        encrypted = completed.encrypted_content
        return {"type": "reasoning", "id": completed.id, "summary": summary, "encrypted_content": encrypted}
    return None


def _thinking(items: list[_Item]) -> list[str]:
    """OpenAI shows summaries where they are asked for. Servers of open models show the reasoning itself."""
    return [
        joined(part.text or "")
        for item in items
        if item.type == "reasoning" and item.completed is not None
        for part in [*(item.completed.summary or ()), *(getattr(item.completed, "content", None) or ())]
    ]


def _failure(provider: str, error: Any, *, begun: bool) -> ActaError:
    """`error`: an `error` event, or a failed response's error. A server may give neither code nor message."""
    code, kind = getattr(error, "code", None), getattr(error, "type", None)
    rejected = "invalid_request_error" if isinstance(code, str) and code in _REJECTED_CODES else None
    message = getattr(error, "message", None)
    names = (code, kind if kind != "error" else None, rejected, name_in(message, code))
    return error_from_stream(provider, {}, names=names, begun=begun)
