"""The request being answered, checked as far as every route's is: route, caller, content type."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from shared.api.request import identity
from shared.api.request.body import Idempotency, body_bytes, idempotency_of, json_text
from shared.api.request.identity import Caller
from shared.api.response.errors import MethodNotAllowed
from shared.api.routes import Route, match
from shared.domain.errors import NotFound, ValidationFailed
from shared.domain.untrusted.path import PathRefused, check_path
from shared.settings import Settings


class Incoming(NamedTuple):
    """`headers` by lower-case name; `body` raw; `caller` None on routes that need no token. `event` is the
    gateway's, with a JSON body decoded.
    """

    route: Route
    path: str
    headers: Mapping[str, str]
    body: bytes
    caller: Caller | None
    event: Mapping[str, Any]

    @property
    def idempotency(self) -> Idempotency | None:
        """Raises ValidationFailed for a key that is not usable."""
        return idempotency_of(self.route.method, self.path, self.headers.get("idempotency-key"), self.body)

    @property
    def rest(self) -> str:
        """The file path of a `{path+}` route. Raises ValidationFailed naming `path`."""
        start = self.route.path.index("{")
        return file_path(self.path[start:])


def file_path(raw: str) -> str:
    """Decoded exactly once and checked.

    HTTP APIs hand `rawPath` over decoded, all but `%25`; other fronts hand it over as sent. One decoding
    gives the same text for both, and what is still encoded after it is refused with every other percent sign.
    """
    try:
        path = check_path(unquote(raw, errors="strict"))
        if "\ufffd" in path:
            raise PathRefused("the path is not UTF-8")
    except UnicodeDecodeError:
        raise _refused("the path is not UTF-8") from None
    except PathRefused as error:
        raise _refused(str(error)) from None
    return path


def read(event: Mapping[str, Any], settings: Settings) -> Incoming:
    """Raises NotFound, MethodNotAllowed, Unauthorized, Forbidden, UnsupportedMediaType, ValidationFailed."""
    http = event["requestContext"]["http"]
    method, path = str(http["method"]).upper(), _path(event)
    route, allowed = match(method, path)
    if route is None:
        raise MethodNotAllowed(allowed) if allowed else NotFound("There is nothing at this path.")
    caller = None
    if route.role is not None:
        caller = identity.from_event(event, settings.tenant_claim, settings.roles_claim)
        caller.require(route.role)
    headers = {name.lower(): str(value) for name, value in (event.get("headers") or {}).items()}
    content = body_bytes(event)
    if method in ("POST", "PUT") and not route.takes_bytes:
        text = json_text(content, headers.get("content-type"))
        headers["content-type"] = "application/json"
        event = {**event, "body": text, "isBase64Encoded": False, "headers": headers}
    return Incoming(route, path, headers, content, caller, event)


def _path(event: Mapping[str, Any]) -> str:
    """As the gateway names it, without a named stage's prefix."""
    path, stage = str(event["rawPath"]), event["requestContext"].get("stage", "$default")
    return path if stage == "$default" else path.removeprefix(f"/{stage}")


def _refused(reason: str) -> ValidationFailed:
    return ValidationFailed(f"This is not a usable file path: {reason}.", {"path": [f"{reason}."]})
