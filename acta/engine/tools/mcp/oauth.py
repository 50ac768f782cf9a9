"""Access tokens by OAuth 2.0 client credentials (RFC 6749, 4.4), kept in the process until they expire.

The client's secret goes to the definition's `token_url` and to no other place, whatever a server says (ADR 139). No
redirect of the request is followed.

A server's metadata (RFC 9728) name its authorization servers, whose own metadata (RFC 8414, OpenID Connect Discovery)
name token endpoints. They are read for the admin alone, who decides whether such an endpoint becomes the `token_url`.
No request for them carries a credential, and each host is held to the operator's list.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from acta.engine.egress.address import AddressGuard
from acta.engine.tools.mcp.exchange import (
    HttpRefused,
    McpFailed,
    NotReached,
    ProcessCache,
    exchanged,
    json_object,
    looked_up,
    text_in,
)
from acta.engine.tools.mcp.server import ClientCredentials, McpConnection

EARLIER_SECONDS = 30
"""How many seconds before its end a token is no longer used."""
USUAL_SECONDS = 300
"""The lifetime of a token that does not state one."""
MAX_KEPT = 200
MAX_ISSUERS = 3
"""The most authorization servers of one server whose metadata are read."""
_TOKEN = re.compile(r"[!-~]{1,16384}")
_SHOWN_URL = re.compile(r"https?://[!-~]{1,500}")
_SCOPE = re.compile(r'scope="([ -~]{1,300})"')
_METADATA = re.compile(r'resource_metadata="([^"]{1,2000})"')
_PROTECTED, _AUTHORIZATION = (
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-authorization-server",
)
_OPENID = "/.well-known/openid-configuration"


class NoToken(NotReached):
    """The token endpoint gave no token, so the server was not called."""


class TokenCache:
    """A process's tokens, one of each tenant's server."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._kept = ProcessCache[tuple[str, str]](MAX_KEPT)
        """By tenant and server: the token, and the hash of the connection and the secret's value that bought it."""

    def forget(self, tenant: str, server: str) -> None:
        self._kept.forget((tenant, server))

    def token(self, tenant: str, connection: McpConnection, secret: str, deadline: float) -> str:
        """The token that is kept, if the same definition bought it with the same secret; else a new one.

        Raises NoToken.
        """
        key = (tenant, connection.server)
        bought_with = hashlib.sha256(f"{connection.model_dump_json()}\n{secret}".encode()).hexdigest()
        token, with_this = self._kept.get(key) or ("", "")
        if with_this != bought_with:
            self.forget(*key)
            token, seconds = self._buy(connection, secret, deadline)
            self._kept.keep(key, (token, bought_with), seconds)
        return token

    def _buy(self, connection: McpConnection, secret: str, deadline: float) -> tuple[str, float]:
        """A new token, and for how many seconds it is used."""
        assert connection.auth is not None
        client = connection.auth.client_credentials
        assert client is not None
        headers, body = _token_request(client, connection.url, secret)
        try:
            answer = exchanged(looked_up(self._guard, client.token_url), "POST", headers, body, deadline)
            if answer.status not in (200, 201):
                raise HttpRefused(answer.status, "")
            given = json_object(text_in(answer))
        except McpFailed as failed:
            raise NoToken(f"has a token endpoint that {failed}") from None
        token, lives = given.get("access_token"), given.get("expires_in", USUAL_SECONDS)
        kind = str(given.get("token_type") or "Bearer").strip().lower()
        # Apigee calls it "BearerToken"
        if not isinstance(token, str) or not _TOKEN.fullmatch(token) or kind not in ("bearer", "bearertoken"):
            raise NoToken("has a token endpoint that gave no access token that can be used")
        lives = lives if isinstance(lives, int | float) and lives > 0 else USUAL_SECONDS
        return token, max(0.0, min(lives, 86_400) - EARLIER_SECONDS)


