"""The tokens of a sign-in, for a client. The next token is fetched when it is needed, by one process at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import httpx2

from acta.client.deployment import Deployment
from acta.client.errors import SignInEndedError
from acta.client.sign_in.oidc import EARLY_SECONDS, TokenSet, issuer_of
from acta.client.sign_in.store import SignIn, Store, folder


class StoredTokens:
    """A `TokenSource`. `http` None: a client is made for each refresh. `clock`: seconds since 1970.

    Each refresh happens under the environment's lock, after the file was read again. If another process has fetched new
    tokens meanwhile, they are used, because the old refresh token may be void.
    """

    def __init__(
        self,
        store: Store,
        environment: str,
        http: httpx2.Client | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._environment = environment
        self._http = http
        self._clock = clock
        self._current: TokenSet | None = None
        self._thread_lock = threading.Lock()

    def token(self) -> str:
        with self._thread_lock:
            if self._current is None or not self._lasts(self._current):
                self._current = self._next(lambda tokens: self._lasts(tokens))
            return self._current.token

    def renewed(self, refused: str) -> str:
        with self._thread_lock:
            self._current = self._next(lambda tokens: self._lasts(tokens) and tokens.token != refused)
            return self._current.token

    def _lasts(self, tokens: TokenSet) -> bool:
        return tokens.expires_at - self._clock() > EARLY_SECONDS

    def _next(self, is_good: Callable[[TokenSet], bool]) -> TokenSet:
        """The stored tokens if `is_good` accepts them, else newly issued ones. Raises ClientError."""
        stored = self._stored()
        if stored.tokens is not None and is_good(stored.tokens):
            return stored.tokens
        with self._store.locked(self._environment):
            stored = self._stored()
            if stored.tokens is None or (not is_good(stored.tokens) and stored.tokens.refresh_token is None):
                raise self._ended()
            if is_good(stored.tokens):
                return stored.tokens
            try:
                with issuer_of(stored.application, self._http, self._clock) as issuer:
                    tokens = issuer.refresh(issuer.endpoints(), stored.tokens)
            except SignInEndedError:
                raise self._ended() from None
            self._store.write(self._environment, replace(stored, tokens=tokens))
            return tokens

    def _stored(self) -> SignIn:
        stored = self._store.read(self._environment)
        if stored is None:
            raise self._ended()
        return stored

    def _ended(self) -> SignInEndedError:
        return SignInEndedError(
            f"you are not signed in to {self._environment} any more: sign in again with "
            f"`acta login --env {self._environment}`"
        )


def signed_in(environment: str, store: Store | None = None) -> Deployment:
    """The deployment that `acta login --env` signed in to from this machine, whose tokens renew themselves.

    Raises SignInEndedError if nobody is signed in to it.
    """
    store = store or Store(folder())
    stored = store.read(environment)
    if stored is None:
        raise SignInEndedError(
            f"nobody has signed in to {environment} from this machine: use `acta login --env {environment}`"
        )
    return Deployment(stored.api_url, StoredTokens(store, environment))
