"""Access tokens by OAuth 2.0 client credentials (RFC 6749, 4.4), kept in the process until they expire.

Where a token comes from: the definition's `token_url`; else the server's protected resource metadata (RFC 9728) name an
authorization server, whose own metadata (RFC 8414, OpenID Connect Discovery) name the token endpoint. Each of these
hosts is held to the operator's list. No redirect of a token request is followed, and the secret goes to no host that it
is not for.
"""

import base64
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urljoin, urlsplit

from acta_engine.egress.address import AddressGuard
from acta_engine.egress.exchange import HttpAnswer
from acta_engine.tools.mcp.exchange import (
    MAX_REDIRECTS,
    HttpRefused,
    McpFailed,
    NotReached,
    exchanged,
    json_object,
    looked_up,
)
from acta_engine.tools.mcp.server import ClientCredentials

EARLIER_SECONDS = 30
"""How many seconds before its end a token is no longer used."""
USUAL_SECONDS = 300
"""The lifetime of a token that does not state one."""
MAX_KEPT = 200
_TOKEN = re.compile(r"[!-~]{1,16384}")
_SCOPE = re.compile(r'scope="([^"]{1,1000})"')
_METADATA = re.compile(r'resource_metadata="([^"]{1,2000})"')
_PROTECTED, _AUTHORIZATION = (
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-authorization-server",
)
_OPENID = "/.well-known/openid-configuration"

SecretFor = Callable[[str], str]
"""From the URL of a token endpoint to the client's secret. Raises what a call of a tool raises without it."""


class Endpoint(NamedTuple):
    """`in_header` False: the secret goes into the body (client_secret_post)."""

    url: str
    in_header: bool
    scope: str | None


class TokenCache:
    """A process's tokens. `wall`: seconds of a clock that never goes back."""

    def __init__(self, guard: AddressGuard, wall: Callable[[], float] = time.monotonic) -> None:
        self._guard = guard
        self._wall = wall
        self._kept: dict[tuple[str, ...], tuple[str, float]] = {}

    def kept(self, key: tuple[str, ...]) -> str | None:
        """`key`: tenant, server, and what tells one definition of it from another."""
        token, until = self._kept.get(key, (None, 0.0))
        return token if self._wall() < until else None

    def forget(self, key: tuple[str, ...]) -> None:
        self._kept.pop(key, None)

    def fetch(
        self,
        key: tuple[str, ...],
        client: ClientCredentials,
        server_url: str,
        refused: HttpAnswer | None,
        secret: SecretFor,
        deadline: float,
    ) -> str:
        """A new token. `refused`: the answer with 401, which may say where the metadata are. Raises McpFailed, and what
        `secret` raises.
        """
        endpoint = self._endpoint(client, server_url, refused, deadline)
        answer = self._ask(endpoint, client, server_url, secret(endpoint.url), deadline)
        value, seconds = answer.get("access_token"), answer.get("expires_in", USUAL_SECONDS)
        kind = answer.get("token_type", "Bearer")
        if not isinstance(value, str) or not _TOKEN.fullmatch(value) or str(kind).lower() != "bearer":
            raise McpFailed("gave no access token that can be used")
        lives = seconds if isinstance(seconds, int | float) and seconds > 0 else USUAL_SECONDS
        if len(self._kept) >= MAX_KEPT:
            self._kept.clear()
        self._kept[key] = value, self._wall() + max(0.0, min(lives, 86_400) - EARLIER_SECONDS)
        return value

    def _ask(
        self, endpoint: Endpoint, client: ClientCredentials, server_url: str, secret: str, deadline: float
    ) -> Mapping[str, Any]:
        form = {"grant_type": "client_credentials", "resource": server_url}
        if endpoint.scope:
            form["scope"] = endpoint.scope
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if endpoint.in_header:
            pair = f"{quote(client.client_id, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": client.client_id, "client_secret": secret}
        target = looked_up(self._guard, endpoint.url)
        answer = exchanged(
            target, "POST", {"User-Agent": "acta", **headers}, urlencode(form).encode(), deadline
        )
        if answer.status != 200:
            raise HttpRefused(answer.status, "")
        return json_object(answer.body)

    def _endpoint(
        self, client: ClientCredentials, server_url: str, refused: HttpAnswer | None, deadline: float
    ) -> Endpoint:
        if client.token_url is not None:
            return Endpoint(client.token_url, True, client.scope)
        resource = self._resource(server_url, refused, deadline)
        issuer = _issuer(resource, client)
        metadata = self._first(_issuer_urls(issuer), deadline)
        if metadata.get("issuer") != issuer:
            raise McpFailed("has an authorization server whose metadata are another one's")
        url = metadata.get("token_endpoint")
        if not isinstance(url, str):
            raise McpFailed("has an authorization server without a token endpoint")
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return Endpoint(url, _takes_header(methods), client.scope or _scope_of(refused, resource))

    def _resource(self, server_url: str, refused: HttpAnswer | None, deadline: float) -> Mapping[str, Any]:
        """The server's protected resource metadata, which must be about this server."""
        header = refused.headers.get("www-authenticate", "") if refused is not None else ""
        named = _METADATA.search(header)
        urls = iter([named.group(1)]) if named else _resource_urls(server_url)
        metadata = self._first(urls, deadline)
        about = metadata.get("resource")
        if not isinstance(about, str) or not _covers(about, server_url):
            raise McpFailed("has metadata that are about another server")
        return metadata

    def _first(self, urls: Iterator[str], deadline: float) -> Mapping[str, Any]:
        """The first document that is there."""
        for url in urls:
            answer = self._get(url, deadline)
            if answer.status == 200 and (found := json_object(answer.body)):
                return found
        raise McpFailed("does not say where its access tokens come from")

    def _get(self, url: str, deadline: float) -> HttpAnswer:
        for _ in range(MAX_REDIRECTS + 1):
            target = looked_up(self._guard, url)
            headers = {"User-Agent": "acta", "Accept": "application/json"}
            answer = exchanged(target, "GET", headers, None, deadline)
            if answer.status not in (301, 302, 307, 308) or not answer.location:
                return answer
            url = urljoin(url, answer.location)
        raise NotReached(f"was redirected more than {MAX_REDIRECTS} times")


