"""What the providers' protocols share: how a conversation is cut into turns, the names and ids that every provider
takes, what a reason to stop means, and how what a model wrote is made safe to store.

A provider's reason to stop is one of these:

    end         the reply is complete
    tools       the reply is complete and asks for tool calls
    max_tokens  the reply was cut off, at the output limit or because the model's window is full. A call that was cut
                never runs; one whose JSON is whole does. The rest is kept, and the next turn tells the model what was
                cut
    pause       the provider wants to be asked again. The reply is kept as it is, nothing in it counts as an answer, and
                another turn follows
    refusal     the model or the provider's filter declined: a fallback is asked once, else the run ends with
                `MODEL_REFUSED`

Half an answer must not pass for a whole one. A word with which servers say that they gave up raises StreamBroken, and
the engine asks again; any other word raises StopUnknown, which a person is told after a few tries.
"""

import hashlib
import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from acta.engine.errors import StopUnknown, StreamBroken
from acta.engine.log.conversation import (
    AssistantEntry,
    EndedTurns,
    Entry,
    ToolCall,
    ToolEntry,
    Turns,
    UserEntry,
)
from acta.engine.models.model import (
    ModelReply,
    ModelRequest,
    OfferedTool,
    RequestedCall,
    StopReason,
    TokenUsage,
)
from acta.engine.untrusted.exact_json import InvalidJson, parse_object, parse_value
from acta.engine.untrusted.schemas import modern

NO_RESULT = "Error: this call has no result."
"""Stands for a missing result: providers refuse a request in which a call has none."""
NO_OUTPUT = "(no output)"
GO_ON = "Go on."
"""The user's words between two replies in a row, and after a reply at the end, which providers would continue."""


class AnsweredCall(NamedTuple):
    """A tool call with its one result."""

    call: ToolCall
    text: str
    ok: bool


class ConversationTurn(NamedTuple):
    """One reply of the model, its calls in the model's order, and the texts that came after it. `reply` None: the texts
    came before any reply.
    """

    reply: AssistantEntry | None
    calls: tuple[AnsweredCall, ...]
    texts: tuple[str, ...]


Block = dict[str, Any]
"""A part of a message, where the protocol's messages have parts: a text, a call, a result."""
Rendered = list[dict[str, Any]]
"""The conversation's messages or items, as a provider takes them."""


def rendered(
    request: ModelRequest, form: Hashable, add: Callable[[Rendered, Iterable[ConversationTurn]], None]
) -> Rendered:
    """The conversation as `add` renders it. `add` appends turns to a list. It may replace the last element of the list
    but not change it, because other requests share the elements. What it appends follows from `form`, the list and the
    turns alone.
    """

    def with_turns(before: Rendered, turns: Turns) -> Rendered:
        made = list(before)
        add(made, map(turn_of, turns))
        return made

    nothing: Rendered = []
    return (request.ended_turns or EndedTurns()).made(form, request.entries, nothing, with_turns)


def messages_of_blocks(
    request: ModelRequest,
    form: Hashable,
    reply: Callable[[AssistantEntry], list[Block]],
    result: Callable[[AnsweredCall], Block],
    text: Callable[[str], Block],
) -> Rendered:
    """All messages without the suffix, for a protocol whose messages are lists of blocks. Roles alternate, and the
    results of a reply's calls come first in the message after it. Other requests share the messages, so none may be
    changed. `form`: as in `rendered`. `reply`, `result`, `text`: what these are in the protocol.
    """

    def add(messages: Rendered, turns: Iterable[ConversationTurn]) -> None:
        for turn in turns:
            turn = with_wire_ids(turn, messages)
            if turn.reply is not None:
                if messages and messages[-1]["role"] == "assistant":
                    add_blocks(messages, "user", [text(GO_ON)])
                add_blocks(messages, "assistant", reply(turn.reply))
            add_blocks(messages, "user", [*map(result, turn.calls), *map(text, turn.texts)])

    messages = rendered(request, form, add)
    if not messages or messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": [text(GO_ON)]})
    return messages


def add_blocks(messages: Rendered, role: str, blocks: list[Block]) -> None:
    """Adds them to the last message, if that has the same role. It is replaced, because others may share it."""
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1] = {"role": role, "content": [*messages[-1]["content"], *blocks]}
    else:
        messages.append({"role": role, "content": blocks})


