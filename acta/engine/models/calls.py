"""One call to a provider, whichever SDK makes it: its limit of wall time, its stream, the checks of its address and
key, and what the SDK may log.

An HTTP client's timeouts limit single waits: one connect, one read. A name lookup has no timeout, and an answer that
comes byte by byte never runs into one. So each call runs in a thread of its own, and its caller stops waiting in time.

Sources of the headers with limits: Anthropic, API reference, "Rate limits", response headers (`tokens`: input and
output together, or the most restrictive limit in effect); OpenAI, guide "Rate limits", "Rate limits in headers".
"""

import gc
import json
import logging
import re
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import urlsplit

from acta.engine.errors import (
    ActaError,
    ModelRefused,
    ProviderKeyRefused,
    ProviderRejected,
    ProviderTimeout,
    StreamBroken,
)
from acta.engine.models.model import ModelReply, ModelRequest, TokenUsage
from acta.engine.models.wire import estimate_tokens, token_usage, told_tokens, utf8_size
from acta.engine.queue.places import LEARN, ProviderLimits

T = TypeVar("T")


class CallCancelled(Exception):
    """The caller no longer waits. Raised in the call's own thread; no caller sees it."""


class CallProgress:
    """How far a call has come. Its thread reports that the answer has begun, and delivers it. Its caller may cancel."""

    def __init__(self, deliver: Callable[[Any], None] = lambda result: None) -> None:
        """`deliver`: gives the caller the complete answer."""
        self._deliver = deliver
        self._lock = threading.Lock()
        self._cancelled = False
        self.has_begun = False
        """Whether a part of the answer has arrived."""

    def begin(self) -> None:
        """Reports that a part of the answer has arrived, before anyone is shown it. Raises CallCancelled."""
        with self._lock:
            self.raise_if_cancelled()
            self.has_begun = True

    def complete(self, result: Any) -> None:
        """Delivers the complete answer. What becomes of the connection after that changes nothing."""
        self._deliver(result)

    def cancel(self) -> bool:
        """Returns whether the answer had begun. An answer that had not can no longer begin."""
        with self._lock:
            self._cancelled = True
            return self.has_begun

    def raise_if_cancelled(self) -> None:
        """Raises CallCancelled."""
        if self._cancelled:
            raise CallCancelled


ResultOrError = tuple[T, None] | tuple[None, BaseException]
"""The result of a call, or what it raised."""


def run_within(
    seconds: float, provider: str, call: Callable[[CallProgress], T], begins_within: float | None = None
) -> T:
    """Runs the call in a thread and returns its result, or raises what it raised.

    Raises ProviderTimeout where there is no result after `seconds` of wall time, or where the answer has not begun
    after `begins_within` seconds. `begins_within` None: it may begin at any time.
    """
    results: SimpleQueue[ResultOrError[T]] = SimpleQueue()  # the first one counts
    progress = CallProgress(lambda result: results.put((result, None)))

    def run() -> None:
        try:
            results.put((call(progress), None))
        except BaseException as error:  # handed over, not swallowed: the caller raises it
            results.put((None, error))

    threading.Thread(target=run, name=f"{provider}-call", daemon=True).start()
    first_wait = seconds if begins_within is None else min(seconds, begins_within)
    try:
        result, error = _first_result(results, progress, first_wait, seconds)
    except Empty:
        had_begun = progress.cancel()
        waited = seconds if had_begun else first_wait
        raise ProviderTimeout(f"{provider}: no answer within {waited:.1f} s", had_begun) from None
    finally:
        progress.cancel()
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


def _first_result(
    results: SimpleQueue[ResultOrError[T]], progress: CallProgress, first_wait: float, seconds: float
) -> ResultOrError[T]:
    """Waits on to the end of `seconds` only where the answer has begun after `first_wait`. Raises Empty."""
    try:
        return results.get(timeout=max(first_wait, 0.001))
    except Empty:
        if not progress.has_begun or first_wait >= seconds:
            raise
    return results.get(timeout=max(seconds - first_wait, 0.001))


CHARS_PER_TOKEN, MORE_CHARS = 8, 2_000_000
"""A reply may have 8 characters for each token that it was allowed, and 2,000,000 more: whitespace has long tokens, and
some servers do not count their thinking."""
MORE_BYTES = 4_000_000
"""The last event of the Responses API repeats the request's tools and the whole reply."""
MOST_PARTS = 512
"""Blocks, items and calls of one reply."""


