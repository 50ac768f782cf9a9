"""The token of a program that signs in with a secret of its own, renewed in memory; nothing is stored."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import httpx2

from acta.client.sign_in.oidc import EARLY_SECONDS, Application, TokenSet, issuer_of


class MachineTokens:
    """A `TokenSource`. `scopes` None: none are asked for, and the issuer grants what the client may have. `http` None:
    a client is made for each token. `clock`: seconds since 1970.

        Client(Deployment(api_url, MachineTokens(issuer, client_id, secret)))
    """

    def __init__(
        self,
        issuer: str,
        client_id: str,
        secret: str,
        *,
        scopes: str | None = None,
        http: httpx2.Client | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._application = Application(issuer, client_id, scopes or "", "access_token")
        self._secret = secret
        self._http = http
        self._clock = clock
        self._current: TokenSet | None = None
        self._lock = threading.Lock()

    def token(self) -> str:
        with self._lock:
            if self._current is None or self._current.expires_at - self._clock() <= EARLY_SECONDS:
                self._current = self._next()
            return self._current.token

    def renewed(self, refused: str) -> str:
        with self._lock:
            if self._current is None or self._current.token == refused:
                self._current = self._next()
            return self._current.token

    def _next(self) -> TokenSet:
        with issuer_of(self._application, self._http, self._clock) as issuer:
            return issuer.machine_token(issuer.endpoints(), self._secret)