def _resource_urls(server_url: str) -> Iterator[str]:
    """RFC 9728, 3.1: with the path of the server, then at its root."""
    parts = urlsplit(server_url)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    if path:
        yield f"{origin}{_PROTECTED}{path}"
    yield f"{origin}{_PROTECTED}"


def _issuer_urls(issuer: str) -> Iterator[str]:
    """RFC 8414, 3.1, and OpenID Connect Discovery: the path goes behind the well-known part, or before it."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    yield f"{origin}{_AUTHORIZATION}{path}"
    yield f"{origin}{_OPENID}{path}"
    if path:
        yield f"{origin}{path}{_OPENID}"


def _issuer(resource: Mapping[str, Any], client: ClientCredentials) -> str:
    named = resource.get("authorization_servers")
    issuers = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    if client.issuer is not None:
        if client.issuer not in issuers:
            raise McpFailed("names another authorization server than its definition does")
        return client.issuer
    if not issuers:
        raise McpFailed("does not name an authorization server")
    return issuers[0]


def _covers(resource: str, server_url: str) -> bool:
    """Whether metadata about `resource` are about the server: the same, or its origin or a path above it."""
    about, server = urlsplit(resource), urlsplit(server_url)
    if (about.scheme, about.netloc.lower()) != (server.scheme, server.netloc.lower()):
        return False
    path = about.path.rstrip("/")
    return server.path.rstrip("/") == path or server.path.startswith(f"{path}/")


def _takes_header(methods: Any) -> bool:
    """Basic is used where the metadata say nothing: every authorization server supports it (RFC 6749, 2.3.1)."""
    known = methods if isinstance(methods, list) else []
    if "client_secret_basic" in known or not known:
        return True
    if "client_secret_post" in known:
        return False
    raise McpFailed("has an authorization server that takes no client secret")


def _scope_of(refused: HttpAnswer | None, resource: Mapping[str, Any]) -> str | None:
    """What the refusal asks for, else all that the metadata name."""
    asked = _SCOPE.search(refused.headers.get("www-authenticate", "")) if refused else None
    if asked:
        return asked.group(1)
    named = resource.get("scopes_supported")
    scopes = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    return " ".join(scopes)[:1_000] or None
