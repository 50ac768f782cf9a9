"""Where a client's token comes from: a text, or a source that gets the next one by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import Protocol

import httpx2

REFUSED = 401


class TokenSource(Protocol):
    """Both methods may take a request to the issuer; several threads may call them. They raise ClientError."""

    def token(self) -> str:
        """One that is valid for a while."""

    def renewed(self, refused: str) -> str:
        """Another one than `refused`, which the deployment did not take."""


class FixedToken:
    """A `TokenSource` of one token."""

    def __init__(self, token: str) -> None:
        self._token = token

    def token(self) -> str:
        return self._token

    def renewed(self, refused: str) -> str:
        return self._token


class Bearer(httpx2.Auth):
    """Puts the token into each request. One that is refused is replaced, and the request sent again, once: a token may
    have been revoked, or this machine's clock may be wrong.
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