def turn_of(entries: Sequence[Entry]) -> ConversationTurn:
    """The reply, its calls and the texts of one turn. `entries`: a turn as `EndedTurns` cuts a conversation.

    Blank texts are left out, because no provider wants them. A result whose call is no longer there becomes a text.
    """
    reply = entries[0] if entries and isinstance(entries[0], AssistantEntry) else None
    if reply is not None and any(call.through for call in reply.calls):
        reply = reply.model_copy(update={"calls": tuple(call.as_made for call in reply.calls)})
    asked = () if reply is None else reply.calls
    results: dict[str, ToolEntry | None] = {call.call_id: None for call in asked}
    texts: list[str] = []
    for entry in entries:
        match entry:
            case UserEntry():
                texts.append(entry.content.loaded)
            case ToolEntry() if entry.call_id in results:
                results[entry.call_id] = entry
            case ToolEntry():
                texts.append(f"Result of {wire_tool_name(entry.name)}:\n{entry.content.loaded}")
    calls: list[AnsweredCall] = []
    for call in asked:
        result = results[call.call_id]
        text = NO_RESULT if result is None else result.content.loaded
        ok = result is not None and result.ok
        calls.append(AnsweredCall(call, text if text.strip() else NO_OUTPUT, ok))
    return ConversationTurn(reply, tuple(calls), tuple(text for text in texts if text.strip()))


def kept_of(reply: AssistantEntry, provider: str, model: str, api: str | None = None) -> dict[str, Any]:
    """What `ModelReply.raw` keeps of the reply. Empty where another provider, model or API gave it, because only the
    one that gave it understands it. `api`: stands in `raw` where the provider has several APIs.
    """
    raw = reply.raw if reply.provider == provider and isinstance(reply.raw, dict) else {}
    return raw if raw.get("model") == model and raw.get("api") == api else {}


def first_id(entries: Sequence[Entry]) -> str:
    """The id of what the conversation begins with. Empty: it is empty."""
    first = entries[0] if entries else None
    return "" if first is None else first.call_id if isinstance(first, ToolEntry) else first.message_id


_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def with_wire_ids(turn: ConversationTurn, messages: Rendered) -> ConversationTurn:
    """The turn, whose calls have ids that say where they stand in the request: after how many messages, and as which of
    their reply. Each request pays for an id twice, and nine digits are three tokens. Mistral's models take nothing but
    nine letters and digits.
    """
    if turn.reply is None or not turn.calls:
        return turn
    named = [
        answered._replace(
            call=answered.call.model_copy(update={"call_id": f"{len(messages):06d}{number:03d}"})
        )
        for number, answered in enumerate(turn.calls)
    ]
    reply = turn.reply.model_copy(update={"calls": tuple(answered.call for answered in named)})
    return turn._replace(reply=reply, calls=tuple(named))


def wire_tool_name(name: str) -> str:
    """The name with `_` for each character that a provider would refuse, cut to 64 characters."""
    return _NOT_IN_NAMES.sub("_", name)[:64] or "_"


NULL = {"type": "null"}


class ToolRules(NamedTuple):
    """What a provider refuses of tools; a request with one such tool fails as a whole (ADR 182)."""

    not_at_the_top: tuple[str, ...]
    """Keywords of JSON Schema that a tool's schema may have in its inner schemas only."""
    plain_names: bool = False
    """Names of properties must be 1 to 64 letters, digits, `_`, `.` and `-`."""
    plain_schemas: bool = False
    """An array must have `items`, no schema may be `true` or `false`, and some patterns are refused."""


ANY_TOOLS = ToolRules(())
CLAUDE_TOOLS = ToolRules(("anyOf", "oneOf", "allOf"), plain_names=True)
OPENAI_TOOLS = ToolRules(("anyOf", "oneOf", "allOf", "enum", "not"), plain_schemas=True)


class _Wired(NamedTuple):
    schema: dict[str, Any]
    rule: str
    """What the description says, because the schema may not."""
    names: Mapping[str, str]
    """From a property's name as the provider takes it to the property's own."""


def wire_tools(tools: Sequence[OfferedTool], rules: ToolRules) -> tuple[OfferedTool, ...]:
    """The tools as the provider accepts them. What it refuses is rewritten so that the model still knows of it. A tool
    whose schema is wrong is left out.
    """
    return tuple(
        tool._replace(description=_and(tool.description, wired.rule, "\n\n"), input_schema=wired.schema)
        for tool in tools
        if (wired := _wired_schema(tool, rules)) is not None
    )


