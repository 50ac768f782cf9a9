"""Chat Completions, OpenAI's and every compatible server's. OpenAI itself is asked over its Responses API
(`responses.py`) unless the settings say otherwise.

All messages are made from the entries alone and the suffix, which changes every turn, comes last: a provider's cache
finds a request's content only where the next request begins with the same. User texts in a row become one message,
because the chat templates of many compatible servers insist on alternating roles.

Servers whose models think contradict one another. Some insist on getting the thinking back that came before a call,
some want it before every call, whoever made it, and some refuse it. So a request first has it, as it has an agent's
effort and temperature. `filled` names the field that the server misses at other calls, and `without` what it refused.
`ModelReply.raw` keeps what that takes: `{"api", "model", "name", "extra"}`, the name of the field that the thinking
came in, and the `extra_content` of each call, in which Gemini signs its thoughts. The thinking itself is in the entry.

A stream without a finish reason is broken, unless it has its end mark, `[DONE]`, and a text or calls whose arguments
are whole. A server that does not stream is taken at its one message. Where a server answers with several choices, the
first one counts. Arguments may come as an object in place of its text, in one piece or in pieces with different keys.
"""

import math
from collections.abc import Collection, Iterable
from typing import Any

from acta.engine.errors import StreamBroken
from acta.engine.log.conversation import AssistantEntry
from acta.engine.models.answer_format import answer_format
from acta.engine.models.calls import CallProgress, ReplyBuilder
from acta.engine.models.model import ModelReply, ModelRequest, RequestedCall
from acta.engine.models.openai.capabilities import counts_reasoning, reasoning_effort_with_tools
from acta.engine.models.openai.client import PROVIDER, OpenAIStreamed, ParameterRefused
from acta.engine.models.providers import ModelParameters
from acta.engine.models.wire import (
    CHAT_STOPS,
    GO_ON,
    OPENAI_TOOLS,
    ConversationTurn,
    cache_key,
    category_of,
    compact,
    joined,
    json_text,
    kept_of,
    parse_call,
    rendered,
    stop_reason,
    wire_tool_name,
    wire_tools,
    with_wire_ids,
)
from acta.engine.untrusted.exact_json import InvalidJson, parse_object

API = "chat"
"""Stands in `raw`, because OpenAI's other API cannot take back what this one gave."""
THINKING_FIELDS = ("reasoning_content", "reasoning")
"""Compatible servers send thinking in one of them, and some refuse to take it back, by this name. OpenAI sends none."""
EFFORT, TEMPERATURE = "reasoning_effort", "temperature"
OPTIONAL = (*THINKING_FIELDS, EFFORT, TEMPERATURE)
"""What a server may refuse, by the names that its errors use. It is then asked without."""

Message = dict[str, Any]


class OpenAIModel(OpenAIStreamed):
    optional = OPTIONAL

    def __init__(self, api_key: str | None, base_url: str | None = None, provider: str = PROVIDER) -> None:
        super().__init__(api_key, base_url, provider)
        self._known: dict[tuple[str, ModelParameters], tuple[frozenset[str], frozenset[str]]] = {}

    def _call(self, request: ModelRequest, timeout: float, progress: CallProgress) -> ModelReply:
        """Asks again without a parameter that the server refuses. If that is answered, the parameter is left out from
        then on where this model is asked with the same effort and temperature: otherwise something else was wrong, and
        other tenants' requests stay as they are. A refusal is not charged for.
        """
        key = request.model, request.parameters
        known = refused, filled = self._known.get(key, (frozenset(), frozenset()))
        while True:
            body = to_body(
                request,
                official=self._client.official,
                without=refused,
                filled=filled,
                provider=self.provider,
            )
            create = self._client.sdk_client.chat.completions.create
            try:
                reply = self._client.call(create, body, ChatReplyBuilder, request, timeout, progress)
            except ParameterRefused as error:
                name, messages = error.parameter, body["messages"]
                lacking = [one for one in messages if one.get("tool_calls") and name not in one]
                if name in THINKING_FIELDS and lacking and not {name} & (filled | refused):
                    filled |= {name}  # Kimi and DeepSeek want it before every call
                    continue
                if not any(name in part for part in (body, *messages)):
                    raise
                refused, filled = refused | {name}, filled - {name}
                continue
            if (refused, filled) != known:
                self._known[key] = refused, filled
            return reply


