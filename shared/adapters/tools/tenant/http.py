"""Tools of kind `http`: one request per call, with the effect id as its idempotency key (design §6.3, §7)."""

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urldefrag, urlencode, urljoin

from shared.adapters.egress.address import AddressGuard, AddressRefused, Target
from shared.domain.definitions.tool import HttpConfig, ToolDefinition
from shared.domain.errors import ToolFailed, ToolUnanswered
from shared.domain.untrusted.quoting import OutsideText, quoted
from shared.ports.tools import CallContext

if TYPE_CHECKING:
    from shared.adapters.egress.exchange import HttpAnswer


MAX_REDIRECTS = 3
REDIRECTS = frozenset((301, 302, 303, 307, 308))
SHOWN_BYTES = 1_000
"""Of a failure's body."""


class HttpTool:
    """Exchanges are made by `shared.adapters.egress.exchange`, which is imported at the first call."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard

    def run(
        self, tool: ToolDefinition, config: HttpConfig, arguments: Mapping[str, Any], context: CallContext
    ) -> OutsideText:
        """Raises ToolFailed, ToolUnanswered."""
        method, url, body = config.method, config.url, None
        headers = {
            "Accept": "application/json, text/*;q=0.9, */*;q=0.1",
            "User-Agent": "acta",
            "Idempotency-Key": context.effect_id,
        }
        if method == "GET":
            url = _with_query(url, arguments)
        else:
            headers["Content-Type"] = "application/json"
            body = json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace")
        own: Mapping[str, str] = config.headers
        until = time.monotonic() + context.deadline_seconds
        home: tuple[str, str, int] | None = None
        acts = tool.effect != "read" and method != "GET"
        for hop in range(MAX_REDIRECTS + 1):
            sent = acts and hop > 0
            target = self._target(tool, sent, url)
            home = home or target.origin
            answer = _exchange(
                tool,
                sent,
                target,
                method,
                {**(own if target.origin == home else {}), **headers},
                body,
                until - time.monotonic(),
            )
            if answer.status not in REDIRECTS or not answer.location:
                if answer.status >= 300 and method != config.method:
                    _unknown_if(sent)
                return _told(tool, answer)
            url = _following(tool, acts, url, answer.location)
            if answer.status == 303 or (answer.status in (301, 302) and method == "POST"):
                method, body = "GET", None
                headers.pop("Content-Type", None)
        _unknown_if(acts)
        raise ToolFailed(f"{tool.name} was redirected more than {MAX_REDIRECTS} times. Try another way.")

    def _target(self, tool: ToolDefinition, sent: bool, url: str) -> Target:
        try:
            return self._guard.resolve(url)
        except AddressRefused as refused:
            _unknown_if(sent)
            raise ToolFailed(f"{tool.name} may not go there: {refused}. Try another way.") from None
        except (OSError, UnicodeError):
            _unknown_if(sent)
            raise ToolFailed(f"the host of {tool.name} was not found. Try another way.") from None


def _exchange(
    tool: ToolDefinition,
    sent: bool,
    target: Target,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None,
    seconds: float,
) -> "HttpAnswer":
    from shared.adapters.egress.exchange import MAX_BYTES, AnswerTooLarge, NoAnswer, NotSent, exchange

    try:
        return exchange(target, method, headers, body, max(0.1, seconds))
    except NotSent:
        _unknown_if(sent)
        raise ToolFailed(
            f"{tool.name} could not be reached, so nothing happened. Try again later, or go on without it."
        ) from None
    except NoAnswer:
        _unanswered(tool)
    except AnswerTooLarge:
        raise ToolFailed(
            f"{tool.name} answered with more than {MAX_BYTES} bytes. It has run; ask it for less."
        ) from None


def _unknown_if(sent: bool) -> None:
    """Raises ToolUnanswered after a redirect of a request that acts: it arrived, may have had its effect, and its
    answer is out of reach. A caller that is not raised at says why the request itself failed.
    """
    if sent:
        raise ToolUnanswered("a tool of kind http redirected to where no answer came from") from None


def _unanswered(tool: ToolDefinition) -> NoReturn:
    if tool.effect == "read":
        raise ToolFailed(f"{tool.name} did not answer in time. Try again later, or go on without it.")
    raise ToolUnanswered(f"a tool of kind {tool.kind} did not answer")


def _told(tool: ToolDefinition, answer: "HttpAnswer") -> OutsideText:
    text = answer.body.decode("utf-8", "replace")
    if answer.status >= 300:
        head = answer.body[:SHOWN_BYTES].decode("utf-8", "ignore")
        said = (
            quoted("answer", tool.name, head, size=len(answer.body)) if head.strip() else "It said nothing."
        )
        raise ToolFailed(f"{tool.name} answered with status {answer.status}.\n{said}")
    return OutsideText(
        "answer", tool.name, text, note="" if text.strip() else f"[status {answer.status}, no content]"
    )


def _following(tool: ToolDefinition, sent: bool, url: str, location: str) -> str:
    try:
        return urldefrag(urljoin(url, location)).url
    except ValueError:
        _unknown_if(sent)
        raise ToolFailed(
            f"{tool.name} was redirected to something that is no URL. Try another way."
        ) from None


def _with_query(url: str, arguments: Mapping[str, Any]) -> str:
    """Numbers, truth values and lists as JSON writes them; null is left out."""
    pairs = [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in arguments.items()
        if value is not None
    ]
    if not pairs:
        return url
    query = urlencode(pairs, errors="replace")
    return f"{url}{'&' if '?' in url else '?'}{query}"
