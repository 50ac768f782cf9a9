"""Converse on Amazon Bedrock: one protocol for the models of every vendor there (Nova, GPT, open models, Claude). There
is no key: requests are signed with the function's role.

Requests are streamed (`ConverseStream`). Events and fields are those of the service's description in botocore, and of
the Amazon Bedrock API reference, "ConverseStream", read 2026-11-27. `messageStop` comes before `metadata`, which has
the usage; there, input that was read from the cache or written to it is not part of `inputTokens`.

Only Claude and Nova take cache points, and other models refuse a request that has one (user guide, "Prompt caching").
They get two: after the system prompt, and after the last block before the suffix.

Reasoning goes back only where the service has signed it, and not to Claude, whose newer models bind it to every byte
before it. `ModelReply.raw` keeps it: `{"api", "model", "reasoning"}`.
"""

import base64
import json
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from acta.engine.errors import (
    ActaError,
    ModelRefused,
    ProviderKeyRefused,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)
from acta.engine.log.conversation import AssistantEntry
from acta.engine.models.answer_format import answer_format
from acta.engine.models.calls import (
    CHARS_PER_TOKEN,
    MORE_CHARS,
    MOST_PARTS,
    CallProgress,
    ReplyBuilder,
    ask_with_format,
    bedrock_region,
    declined,
    run_within,
)
from acta.engine.models.errors import error_from_bedrock
from acta.engine.models.model import ModelReply, ModelRequest, RequestedCall, TokenUsage
from acta.engine.models.wire import (
    CHAT_STOPS,
    GO_ON,
    OPENAI_TOOLS,
    AnsweredCall,
    Block,
    add_blocks,
    compact,
    estimate_tokens,
    joined,
    joined_exactly,
    kept_of,
    messages_of_blocks,
    paragraphs,
    parse_call,
    stop_reason,
    token_usage,
    told_tokens,
    utf8_size,
    wire_tool_name,
    wire_tools,
    with_own_names,
)

API = "converse"
STALL_SECONDS = 120.0
"""The longest silence inside an answer."""
CONVERSE_TOOLS = OPENAI_TOOLS._replace(plain_names=True)
"""Nova wants nothing but type, properties and required at the top of a schema."""
CONVERSE_STOPS = {**CHAT_STOPS, "content_filtered": "refusal", "malformed_tool_use": "end"}
_CACHES = r".*(anthropic\.claude|amazon\.nova)-.*"
_CACHE_POINT = {"cachePoint": {"type": "default"}}

Message = dict[str, Any]


class ConverseModel:
    """The client is made at the first call, and kept with its connections."""

    def __init__(self, provider: str, base_url: str | None = None) -> None:
        """`base_url` None: the endpoint of the function's region."""
        self.provider = provider
        self._base_url = base_url or None

    @cached_property
    def _client(self) -> Any:
        from acta.engine.aws.clients import make_client

        return make_client(
            "bedrock-runtime",
            read_seconds=STALL_SECONDS,
            attempts=1,
            endpoint_url=self._base_url,
            region_name=bedrock_region(self._base_url),
        )

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        client = self._client  # made before the time runs
        reply = run_within(
            timeout,
            self.provider,
            lambda progress: ask_with_format(lambda each: self._call(client, each, progress), request),
            request.stream_options.begins_within,
        )
        return with_own_names(reply, request.tools, CONVERSE_TOOLS)

    def _call(self, client: Any, request: ModelRequest, progress: CallProgress) -> ModelReply:
        body, opened = to_body(request, self.provider), False
        builder = ConverseReplyBuilder(
            request.model,
            lambda: len(json.dumps(body, default=str)),
            request.stream_options.on_text,
            self.provider,
        )
        try:
            stream = client.converse_stream(**body)["stream"]
            opened = True
            try:
                return _read(stream, builder, progress, request.max_tokens)
            finally:
                stream.close()
        except ActaError:
            raise
        except Exception as error:
            found = self._failure(error, opened, progress.has_begun)
        if isinstance(found, ModelRefused):
            return declined(found, builder.estimate() if progress.has_begun else None)
        raise found  # outside the handler: the SDK's error quotes bodies and must not become its context

    def _failure(self, error: Exception, opened: bool, begun: bool) -> ActaError:
        """`opened`: the service had answered with 200. `begun`: a part of the answer had come."""
        kind, told = type(error).__name__, getattr(error, "response", None)
        if isinstance(told, dict):
            reported, answer = told.get("Error", {}), told.get("ResponseMetadata", {})
            headers = {"request-id": str(answer.get("RequestId") or ""), **answer.get("HTTPHeaders", {})}
            name, message = reported.get("Code"), reported.get("Message")
            status = None if opened else answer.get("HTTPStatusCode") or 500
            return error_from_bedrock(self.provider, status, headers, name, message, begun=begun)
        if kind in ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError"):
            return ProviderKeyRefused(f"{self.provider}: there are no AWS credentials")
        if kind in ("ReadTimeoutError", "ConnectTimeoutError"):
            return ProviderTimeout(f"{self.provider}: no answer in time", begun)
        if opened:
            return StreamBroken(f"{self.provider}: the answer broke off ({kind})")
        if kind in ("EndpointConnectionError", "ConnectionClosedError", "ProxyConnectionError", "SSLError"):
            return ProviderUnavailable(f"{self.provider}: no connection")
        return ProviderRejected(f"{self.provider}: the request could not be made ({kind})")