def to_body(
    request: ModelRequest,
    *,
    official: bool,
    without: Collection[str] = (),
    filled: Collection[str] = (),
    provider: str = PROVIDER,
) -> dict[str, Any]:
    """The keyword arguments of `chat.completions.create`, without `timeout`. `official`: OpenAI itself is asked.
    `without`: those of `OPTIONAL` to leave out. `filled`: those of `THINKING_FIELDS` that every call has, blank where
    there is no thinking of this model's. `provider`: who is asked; thinking goes back to it alone.
    """
    messages = to_messages(request, without, filled, provider)
    if request.suffix.strip():
        _add_user(messages, request.suffix)
    elif messages[-1]["role"] in ("assistant", "system"):
        _add_user(messages, GO_ON)
    limit = "max_completion_tokens" if official or counts_reasoning(request.model) else "max_tokens"
    body: dict[str, Any] = {
        "model": request.model,
        "messages": messages,
        limit: request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if official:
        body["prompt_cache_key"] = cache_key(request)
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in wire_tools(request.tools, OPENAI_TOOLS)
        ]
        body["tool_choice"] = "auto"
    if (schema := answer_format(request.answer_schema, all_required=True)) is not None:
        answer = {"name": "answer", "schema": schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": answer}
    wanted = request.parameters.taken(provider, request.model)
    effort = reasoning_effort_with_tools(request.model) if request.tools else None
    if wanted.effort is not None and not (official and effort is not None):
        effort = wanted.effort
    parameters = {EFFORT: effort, TEMPERATURE: wanted.temperature}
    return body | {
        name: value for name, value in parameters.items() if value is not None and name not in without
    }


def to_messages(
    request: ModelRequest, without: Collection[str], filled: Collection[str], provider: str
) -> list[Message]:
    """All messages without the suffix. Every call of a reply has its result before any other message. Other requests
    share the messages, so none may be changed.
    """

    def add(messages: list[Message], turns: Iterable[ConversationTurn]) -> None:
        for turn in turns:
            turn = with_wire_ids(turn, messages)
            if turn.reply is not None:
                if messages and messages[-1]["role"] == "assistant":
                    _add_user(messages, GO_ON)
                if turn.calls or turn.reply.content.loaded.strip():
                    kept = kept_of(turn.reply, provider, request.model, API)
                    messages.append(_reply(turn.reply, kept, without, filled))
            for call, text, _ in turn.calls:
                messages.append({"role": "tool", "tool_call_id": call.call_id, "content": text})
            for text in turn.texts:
                _add_user(messages, text)

    form = API, provider, request.model, frozenset(without), frozenset(filled)
    messages = rendered(request, form, add)
    if request.system.strip():
        messages.insert(0, {"role": "system", "content": request.system})
    return messages or [{"role": "user", "content": GO_ON}]


def _reply(
    entry: AssistantEntry, kept: dict[str, Any], without: Collection[str], filled: Collection[str]
) -> Message:
    """With the thinking before its calls, in the field that it came in, where it came from this model."""
    message: Message = {"role": "assistant", "content": entry.content.loaded or None}
    if entry.calls:
        message["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {
                    "name": wire_tool_name(call.name),
                    "arguments": compact(call.input or {}),
                },
            }
            for call in entry.calls
        ]
        for call, extra in zip(message["tool_calls"], kept.get("extra", ()), strict=False):
            call |= {"extra_content": extra} if extra else {}
        message |= dict.fromkeys(filled, " ")
    if kept.get("name") and kept["name"] not in without:
        message[kept["name"]] = entry.thinking
    return message


def _add_user(messages: list[Message], text: str) -> None:
    if messages and messages[-1]["role"] == "user":
        messages[-1] = {"role": "user", "content": messages[-1]["content"] + "\n\n" + text}
    else:
        messages.append({"role": "user", "content": text})


