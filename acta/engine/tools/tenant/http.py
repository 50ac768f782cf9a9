"""Tools of kind `http`: a call is one request, with the effect id as its idempotency key (docs/design/tools.md 10).

A call "acts" when its request may have an effect: the tool's effect is not `read` and the method is not GET. After a
redirect of such a request nobody knows whether it had its effect: the first server got it, and may have done it.
"""

import json
import time
from collections.abc import Mapping
from string import punctuation
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urldefrag, urljoin

from acta.engine.egress.address import AddressGuard, AddressRefused, Target
from acta.engine.errors import ToolFailed, ToolUnanswered
from acta.engine.tools.port import CallContext
from acta.engine.tools.tenant.credentials import Credentials, Known, Secrets, credentials_of
from acta.engine.tools.tenant.parameters import request_of
from acta.engine.tools.tool import HttpConfig, ToolDefinition
from acta.engine.untrusted.quoting import OutsideText

if TYPE_CHECKING:
    from acta.engine.egress.exchange import HttpAnswer


MAX_REDIRECTS = 3
REDIRECTS = frozenset((301, 302, 303, 307, 308))
ACCEPTED = 202
MAX_RESULT_CHARS = 4_194_304
NOT_FOUND = "Nothing is known under the name of the host: look at config.url."
NOT_REACHED = (
    "There was no connection, or no valid certificate: see that the server of config.url runs and is reached."
)
CALLBACK_HEADER = "Acta-Callback-Url"
"""Where the answer may be sent later, to a call of a tool that declares `later`."""
MOVED = (
    "[status {} led to another address, and this is what a GET found there. The {} may have had its effect or not: "
    "look before you do it again.]"
)
SHOWN_BYTES = 1_000
"""The model gets the body of a failed answer up to this size."""


class HttpTool(NamedTuple):
    guard: AddressGuard
    """Says which URLs may be called."""
    secrets: Secrets
    """Reads those that headers refer to."""
    known: Known
    """Says which hosts they are for."""

    def run(self, tool: ToolDefinition, arguments: Mapping[str, Any], context: CallContext) -> OutsideText:
        """Raises ToolFailed, ToolLater, ToolUnanswered, ToolNotRun."""
        config = tool.config
        assert isinstance(config, HttpConfig)
        deadline = time.monotonic() + context.deadline_seconds
        credentials = credentials_of(tool.name, config, self.secrets, self.known, context.tenant)
        method, body = config.method, None
        request = request_of(tool.name, config, arguments)
        url = request.url
        headers = {
            "Accept": "application/json, text/*;q=0.9, */*;q=0.1",
            "User-Agent": "acta",
            "Idempotency-Key": context.effect_id,
        }
        if request.body is not None:
            headers["Content-Type"] = "application/json; charset=utf-8"
            body = json.dumps(request.body, ensure_ascii=False).encode("utf-8", "replace")
        configured: dict[str, str] = {**request.headers, **config.headers, **credentials.headers}
        if context.callback is not None:  # like a credential it goes to no other host
            configured[CALLBACK_HEADER] = context.callback.url
        first_origin: tuple[str, str, int] | None = None
        acts = tool.effect != "read" and method != "GET"
        moved = ""
        for hop in range(MAX_REDIRECTS + 1):
            in_doubt = acts and hop > 0
            target = self._target(tool, in_doubt, url, credentials, is_first=hop == 0)
            first_origin = first_origin or target.origin
            answer = _exchange(
                tool,
                in_doubt,
                target,
                method,
                {**(configured if target.origin == first_origin else {}), **headers},
                body,
                deadline - time.monotonic(),
            )
            if answer.status not in REDIRECTS or not answer.location:
                if answer.status >= 300 and method != config.method:
                    _raise_if(in_doubt)
                if answer.is_lost and tool.effect == "once":
                    raise ToolUnanswered(f"a tool of kind {tool.kind} is behind a gateway that had no answer")
                if answer.status == ACCEPTED and context.callback is not None:
                    raise context.callback.awaited(tool.name, {})
                return _result(tool, answer, credentials, moved)
            url = _redirect_url(tool, acts, url, answer.location)
            if answer.status == 303 or (answer.status in (301, 302) and method == "POST"):
                # 303 alone says that the request was taken, and where its answer is (RFC 9110, 15.4)
                moved = MOVED.format(answer.status, config.method) if acts and answer.status != 303 else moved
                method, body = "GET", None
                headers.pop("Content-Type", None)
        _raise_if(acts)
        raise ToolFailed(f"{tool.name} was redirected more than {MAX_REDIRECTS} times. Try another way.")

    def _target(
        self, tool: ToolDefinition, in_doubt: bool, url: str, credentials: Credentials, *, is_first: bool
    ) -> Target:
        try:
            return self.guard.resolve(url)
        except AddressRefused as refused:
            _raise_if(in_doubt)
            # after a redirect another server has named the host, which may repeat a secret in small letters
            why = None if credentials.values else OutsideText("address", tool.name, f"{refused}.")
            message = f"{tool.name} may not go there. Try another way."
            raise ToolFailed(message, why, ran=not is_first, remedy=refused.remedy) from None
        except (OSError, UnicodeError):
            _raise_if(in_doubt)
            message = f"the host of {tool.name} was not found. Try another way."
            raise ToolFailed(message, ran=not is_first, remedy=NOT_FOUND) from None