class ReplyBuilder(ABC):
    """Builds a reply from the events of one provider's stream."""

    size: int
    """Characters of the reply so far: texts, thinking, signatures, names and inputs of calls."""

    def __init__(
        self,
        model: str,
        request_bytes: Callable[[], int],
        on_text: Callable[[str], None] | None = None,
        provider: str = "",
    ) -> None:
        """`model`: its name. `request_bytes`: is asked, for an estimate, only where a server reports no usage.
        `on_text`: is given the text as it comes. `provider`: whose server it is, for messages.
        """
        self._model, self._request_bytes = model, request_bytes
        self._on_text, self._provider = on_text, provider
        self.size = 0
        self.has_end_mark = False
        """Whether the stream ended with `[DONE]`, the end mark of OpenAI's servers."""
        self._told = [0, 0, 0, 0, 0]

    @property
    @abstractmethod
    def parts(self) -> int:
        """Blocks, items or calls of the reply so far."""

    @abstractmethod
    def has_content(self, event: Any) -> bool:
        """Whether the event holds a part of the answer. A server may report at once that it works on the request, and
        then be silent for long: such an event holds none.
        """

    @abstractmethod
    def add(self, event: Any) -> None: ...

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Whether no later event can change the reply, though the connection may stay open."""

    @abstractmethod
    def reply(self) -> ModelReply:
        """Raises StreamBroken where the reply is not complete."""

    def estimate(self) -> TokenUsage:
        """The tokens of a call that broke off."""
        return token_usage(estimate_tokens(self._request_bytes()), estimate_tokens(self.size), 0, 0)

    def _take_usage(self, usage: Any, whole: str, output: str) -> None:
        """Takes the tokens that an OpenAI server reports. `whole`, `output`: the names of its fields. Each report
        counts all tokens so far, so one that counts fewer says nothing: a proxy may end with zeros.
        """
        details = getattr(usage, f"{whole}_details", None)
        told = [getattr(usage, name, None) for name in (whole, output, "total_tokens")]
        told += [getattr(details, name, None) for name in ("cached_tokens", "cache_write_tokens")]
        self._told = list(map(max, self._told, map(told_tokens, told)))

    def _counted(self, written: Sequence[str]) -> TokenUsage:
        """The tokens that an OpenAI server has reported, estimated where it reported none. `written`: the texts of the
        reply.
        """
        whole, output, total, cached, cache_write = self._told
        if whole:  # Some servers count the reasoning in the total alone, such as xAI's.
            output = max(output, total - whole)
        return token_usage(
            whole or estimate_tokens(self._request_bytes()),
            output or estimate_tokens(utf8_size(*written)),
            cached,
            cache_write,
        )


def ask_with_format(ask: Callable[[ModelRequest], T], request: ModelRequest) -> T:
    """Asks, and asks again without a format for the answer if the provider refuses the request: many models have no
    structured outputs, some have none beside tools, and each knows another part of JSON Schema. Raises what `ask`
    raises.
    """
    try:
        return ask(request)
    except ProviderRejected:
        if not request.answer_schema:
            raise
    return ask(request._replace(answer_schema=""))


def ask_streamed(
    send: Callable[[], Any],
    builder: ReplyBuilder,
    request: ModelRequest,
    progress: CallProgress,
    provider: str,
    failure: Callable[[Exception, bool, bool], ActaError],
) -> ModelReply:
    """`send`: makes the request and returns the SDK's stream. `failure`: the error for what the SDK has raised; it is
    told whether the server had answered with 200, and whether a part of the answer had come.
    """
    progress.raise_if_cancelled()
    opened = False
    try:
        with send() as events:
            opened = True
            on_limits = request.stream_options.on_limits
            if on_limits is not None and (limits := limits_in(events.response.headers)) != LEARN:
                on_limits(provider, limits)
            return read_stream(events, builder, progress, request.max_tokens)
    except ModelRefused as error:
        found: ActaError = error
    except ActaError:
        raise
    except Exception as error:
        found = failure(error, opened, progress.has_begun)
    if isinstance(found, ModelRefused):
        return declined(found, builder.estimate() if progress.has_begun else None)
    raise found  # outside the handler: the SDK's error quotes bodies and must not become its context


def declined(error: ModelRefused, used: TokenUsage | None = None) -> ModelReply:
    """The reply that an error of the provider's filter stands for. `used` None: nothing is to be paid for."""
    return ModelReply("", (), "refusal", used or TokenUsage(), category=error.category)


def read_stream(stream: Any, builder: ReplyBuilder, progress: CallProgress, max_tokens: int) -> ModelReply:
    """Delivers the reply as soon as it is complete, and reads the connection to its end, so that it can be used again.
    `stream`: an SDK's. `max_tokens`: of the request. Raises CallCancelled, StreamBroken where the server sends much
    more than was asked for, and what the builder raises.
    """
    most, read, unread = CHARS_PER_TOKEN * max_tokens + MORE_CHARS, stream.response.iter_bytes, 0
    has_all_bytes = False

    def counted() -> Iterator[bytes]:
        """The SDK collects an event until it ends, and passes over a server's pings: it gives neither to the loop."""
        nonlocal unread, has_all_bytes
        for chunk in read():
            progress.raise_if_cancelled()
            unread += len(chunk)
            if unread > most + MORE_BYTES:
                raise StreamBroken("one event of the answer is larger than a whole answer may be")
            yield chunk
        has_all_bytes = True

    stream.response.iter_bytes = lambda: _as_events(counted())
    reply: ModelReply | None = None
    try:
        for event in stream:
            unread = 0
            progress.raise_if_cancelled()
            if builder.has_content(event):
                progress.begin()
            builder.add(event)
            if builder.size > most or builder.parts > MOST_PARTS:
                raise StreamBroken("the answer is much longer than the request allowed")
            if reply is None and builder.is_complete:
                reply = builder.reply()
                progress.complete(reply)
    except (ActaError, CallCancelled):
        raise
    except Exception:
        # The connection broke. What had its end by then is whole, and has to be paid for.
        try:
            return builder.reply() if reply is None else reply
        except StreamBroken:
            pass
        raise
    builder.has_end_mark = not has_all_bytes  # OpenAI's SDK reads no further than `[DONE]`
    return builder.reply() if reply is None else reply