class ChatReplyBuilder(ReplyBuilder):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._thinking_field = ""
        self._refusal: list[str] = []
        self._calls: list[_Call] = []
        self._position_of: dict[int, int] = {}
        self._legacy_call: _Call | None = None
        self._choice: int | None = None
        self._is_streamed = False
        self._finish: str | None = None
        self._has_last_usage = False

    def has_content(self, chunk: Any) -> bool:
        return any(_says_something(self._added_by(choice)) for choice in chunk.choices or ())

    def add(self, chunk: Any) -> None:
        self._take_usage(chunk.usage, "prompt_tokens", "completion_tokens")
        self._has_last_usage = bool(chunk.usage and not chunk.choices)
        for choice in chunk.choices or ():
            index = getattr(choice, "index", None) or 0
            self._choice = index if self._choice is None else self._choice
            if index != self._choice:
                continue
            delta = self._added_by(choice)
            if delta is not None:
                self._is_streamed |= delta is choice.delta and _says_something(delta)
                self._add_delta(delta)
            self._finish = choice.finish_reason or self._finish

    def _added_by(self, choice: Any) -> Any:
        """What the choice adds: `delta`, or the whole `message` of a server that does not stream. Some servers that do
        stream send in `message` once more what has come before. None: nothing.
        """
        message = getattr(choice, "message", None)
        if not isinstance(message, dict) or self._is_streamed or _says_something(choice.delta):
            return choice.delta
        return choice.construct(delta=message).delta

    def _add_delta(self, delta: Any) -> None:
        (field, thinking), text = _thinking_in(delta), _text_of(delta.content)
        refusal = _text_of(getattr(delta, "refusal", None))
        self.size += len(text) + len(refusal) + len(thinking)
        self._text.append(text)
        if self._on_text is not None and text:
            self._on_text(text)
        self._refusal.append(refusal)
        self._thinking.append(thinking)
        self._thinking_field = self._thinking_field or field
        for part in delta.tool_calls or ():
            self._add_call_part(part)
        function = getattr(delta, "function_call", None)
        if function is not None:  # the form before `tool_calls`; some servers send both
            self._legacy_call = self._legacy_call or _Call()
            self._add_to(self._legacy_call, function)

    def _add_call_part(self, part: Any) -> None:
        """Parts with the same index belong to one call. But some servers send every call with index 0."""
        last = len(self._calls) - 1
        position = last if part.index is None else self._position_of.get(part.index, -1)
        known = self._calls[position] if position >= 0 else None
        has_name = part.function is not None and part.function.name
        if (
            not has_name
            and (known is None or known.is_whole)
            and last >= 0
            and not self._calls[last].is_whole
        ):
            # SGLang counted the first piece of a call by the tool, and the others by the call.
            position, known = last, self._calls[last]
        if known is None or _begins_another_call(part, known):
            position = len(self._calls)
            name = known.name if known is not None and not has_name else ""
            self._calls.append(_Call(part.id or "", name, part.index))
        call = self._calls[position]
        call.id = call.id or part.id or ""
        if part.index is not None:
            self._position_of[part.index] = position
        if part.function is not None:
            self._add_to(call, part.function)
        extra = getattr(part, "extra_content", None)
        call.extra = extra if isinstance(extra, dict) else call.extra

    def _add_to(self, call: "_Call", function: Any) -> None:
        if isinstance(function.name, str) and function.name != call.name:  # some servers repeat the whole
            call.name += function.name
        call.add(function.arguments)
        self.size += len(json_text(function.name)) + len(json_text(function.arguments))

    @property
    def parts(self) -> int:
        return len(self._calls)

    @property
    def is_complete(self) -> bool:
        """The usage comes in a chunk of its own, after everything else, where the server sends it so."""
        return self._finish is not None and self._has_last_usage

    def reply(self) -> ModelReply:
        if self._legacy_call is not None and not self._calls:
            self._calls = [self._legacy_call]
        refusal = joined("".join(self._refusal))
        text = joined("".join(self._text)) or refusal
        finish, says_something = self._finish, bool(text.strip() or self._calls)
        if (
            finish is None
            and self.has_end_mark
            and says_something
            and all(call.whole for call in self._calls)
        ):
            finish = "stop"
        if finish is None:
            raise StreamBroken(f"{self._provider}: the answer ended before it was complete")
        stop = stop_reason(CHAT_STOPS, finish, calls=bool(self._calls))
        thinking = joined("".join(self._thinking))
        written = [text, thinking, *(call.json for call in self._calls)]
        calls: dict[object, tuple[RequestedCall, dict[str, Any]]] = {}
        for number, call in enumerate(self._calls):
            asked = parse_call(call.name, call.json, cut=stop == "max_tokens" and call is self._calls[-1])
            # Some servers send a call twice: with its id at another index, or without ids at the same one.
            place = str(call.id) if call.id else (call.index, call.index is None and number)
            calls.setdefault((place, asked.name, _as_object(call.json) or call.json), (asked, call.extra))
        return ModelReply(
            text=text,
            calls=tuple(asked for asked, _ in calls.values()),
            stop="refusal" if refusal else stop,
            usage=self._counted(written),
            thinking=thinking,
            raw=self._raw(thinking, [extra for _, extra in calls.values()]),
            category=category_of(finish) if stop == "refusal" else "",
        )

    def _raw(self, thinking: str, extra: list[dict[str, Any]]) -> Any:
        """None: no server wants thinking back that no call followed."""
        if not extra or not (thinking or any(extra)):
            return None
        raw = {"api": API, "model": self._model, "name": self._thinking_field if thinking else ""}
        return raw | ({"extra": extra} if any(extra) else {})