def _wired_schema(tool: OfferedTool, rules: ToolRules) -> _Wired | None:
    try:
        return _wired(json.dumps(tool.input_schema), rules)
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None  # no check lets it in, but a restored table may


def with_own_names(reply: ModelReply, tools: Sequence[OfferedTool], rules: ToolRules) -> ModelReply:
    """The reply with the properties' own names in its calls. A model may also use these itself."""
    called = {call.name for call in reply.calls}
    wired = {tool.name: _wired_schema(tool, rules) for tool in tools if tool.name in called}
    names = {name: each.names for name, each in wired.items() if each is not None}
    calls = [call._replace(input=_own_names(call.input, names.get(call.name, {}))) for call in reply.calls]
    return reply._replace(calls=tuple(calls))


def _own_names(value: Any, names: Mapping[str, str]) -> Any:
    if not names:
        return value
    if isinstance(value, list):
        return [_own_names(each, names) for each in value]
    if isinstance(value, str):  # an object may come as its JSON text
        for alias, name in names.items():
            value = value.replace(compact(alias), compact(name))
        return value
    if not isinstance(value, dict):
        return value
    own = {name: names.get(name, name) for name in value}
    return {
        name if own[name] != name and own[name] in value else own[name]: _own_names(each, names)
        for name, each in value.items()
    }


@lru_cache(maxsize=1_000)
def _wired(text: str, rules: ToolRules) -> _Wired:
    """`text`: a tool's schema, as JSON."""
    given = json.loads(text)
    names = _aliases(given) if rules.plain_names else {}
    moved: dict[str, Any] | None = None

    def change(schema: dict[str, Any]) -> None:
        nonlocal moved
        _shorten(schema)
        if names:
            _rename(schema, names)
        if rules.plain_schemas:
            _make_plain(schema)
        if moved is None:  # the whole is the first
            moved = {key: schema.pop(key) for key in rules.not_at_the_top if key in schema}

    made = {"type": "object", "properties": {}, **modern(modern(given), change)}
    made["type"] = "object"  # the input is one, whatever else the schema takes
    rule = f"The input must satisfy this JSON Schema as well: {compact(moved)}" if moved else ""
    return _Wired(made, rule, {alias: name for name, alias in names.items()})


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_OF_NAMES = ("properties", "dependentRequired", "dependentSchemas")


def _aliases(given: Mapping[str, Any]) -> dict[str, str]:
    """From the names of properties that are not plain to others, which no property has."""
    names: set[str] = set()

    def collect(schema: dict[str, Any]) -> None:
        for key in _OF_NAMES:
            names.update(schema.get(key, ()))
        names.update(schema.get("required", ()), *schema.get("dependentRequired", {}).values())

    modern(given, collect)
    aliases: dict[str, str] = {}
    for name in sorted(each for each in names if not _PLAIN_NAME.fullmatch(each)):
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        plain = _NOT_IN_NAMES.sub("_", name)
        tries = (f"{plain[: 63 - chars]}_{digest[:chars]}" for chars in range(6, 60))
        aliases[name] = next(each for each in tries if each not in names and each not in aliases.values())
    return aliases


def _rename(schema: dict[str, Any], names: Mapping[str, str]) -> None:
    for key in _OF_NAMES:
        if key in schema:
            schema[key] = {names.get(name, name): each for name, each in schema[key].items()}
    for name, alias in names.items():
        field = schema.get("properties", {}).get(alias)
        if isinstance(field, dict):
            field["description"] = _and(f"This is the field {compact(name)}.", field.get("description"))
    if "required" in schema:
        schema["required"] = [names.get(name, name) for name in schema["required"]]
    if "dependentRequired" in schema:
        needed = schema["dependentRequired"].items()
        schema["dependentRequired"] = {
            name: [names.get(each, each) for each in after] for name, after in needed
        }


def _shorten(schema: dict[str, Any]) -> None:
    """Takes out what a model does not need to know, because each request pays for it. Inputs are checked by the schema
    as its author wrote it.
    """
    if isinstance(schema.get("title"), str):
        del schema["title"]
    if schema.get("required") == []:
        del schema["required"]
    if "properties" in schema and schema.get("additionalProperties") is False:
        del schema["additionalProperties"]
    kinds = schema.get("anyOf")
    if isinstance(kinds, list) and NULL in kinds and schema.get("default", ...) is None:
        # The field may be left out, which means the same as null.
        del schema["anyOf"], schema["default"]
        one, *more = others = [each for each in kinds if each != NULL] or [{}]
        is_plain = not more and isinstance(one, dict) and "$ref" not in one and not one.keys() & schema.keys()
        schema |= one if is_plain else {"anyOf": others}