_BOM = b"\xef\xbb\xbf"


def _as_events(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes of an answer for an SDK that takes server-sent events. A byte order mark would make it pass over the
    first one. A server that does not stream sends one JSON document, which becomes one event.
    """
    head = b""
    for chunk in chunks:
        head = (head + chunk).lstrip()
        if not _BOM.startswith(head):  # neither blank nor the beginning of a mark
            break
    head = head.removeprefix(_BOM)
    if not head.startswith(b"{"):
        yield head
        yield from chunks
        return
    whole = (head + b"".join(chunks)).replace(b"\r", b" ").replace(b"\n", b" ")
    try:
        found = json.loads(whole)
    except (ValueError, RecursionError):  # the SDK says what is wrong with it
        found = {}
    if found.get("type") == "message":  # the Messages API's
        yield b'event: message_start\ndata: {"type": "message_start", "message": ' + whole + b"}\n\n"
        return
    if found.get("object") == "response":  # the Responses API's
        yield b'data: {"type": "response.completed", "response": ' + whole + b"}\n\n"
        return
    is_error = whole[:64].replace(b" ", b"").startswith((b'{"error":{', b'{"type":"error"'))
    yield (b"event: error\n" if is_error else b"") + b"data: " + whole + b"\n\n"


CONNECT_SECONDS = 10.0


@contextmanager
def loading(sdk: str) -> Iterator[None]:
    """Around the first import of an SDK: the garbage collector rests, and what was imported is not looked at again.

    An SDK has some hundred thousand objects that stay as long as the process. Collections during its import, and one of
    all of them in the first turn, took about 0.2 s of CPU in each new process.
    Garbage cycles that a turn has made by then are kept, once. If the SDK is imported already, nothing changes.
    """
    if sdk in sys.modules:
        yield
        return
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_enabled:
            gc.enable()


def silence_loggers(sdk: ModuleType) -> None:
    """Has the SDK and its HTTP client log warnings only: at DEBUG they log bodies and keys."""
    for name in (sdk.__name__, "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)


def time_limits(sdk: Any, timeout: float, stall: float) -> Any:
    """The SDK's `Timeout` for one streamed request. `timeout`: seconds the request may take. `stall`: the longest
    silence in seconds, before the answer and inside it.
    """
    return sdk.Timeout(
        connect=min(CONNECT_SECONDS, timeout), read=min(stall, timeout), write=timeout, pool=timeout
    )


_NAMES = (
    ("anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-requests-limit"),
    ("x-ratelimit-limit-tokens", "x-ratelimit-limit-requests"),
)
MOST_DIGITS = 12


def limits_in(headers: Mapping[str, str]) -> ProviderLimits:
    """The limits that an answer's headers name. `LEARN`: they name none."""
    for tokens, requests in _NAMES:
        found = ProviderLimits(_number(headers.get(tokens)), _number(headers.get(requests)))
        if found != LEARN:
            return found
    return LEARN


def _number(text: str | None) -> int | None:
    """None: it is no whole number above 0."""
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > MOST_DIGITS:
        return None
    return int(text) or None


OPENAI_HOST = "api.openai.com"
_HEADER_VALUE = re.compile(r"[!-~]+([ \t]+[!-~]+)*")


def is_official(base_url: str | None) -> bool:
    """Whether requests go to OpenAI itself, its regional hosts included. `base_url` None: no other server is
    configured.
    """
    host = urlsplit(base_url).hostname if base_url else OPENAI_HOST
    return host is not None and (host == OPENAI_HOST or host.endswith(f".{OPENAI_HOST}"))


_BEDROCK = re.compile(r"bedrock-[a-z-]+\.([a-z0-9-]+)\.[a-z.]+")


def bedrock_region(base_url: str | None) -> str | None:
    """The AWS region of an endpoint of Bedrock. None: the URL names none, so the function's own counts."""
    found = _BEDROCK.fullmatch(urlsplit(base_url or "").hostname or "")
    return found[1] if found else None


def is_sendable(key: str) -> bool:
    """Whether an HTTP header can carry the key. An empty key is not sent at all, which some servers want."""
    return not key or _HEADER_VALUE.fullmatch(key) is not None


def require_sendable(provider: str, key: str) -> str:
    """Returns the key. Raises ProviderKeyRefused where no header can carry it: the SDKs would report a lost connection,
    or quote the key in their error.
    """
    if not is_sendable(key):
        raise ProviderKeyRefused(f"{provider}: the key has a character that no key can have")
    return key