class _Call:
    """A call whose arguments come in pieces. `is_whole`: they may be one whole object, which nothing can follow. That
    is noticed piece by piece, because parsing all of them at each piece would take a time that grows with the square.
    """

    def __init__(self, call_id: str = "", name: str = "", index: int | None = None) -> None:
        self.id, self.name, self.index = call_id, name, index
        self.extra: dict[str, Any] = {}
        self.is_whole = False
        self._pieces: list[str] = []
        self._object: dict[str, Any] | None = None
        self._depth, self._quoted, self._escaped = 0.0, False, False

    @property
    def json(self) -> str:
        return "".join(self._pieces) + json_text(self._object)

    def add(self, sent: object) -> None:
        """`sent`: a piece of the arguments' text, or an object. Objects become one. Where they contradict each other
        or the text, the whole is no JSON, and the model is told.
        """
        piece = json_text(sent)
        if piece.strip() and not (isinstance(sent, dict) and self._object) and (whole := self.whole):
            if _as_object(piece) == whole:  # some servers say the whole once more at the end
                return
            if whole == "{}":  # with which some servers begin
                self._pieces, self._object = [], None
            self.is_whole, self._depth = False, 0 if whole == "{}" else -math.inf
        if isinstance(sent, dict) and not "".join(self._pieces).strip():
            known = self._object or {}
            if all(known.get(key, value) == value for key, value in sent.items()):
                known.update(sent)
                self._object, self.is_whole = known, True
                return
        self._pieces.append(piece)
        for char in piece:
            if self._quoted:
                self._quoted = self._escaped or char != '"'
                self._escaped = char == "\\" and not self._escaped
            elif char == '"':
                self._quoted = True
            elif char in "{}":
                self._depth += 1 if char == "{" else -1
                self.is_whole = self._depth == 0

    @property
    def whole(self) -> str:
        """The arguments as compact JSON. Empty: they are not one object. If no further piece can make them one, that is
        kept.
        """
        whole = _as_object(self.json) if self.is_whole else ""
        if self.is_whole and not whole:
            self.is_whole, self._depth = False, -math.inf
        return whole


def _as_object(text: str) -> str:
    """The JSON object that the text is, written compactly. Empty: it is none."""
    try:
        return compact(parse_object(text))
    except InvalidJson:
        return ""


def _begins_another_call(part: Any, known: _Call) -> bool:
    """Whether the part is not of the `known` call with the same index. It is not where the known call is whole and the
    part has another name and arguments, even under the same id. It is not where its id differs; but some servers give
    each piece of a call another id, so a part without a name goes on with a call that is not whole. Where neither has
    an id: where its name differs and the known call has arguments, or where these are complete and the part brings
    more. Before any argument, another name may be the rest of the name. After `{}`, more without a name is still the
    same call.
    """
    name, more = (part.function.name, part.function.arguments) if part.function is not None else ("", "")
    is_other_name = bool(name) and bool(known.name) and name != known.name
    if is_other_name and json_text(more).strip() and known.whole not in ("", "{}"):
        return True
    if part.id or known.id:
        if not (part.id and known.id and part.id != known.id):
            return False
        if name:
            return True
    elif is_other_name and (known.json or part.index is None):
        return True
    if isinstance(more, dict) and not name:  # a call that begins has a name
        return False
    return bool(json_text(more).strip()) and known.whole not in ("", "" if name else "{}")


def _says_something(delta: Any) -> bool:
    names = ("content", "tool_calls", "function_call", "refusal")
    return any(getattr(delta, name, None) for name in names) or bool(_thinking_in(delta)[1])


def _text_of(content: object) -> str:
    """Some servers send the text in parts beside parts of other kinds."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _thinking_in(delta: Any) -> tuple[str, str]:
    """The field's name and its text, both empty where there is none."""
    for field in THINKING_FIELDS:
        value = getattr(delta, field, None)
        if isinstance(value, str) and value:
            return field, value
    return "", ""