def _make_plain(schema: dict[str, Any]) -> None:
    """Patterns become words: OpenAI refuses some of them, and fails at others."""
    kinds = schema.get("type")
    if schema.get("items") is False:
        most = len(schema.get("prefixItems", ()))
        schema["maxItems"] = min(most, schema.get("maxItems", most))
    if (
        "array" in (kinds if isinstance(kinds, list) else [kinds])
        or "prefixItems" in schema
        or "items" in schema
    ):
        schema["items"] = schema["items"] if isinstance(schema.get("items"), dict) else {}
    for key, value in schema.items():
        if key in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"):
            schema[key] = {name: _no_truth(each) for name, each in value.items()}
        elif key in ("allOf", "anyOf", "oneOf", "prefixItems"):
            schema[key] = [_no_truth(each) for each in value]
        elif key in ("not", "if", "then", "else", "contains", "propertyNames"):
            schema[key] = _no_truth(value)
    said = schema.get("description")
    if "pattern" in schema:
        said = _and(said, f"It matches the pattern {compact(schema.pop('pattern'))}.")
    if schema.get("patternProperties"):
        said = _and(said, f"Fields by the pattern of their name: {compact(schema.pop('patternProperties'))}.")
        for key in ("additionalProperties", "unevaluatedProperties"):
            schema.pop(key, None)
    if said is not None:
        schema["description"] = said


def _no_truth(schema: Any) -> Any:
    return schema if isinstance(schema, dict) else {} if schema else {"not": {}}


def _and(first: Any, second: Any, between: str = " ") -> str:
    return between.join(text for text in (first, second) if isinstance(text, str) and text.strip())


def compact(value: Any) -> str:
    """As JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cache_key(request: ModelRequest) -> str:
    """OpenAI's `prompt_cache_key`: the same for all requests to one model whose conversation begins with the same
    entry. That is one session's, until a compaction gives it another beginning. The key is made from the entry's id, so
    it tells nothing of the text.
    """
    begins = f"{request.model}\n{first_id(request.entries)}"
    return "acta-" + hashlib.sha256(begins.encode()).hexdigest()[:32]


CUT_OFF = "the input was cut off at the output limit"


def parse_call(name: object, arguments: object, *, cut: bool) -> RequestedCall:
    """`name`, `arguments`: as the server sent them. `cut`: the reply was cut off at its limit, and this is its last
    call."""
    # gpt-oss may write a token of its format after it, as in `lookup<|channel|>commentary` (vllm-project/vllm#32587)
    name = joined(name if isinstance(name, str) else "").partition("<|")[0]
    text = json_text(arguments)
    if text.strip() in ("", "null"):
        # Providers write nothing at all for `{}`, and also where they were stopped before they could write it.
        return RequestedCall(name, None, CUT_OFF) if cut else RequestedCall(name, {})
    try:
        if text.lstrip().startswith('"'):  # some servers encode the object twice
            inner = parse_value(text)
            text = inner if isinstance(inner, str) and inner.lstrip().startswith("{") else text
        return RequestedCall(name, parse_object(text))
    except InvalidJson as error:
        return RequestedCall(name, None, CUT_OFF if cut else f"the input is {error}")


def json_text(sent: object) -> str:
    """What should be a text, and may be a JSON value: some servers send arguments so. The SDK has read its numbers."""
    return sent if isinstance(sent, str) else "" if sent is None else json.dumps(sent)


def joined(text: str) -> str:
    """The text with halves of surrogate pairs joined. A half that is alone is replaced, so UTF-8 can hold the text."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def joined_exactly(text: object) -> str | None:
    """The text with halves of surrogate pairs joined. None: it is no text, or has a half that is alone."""
    if not isinstance(text, str):
        return None
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None


def paragraphs(texts: Iterable[str | None]) -> Iterator[str | None]:
    """The texts of one reply as they are put together. Texts that follow each other are one, as citations divide it. A
    text after something else, such as thinking (None), is another, and a blank line comes before it, unless a line ends
    there already.
    """
    said, is_other = "", False
    for text in texts:
        if text:
            lacks_break = is_other and said.strip() and not (said.endswith("\n") or text.startswith("\n"))
            text = f"\n\n{text}" if lacks_break and text.strip() else text
            said = text
        is_other = text is None or (is_other and not text)
        yield text