def _read(
    stream: Iterable[Any], builder: "ConverseReplyBuilder", progress: CallProgress, max_tokens: int
) -> ModelReply:
    """Raises StreamBroken where the service sends much more than was asked for."""
    most = CHARS_PER_TOKEN * max_tokens + MORE_CHARS
    try:
        for event in stream:
            progress.raise_if_cancelled()
            if builder.has_content(event):
                progress.begin()
            builder.add(event)
            if builder.size > most or builder.parts > MOST_PARTS:
                raise StreamBroken("the answer is much longer than the request allowed")
            if builder.is_complete:
                break
    except Exception:
        if not builder.has_stopped:
            raise  # what had its end before the connection broke is whole, and has to be paid for
    return builder.reply()


def to_body(request: ModelRequest, provider: str) -> dict[str, Any]:
    """The keyword arguments of `converse_stream`."""
    caches = re.fullmatch(_CACHES, request.model) is not None
    messages = to_messages(request, provider)
    if caches:
        messages[-1] = {**messages[-1], "content": [*messages[-1]["content"], _CACHE_POINT]}
    if request.suffix.strip() or messages[-1]["role"] == "assistant":
        add_blocks(messages, "user", [{"text": request.suffix if request.suffix.strip() else GO_ON}])
    wanted = request.parameters.taken(provider, request.model)
    heat = {} if wanted.temperature is None else {"temperature": wanted.temperature}
    body: dict[str, Any] = {
        "modelId": request.model,
        "messages": messages,
        "inferenceConfig": {"maxTokens": request.max_tokens, **heat},
    }
    if wanted.effort is not None and (field := _effort(request.model, wanted.effort)):
        body["additionalModelRequestFields"] = field
    if request.system.strip():
        body["system"] = [{"text": request.system}, *([_CACHE_POINT] if caches else [])]
    if tools := _tools(request):
        body["toolConfig"] = {"tools": tools}
    if (schema := answer_format(request.answer_schema)) is not None:
        answer = {"jsonSchema": {"name": "answer", "schema": compact(schema)}}
        body["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": answer}}
    return body


def _effort(model: str, effort: str) -> dict[str, Any]:
    """The field of the model's vendor that names an effort. Empty: it is not documented that there is one (ADR 200)."""
    if "anthropic.claude" in model:
        return {"output_config": {"effort": effort}}
    if "amazon.nova-2" in model:
        return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": effort}}
    return {"reasoning_effort": effort} if "openai." in model else {}


def _tools(request: ModelRequest) -> list[Block]:
    """The service refuses calls in a conversation whose request offers no tools."""
    offered = [
        {
            "name": tool.name,
            **({"description": tool.description} if tool.description.strip() else {}),
            "inputSchema": {"json": tool.input_schema},
        }
        for tool in wire_tools(request.tools, CONVERSE_TOOLS)
    ]
    called = dict.fromkeys(
        wire_tool_name(call.name)
        for entry in (() if offered else request.entries)
        if isinstance(entry, AssistantEntry)
        for call in entry.calls
    )
    offered += [{"name": name, "inputSchema": {"json": {"type": "object"}}} for name in called]
    return [{"toolSpec": each} for each in offered]


def to_messages(request: ModelRequest, provider: str) -> list[Message]:
    """All messages without the suffix."""

    def reply(entry: AssistantEntry) -> list[Block]:
        return _reply_blocks(entry, request.model, provider)

    return messages_of_blocks(request, (API, provider, request.model), reply, _tool_result, _text)


def _text(text: str) -> Block:
    return {"text": text}


def _tool_result(answered: AnsweredCall) -> Block:
    return {
        "toolResult": {
            "toolUseId": answered.call.call_id,
            "content": [_text(answered.text)],
            "status": "success" if answered.ok else "error",
        }
    }


