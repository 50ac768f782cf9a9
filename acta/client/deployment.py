"""Which deployment is called, and with which token: a fixed text, or a source that renews its token itself."""

from __future__ import annotations

import asyncio
import ipaddress
import os
from collections.abc import AsyncGenerator, Generator, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

import httpx2

from acta.client.errors import InvalidDeploymentError, one_line

REFUSED = 401


class TokenSource(Protocol):
    """Both methods may send a request to the issuer and be called by several threads. They raise ClientError."""

    def token(self) -> str:
        """A token that will be valid for a while."""

    def renewed(self, refused: str) -> str:
        """Another token than `refused`, which the deployment did not accept."""


class FixedToken:
    """A `TokenSource` of one token."""

    def __init__(self, token: str) -> None:
        self._token = token

    def token(self) -> str:
        return self._token

    def renewed(self, refused: str) -> str:
        return self._token


class Bearer(httpx2.Auth):
    """Puts the token into each request. If the token is refused, it is replaced and the request is sent again, once:
    the token may have been revoked, or this machine's clock may be wrong.
    """

    def __init__(self, source: TokenSource) -> None:
        self._source = source

    def sync_auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        token = self._source.token()
        response = yield bearing(request, token)
        if response.status_code == REFUSED:
            another = self._source.renewed(token)
            if another != token:
                yield bearing(request, another)

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        token = await asyncio.to_thread(self._source.token)
        response = yield bearing(request, token)
        if response.status_code == REFUSED:
            another = await asyncio.to_thread(self._source.renewed, token)
            if another != token:
                yield bearing(request, another)


def bearing(request: httpx2.Request, token: str) -> httpx2.Request:
    request.headers["Authorization"] = f"Bearer {token}"
    return request


API_URL, TOKEN = "ACTA_API_URL", "ACTA_TOKEN"
"""The environment variables that name a deployment."""
PROGRAM = ("ACTA_ISSUER", "ACTA_CLIENT_ID", "ACTA_CLIENT_SECRET")
"""The variables of a program that gets its tokens by itself; they are read where there is no ACTA_TOKEN."""


@dataclass(frozen=True)
class Deployment:
    """`api_url`: the address of the API, https, or http on this machine. `token`: a JSON web token that the deployment
    accepts, or a `TokenSource` that gives one each time. `insecure`: send the token over http to another machine, too,
    although everybody on the way can read it.

    The fields are checked when the value is made. Raises InvalidDeploymentError.
    """

    api_url: str
    token: str | TokenSource = field(repr=False)
    insecure: bool = False

    def __post_init__(self) -> None:
        check_url(self.api_url)
        if not (self.insecure or is_encrypted(self.api_url)):
            raise InvalidDeploymentError(
                f"{one_line(self.api_url, 100)} is not encrypted, and everybody on the way could read the token: "
                "use https, or say that you mean it (`acta … --insecure`, `Deployment(…, insecure=True)`)"
            )
        if isinstance(self.token, str):
            token = self.token.strip()
            if not token.isascii() or not token.isprintable() or " " in token or not token:
                raise InvalidDeploymentError(
                    "the token is malformed: a token is one word of letters, digits, dots, dashes"
                )
            object.__setattr__(self, "token", token)

    @property
    def tokens(self) -> TokenSource:
        return FixedToken(self.token) if isinstance(self.token, str) else self.token

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] = os.environ) -> Deployment:
        """What ACTA_API_URL names, with ACTA_TOKEN or a program's tokens. Raises InvalidDeploymentError, also if one of
        them is not set.
        """
        url, token = environ.get(API_URL), token_in(environ)
        if not url or token is None:
            missing = [name for name, given in ((API_URL, url), (TOKEN, token)) if not given]
            raise InvalidDeploymentError(f"no deployment is named: set {' and '.join(missing)}")
        return cls(url, token)


def token_in(environ: Mapping[str, str]) -> str | TokenSource | None:
    """The token that the variables give, or the source of one. None: they give none. Raises InvalidDeploymentError if
    they name a part of a program.
    """
    given = {name: environ[name] for name in PROGRAM if environ.get(name)}
    if environ.get(TOKEN) or not given:
        return environ.get(TOKEN) or None
    missing = [name for name in PROGRAM if name not in given]
    if missing:
        raise InvalidDeploymentError(
            f"{' and '.join(given)} without {' and '.join(missing)}: a program needs all three"
        )
    from acta.client.sign_in.machine import MachineTokens  # imported only now: most callers bring a token

    return MachineTokens(*given.values())


def is_encrypted(url: str) -> bool:
    """Whether nobody on the way can read what is sent there: the URL is https, or this machine."""
    return urlsplit(url).scheme == "https" or is_loopback(url)


def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine: a loopback address or `localhost`."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_url(url: str) -> None:
    """Raises InvalidDeploymentError."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 80) > 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        raise InvalidDeploymentError(f"the API's URL must be an http or https URL, not {one_line(url, 100)}")
