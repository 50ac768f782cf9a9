"""The request that is answered, with the checks that all routes share: origin, route, caller, content type."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

from shared.api.request import identity
from shared.api.request.identity import Caller
from shared.api.request.json_body import body_bytes, json_text
from shared.api.request.origin import check_origin, source_address
from shared.api.request.roles import RoleRules
from shared.api.routes import Route, find
from shared.domain.audit.record import network_of
from shared.domain.errors import ValidationFailed
from shared.domain.untrusted.path import PathRefused, check_path
from shared.settings import Settings


class Request(NamedTuple):
    """`variables`: of the path. `query`: the values of each name, decoded. `headers`: by lower-case name. `body`: the
    bytes that were sent. `text`: a JSON body as text, not parsed yet. `caller`: None on routes that need no token.
    `source`: the client's network (`shared.domain.audit.record.network_of`).
    """

    route: Route
    path: str
    variables: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    headers: Mapping[str, str]
    body: bytes
    text: str
    caller: Caller | None
    source: str = ""

    @property
    def file_path(self) -> str:
        """The file's path on a `{path+}` route. Raises ValidationFailed naming `path`."""
        return file_path(self.path.removeprefix(self.route.prefix))


def read_request(event: Mapping[str, Any], settings: Settings) -> Request:
    """From API Gateway's event, payload format 2.0.

    Raises NotFound, MethodNotAllowed, Unauthorized, Forbidden, UnsupportedMediaType, ValidationFailed.
    """
    headers = {name.lower(): str(value) for name, value in (event.get("headers") or {}).items()}
    check_origin(headers, settings)
    path = _path(event)
    route = find(str(event["routeKey"]), str(event["requestContext"]["http"]["method"]).upper(), path)
    caller = None
    if route.role is not None:
        rules = RoleRules(settings.role_map, settings.roles_have_no_spaces)
        caller = identity.from_event(event, identity.claim_names(settings), rules)
        caller.require(route.role)
    body = body_bytes(event)
    takes_json = route.method in ("POST", "PUT", "PATCH") and not route.takes_bytes
    return Request(
        route=route,
        path=path,
        variables=event.get("pathParameters") or {},
        query=parse_qs(event.get("rawQueryString") or "", keep_blank_values=True),
        headers=headers,
        body=body,
        text=json_text(body, headers.get("content-type")) if takes_json else "",
        caller=caller,
        source=network_of(source_address(event, headers, settings)),
    )


def file_path(raw: str) -> str:
    """Decoded exactly once and checked.

    HTTP APIs hand `rawPath` over decoded, all but `%25`; other fronts hand it over as sent. One decoding gives the same
    text for both. A percent sign that is left after it is refused with every other percent sign.
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


def request_id(event: Mapping[str, Any]) -> str:
    """The gateway's, by which its access log names the request; empty where something else calls."""
    return str((event.get("requestContext") or {}).get("requestId") or "")


def _path(event: Mapping[str, Any]) -> str:
    """As the gateway names it, without a named stage's prefix."""
    path, stage = str(event["rawPath"]), event["requestContext"].get("stage", "$default")
    return path if stage == "$default" else path.removeprefix(f"/{stage}")


def _refused(reason: str) -> ValidationFailed:
    return ValidationFailed(f"This is not a usable file path: {reason}.", {"path": [f"{reason}."]})