def _reply_blocks(entry: AssistantEntry, model: str, provider: str) -> list[Block]:
    text = entry.content.loaded
    kept = [] if "claude" in model else kept_of(entry, provider, model, API).get("reasoning", [])
    blocks: list[Block] = [
        {"redactedContent": base64.b64decode(each["redacted"])}
        if "redacted" in each
        else {"reasoningText": each}
        for each in kept
        if each.get("redacted") or each.get("signature")
    ]
    blocks = [{"reasoningContent": each} for each in blocks]
    if text.strip():
        blocks.append({"text": text})
    blocks += [
        {
            "toolUse": {
                "toolUseId": call.call_id,
                "name": wire_tool_name(call.name),
                "input": call.input or {},
            }
        }
        for call in entry.calls
    ]
    return blocks if entry.calls or text.strip() else []


class ConverseReplyBuilder(ReplyBuilder):
    """A text has no event of its own beginning: a block begins with its first event, whichever that is."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._blocks: dict[int, dict[str, list[str]]] = {}
        self._usage: dict[str, Any] | None = None
        self._stop: str | None = None

    def has_content(self, event: Any) -> bool:
        return any(str(name).startswith("contentBlock") for name in event)

    def add(self, event: Any) -> None:
        for name, told in event.items():
            match name:
                case "contentBlockStart" if "toolUse" in told["start"]:
                    self._extend(told, "name", told["start"]["toolUse"].get("name"))
                case "contentBlockDelta":
                    delta = told["delta"]
                    reasoning = delta.get("reasoningContent", {})
                    redacted = base64.b64encode(reasoning.get("redactedContent", b"")).decode()
                    self._extend(told, "text", delta.get("text"))
                    self._extend(told, "json", delta.get("toolUse", {}).get("input"))
                    self._extend(told, "thinking", reasoning.get("text"))
                    self._extend(told, "signature", reasoning.get("signature"))
                    self._extend(told, "redacted", redacted)
                    if self._on_text is not None and delta.get("text"):
                        self._on_text(delta["text"])
                case "messageStop":
                    self._stop = told["stopReason"]
                case "metadata":
                    self._usage = told.get("usage") or {}

    def _extend(self, told: Any, part: str, piece: Any) -> None:
        block = self._blocks.setdefault(told["contentBlockIndex"], {})
        if isinstance(piece, str) and piece:
            block.setdefault(part, []).append(piece)
            self.size += len(piece)

    @property
    def parts(self) -> int:
        return len(self._blocks)

    @property
    def has_stopped(self) -> bool:
        return self._stop is not None

    @property
    def is_complete(self) -> bool:
        return self.has_stopped and self._usage is not None

    def reply(self) -> ModelReply:
        if self._stop is None:
            raise StreamBroken(f"{self._provider}: the answer ended before it was complete")
        blocks = [
            {part: "".join(pieces) for part, pieces in block.items()}
            for _, block in sorted(self._blocks.items())
        ]
        called = [block for block in blocks if "name" in block]
        stop = stop_reason(CONVERSE_STOPS, self._stop, calls=bool(called))
        said = paragraphs(block.get("text") for block in blocks)
        return ModelReply(
            text="".join(joined(text) for text in said if text),
            calls=tuple(
                self._call(block, cut=stop == "max_tokens" and block is blocks[-1]) for block in called
            ),
            stop=stop,
            usage=self._counted_usage(blocks),
            thinking="".join(joined(block.get("thinking", "")) for block in blocks),
            raw=self._raw(blocks),
        )

    @staticmethod
    def _call(block: dict[str, str], *, cut: bool) -> RequestedCall:
        return parse_call(block["name"], block.get("json", ""), cut=cut)

    def _counted_usage(self, blocks: list[dict[str, str]]) -> TokenUsage:
        usage = self._usage or {}
        cached = told_tokens(usage.get("cacheReadInputTokens"))
        written = told_tokens(usage.get("cacheWriteInputTokens"))
        whole = told_tokens(usage.get("inputTokens")) + cached + written
        said = utf8_size(*(block.get(part, "") for block in blocks for part in ("text", "thinking", "json")))
        return token_usage(
            whole or estimate_tokens(self._request_bytes()),
            told_tokens(usage.get("outputTokens")) or estimate_tokens(said),
            cached,
            written,
        )

    def _raw(self, blocks: list[dict[str, str]]) -> Any:
        """None: there is no reasoning that could go back."""
        kept: list[dict[str, str]] = []
        for block in blocks:
            text = joined_exactly(block.get("thinking", ""))
            if block.get("redacted"):
                kept.append({"redacted": block["redacted"]})
            elif block.get("signature") and text is not None:
                kept.append({"text": text, "signature": block["signature"]})
        return {"api": API, "model": self._model, "reasoning": kept} if kept else None