def _token_request(
    client: ClientCredentials, server_url: str, secret: str
) -> tuple[Mapping[str, str], bytes]:
    form = {"grant_type": "client_credentials", "resource": server_url}
    if client.scope:
        form["scope"] = client.scope
    headers = {
        "User-Agent": "acta",
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
    }
    if client.auth_method == "client_secret_post":
        form |= {"client_id": client.client_id, "client_secret": secret}
    else:
        pair = f"{quote(client.client_id, safe='')}:{quote(secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return headers, urlencode(form).encode()


class NamedEndpoint(NamedTuple):
    """A token endpoint that a server's metadata name. Nothing is sent there unless an admin writes it as `token_url`.
    `scope`: what the server asks for; empty: it does not say.
    """

    token_url: str
    issuer: str
    auth_method: str
    scope: str


def named_endpoints(
    guard: AddressGuard, server_url: str, challenge: str, deadline: float
) -> list[NamedEndpoint]:
    """`challenge`: the header `WWW-Authenticate` of the server's refusal. Raises McpFailed."""
    named = _METADATA.search(challenge)
    # with the path of the server, then at its root (RFC 9728, 3.1)
    origin, path = _origin_and_path(server_url)
    urls = [named.group(1)] if named else [f"{origin}{_PROTECTED}{path}", f"{origin}{_PROTECTED}"]
    resource = _first(guard, urls, deadline)
    about = resource.get("resource")
    if not isinstance(about, str) or not _covers(about, server_url):
        raise McpFailed("has metadata that are about another server")
    asked = _SCOPE.search(challenge)
    scope = asked.group(1) if asked else " ".join(_texts(resource.get("scopes_supported")))[:300]
    found = []
    for issuer in _texts(resource.get("authorization_servers"))[:MAX_ISSUERS]:
        try:
            origin, path = _origin_and_path(issuer)
            # the path goes behind the well-known part, or before it (RFC 8414, 3.1; OpenID Connect Discovery)
            behind = [f"{origin}{part}{path}" for part in (_AUTHORIZATION, _OPENID)]
            metadata = _first(guard, [*behind, f"{origin}{path}{_OPENID}"], deadline)
        except McpFailed:  # the other issuers speak for themselves
            continue
        url = metadata.get("token_endpoint")
        methods = _texts(metadata.get("token_endpoint_auth_methods_supported"))
        # an issuer speaks for itself alone (RFC 8414, 3.3), else one could name the endpoint of another
        if metadata.get("issuer") == issuer and isinstance(url, str) and _SHOWN_URL.fullmatch(url):
            by_post = "client_secret_post" in methods and "client_secret_basic" not in methods
            method = "client_secret_post" if by_post else "client_secret_basic"
            found.append(NamedEndpoint(url, issuer, method, scope))
    return found


def _first(guard: AddressGuard, urls: Iterable[str], deadline: float) -> Mapping[str, Any]:
    """The first document that is there. A redirect is none, nor is a place that does not answer."""
    headers = {"User-Agent": "acta", "Accept": "application/json"}
    for url in dict.fromkeys(urls):
        with suppress(McpFailed):
            answer = exchanged(looked_up(guard, url), "GET", headers, None, deadline)
            if answer.status == 200 and (found := json_object(text_in(answer))):
                return found
    raise McpFailed("does not say where its access tokens come from")


def _texts(value: Any) -> list[str]:
    given = value if isinstance(value, list) else []
    return [one for one in given if isinstance(one, str) and one.isascii() and one.isprintable()]


def _origin_and_path(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise McpFailed("has metadata with something that is no URL") from None
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


def _covers(resource: str, server_url: str) -> bool:
    """Whether metadata about `resource` are about the server: the same, or its origin or a path above it."""
    (about, above), (origin, path) = _origin_and_path(resource), _origin_and_path(server_url)
    return about.lower() == origin.lower() and f"{path}/".startswith(f"{above}/")