def _exchange(
    tool: ToolDefinition,
    in_doubt: bool,
    target: Target,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None,
    seconds: float,
) -> "HttpAnswer":
    from acta.engine.egress.exchange import AnswerTooLarge, NoAnswer, NotSent, exchange

    try:
        return exchange(target, method, headers, body, max(0.1, seconds))
    except NotSent:
        _raise_if(in_doubt)
        raise ToolFailed(
            f"{tool.name} could not be reached, so nothing happened. Try again later, or go on without it.",
            ran=False,
            remedy=NOT_REACHED,
        ) from None
    except NoAnswer as silent:
        if tool.effect == "read":
            raise ToolFailed(f"{tool.name} {silent}. Try again later, or go on without it.") from None
        raise ToolUnanswered(f"a tool of kind {tool.kind} {silent}") from None
    except AnswerTooLarge as large:
        raise ToolFailed(f"{tool.name} {large}. {tool.large_answer_hint}") from None


def _raise_if(in_doubt: bool) -> None:
    """Raises ToolUnanswered where an earlier request of this call, which was redirected, may have had the effect.

    Otherwise it returns, and the caller raises ToolFailed with what went wrong.
    """
    if in_doubt:
        raise ToolUnanswered("a tool of kind http redirected to where no answer came from") from None


def _result(tool: ToolDefinition, answer: "HttpAnswer", credentials: Credentials, moved: str) -> OutsideText:
    """The result for the model. `moved`: what it has to know of redirects. Raises ToolFailed where the status is not
    2xx.
    """
    from acta.engine.untrusted.encodings import NotText

    text, note, other = "", "", ""
    try:
        said = answer.text()
        text, note = credentials.hidden(said.text), said.note
    except NotText as kind:
        other = f"Its body is {kind} and cannot be shown."
    if answer.status >= 300:
        head = text.encode()[:SHOWN_BYTES].decode("utf-8", "ignore")
        how = f"{tool.name} answered with status {answer.status}."
        if answer.is_lost and tool.effect != "read":
            how += " It may have had its effect: look before you do it again."
        if not head.strip():
            raise ToolFailed(f"{how} {other or 'It said nothing.'}", status=answer.status)
        beginning = OutsideText("answer", tool.name, head, size=len(text.encode()))
        raise ToolFailed(how, beginning, status=answer.status)
    if len(text) > MAX_RESULT_CHARS:  # a mark may be longer than what it stands for
        raise ToolFailed(f"{tool.name} answered with too much about its secrets. {tool.large_answer_hint}")
    if not text.strip():
        note = f"[status {answer.status}. {other}]" if other else f"[status {answer.status}, no content]"
    return OutsideText("answer", tool.name, text, note=f"{moved}{note}", status=answer.status)


def _redirect_url(tool: ToolDefinition, in_doubt: bool, url: str, location: str) -> str:
    try:
        # Many servers write a name with spaces or in UTF-8 here; each character of a header is one byte.
        escaped = quote(location, safe=punctuation, encoding="latin-1")
        return urldefrag(urljoin(url, escaped)).url
    except ValueError:
        _raise_if(in_doubt)
        raise ToolFailed(
            f"{tool.name} was redirected to something that is no URL. Try another way."
        ) from None