StopTable = Mapping[str, StopReason]
"""By the provider's word, in lower case."""

_COMMON: StopTable = {
    "stop": "end",
    "end_turn": "end",
    "stop_sequence": "end",
    "eos": "end",
    "eos_token": "end",
    "complete": "end",
    "completed": "end",
    "malformed_function_call": "end",
    "unexpected_tool_call": "end",
    "tool_calls": "tools",
    "tool_call": "tools",
    "tool_use": "tools",
    "function_call": "tools",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "model_length": "max_tokens",
    "max_length": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
    "content_filter": "refusal",
    "sensitive": "refusal",
    "safety": "refusal",
    "recitation": "refusal",
    "blocklist": "refusal",
    "prohibited_content": "refusal",
    "error_toxic": "refusal",
    "spii": "refusal",
    "language": "refusal",
    "model_armor": "refusal",
    "guardrail_intervened": "refusal",
}
"""Compatible servers pass on the words of the engine or the model that they run."""

ANTHROPIC_STOPS: StopTable = {**_COMMON, "pause_turn": "pause"}
"""For `stop_reason`, Bedrock's too. Only server tools cause `pause_turn`, and Acta offers none."""

CHAT_STOPS: StopTable = _COMMON
"""For `finish_reason`. A full window is a `length` as well."""

RESPONSES_STOPS: StopTable = {
    **_COMMON,
    "incomplete": "max_tokens",
    "max_messages": "pause",
    "steered": "pause",
}
"""For the reason why a response is incomplete; where there is none, for its status."""

_GAVE_UP = frozenset(
    {
        "abort",
        "aborted",
        "cancelled",
        "error",
        "failed",
        "insufficient_system_resource",
        "network_error",
        "timeout",
    }
)
MAX_CATEGORY_CHARS = 60


def category_of(word: object) -> str:
    """The provider's word for why the model declined; empty: it is no word."""
    last = word.rpartition(": ")[2] if isinstance(word, str) else ""
    return last[:MAX_CATEGORY_CHARS].lower() if last.isascii() and last.isidentifier() else ""


def stop_reason(table: StopTable, word: str, *, calls: bool) -> StopReason:
    """`word`: the provider's, in any case; Gemini's may be two, `content_filter: PROHIBITED_CONTENT`. `calls`: whether
    the reply has tool calls; some servers end such a reply with the word for any other. Raises StreamBroken, or
    StopUnknown where the table does not have the word.
    """
    general, _, exact = str(word).lower().replace("-", "_").partition(": ")
    stop = table.get(exact) or table.get(general)
    if stop is None and general in _GAVE_UP:
        raise StreamBroken("the server gave up in the middle of its answer")
    if stop is None:
        raise StopUnknown("the answer ended for a reason that is not known", category_of(exact or general))
    return "tools" if calls and stop == "end" else stop


MOST_TOKENS = 10**9
"""Of one call. Sums of all calls stay far below what DynamoDB (38 digits) and OTLP (64 bits) can take."""


def told_tokens(told: object) -> int:
    """The tokens that a provider's server reports. 0 where that is no number above 0: the caller then estimates."""
    return min(max(told, 0), MOST_TOKENS) if type(told) is int else 0


def token_usage(whole: int, output: int, cached: int, written: int) -> TokenUsage:
    """`cached` and `written` are parts of `whole` and are cut to it: more of them would lower what the rest costs."""
    whole = min(whole, MOST_TOKENS)
    cached = min(cached, whole)
    return TokenUsage(whole, min(output, MOST_TOKENS), cached, min(written, whole - cached))


# Estimates of a call's tokens are for servers that report no usage: a call that counts as nothing would have no limit.
_BYTES_PER_TOKEN = 4


def estimate_tokens(byte_count: int) -> int:
    return byte_count // _BYTES_PER_TOKEN


def utf8_size(*texts: str) -> int:
    """Bytes of all texts together."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def body_size(body: dict[str, Any]) -> int:
    """Bytes of a whole request. Tools and system prompt count: they are paid for too. Encodes all of it:
    not for a call whose server reports its usage.
    """
    return utf8_size(json.dumps(body, ensure_ascii=False))
