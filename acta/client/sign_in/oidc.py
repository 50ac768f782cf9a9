"""Signing in as a native app does: OpenID Connect's discovery, its code flow with PKCE, then refreshing and revoking.

A few requests and checks, written out here instead of taken from a library (ADR 74). Sources: OpenID Connect Core 1.0
and Discovery 1.0, RFC 6749 (OAuth 2.0), 7636 (PKCE), 7009 (revocation), 8252 (native apps), 9207 (`iss`).
No token and no code is in any message.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote, urlencode, urlsplit

import httpx2

from acta.client.deployment import is_loopback
from acta.client.errors import ApiConnectionError, SignInEndedError, SignInError, one_line

TIMEOUT_SECONDS = 15.0
SIGN_IN_ERRORS = (SignInEndedError, SignInError, ApiConnectionError)
TOO_MANY = 429
DISCOVERY = "/.well-known/openid-configuration"
LEAST_SECONDS = 300
"""How long a token counts as valid if the issuer does not say."""
MOST_SECONDS = 200_000_000_000
"""More is no time that a calendar has to know: a sentinel, or milliseconds."""
EARLY_SECONDS = 60
"""A token is replaced this long before it expires, so that it does not expire on its way."""
CLOCK_SECONDS = 120
"""By how much this machine's clock and the issuer's may differ."""


@dataclass(frozen=True)
class Application:
    """What is registered at an issuer. `takes`: which of a sign-in's two tokens the API accepts."""

    issuer: str
    client_id: str
    scopes: str = "openid email profile"
    takes: Literal["id_token", "access_token"] = "id_token"

    def __post_init__(self) -> None:
        check_address(self.issuer, "the issuer's address")


@dataclass(frozen=True)
class Endpoints:
    """The addresses of an issuer. `revocation`: None if it has none. `names_itself`: all its answers have `iss`."""

    authorization: str
    token: str
    revocation: str | None = None
    names_itself: bool = False


@dataclass(frozen=True)
class AuthorizationRequest:
    """One try to sign in. The answer must contain `state`, and the ID token `nonce`. Without `verifier` the code is
    useless.
    """

    state: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    nonce: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(64), repr=False)

    @property
    def challenge(self) -> str:
        """The verifier's SHA-256 (RFC 7636, S256)."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()


@dataclass(frozen=True)
class TokenSet:
    """`token`: the one that the API accepts. `expires_at`: in seconds since 1970. `subject`: who signed in, as the
    issuer names them. `refresh_token`: None if the issuer gives none.
    """

    token: str = field(repr=False)
    expires_at: float
    subject: str
    refresh_token: str | None = field(default=None, repr=False)


def client(application: Application) -> httpx2.Client:
    """An HTTP client that follows no redirect: an address that was checked must not lead to one that was not."""
    return httpx2.Client(
        timeout=TIMEOUT_SECONDS,
        follow_redirects=False,
        headers={"User-Agent": "acta"},
        trust_env=not is_loopback(application.issuer),
    )


@contextmanager
def issuer_of(
    application: Application, http: httpx2.Client | None = None, clock: Callable[[], float] = time.time
) -> Iterator[IssuerClient]:
    """`http` None: a client is made, and closed at the end."""
    used = http or client(application)
    try:
        yield IssuerClient(application, used, clock)
    finally:
        if http is None:
            used.close()


class IssuerClient:
    """Talks to the issuer of `application`. `http` follows no redirects; `clock`: seconds since 1970."""

    def __init__(
        self, application: Application, http: httpx2.Client, clock: Callable[[], float] = time.time
    ) -> None:
        self.application = application
        self._http = http
        self._clock = clock

    def endpoints(self) -> Endpoints:
        """Raises SignInError and ApiConnectionError."""
        address = self.application.issuer
        document = self._json("GET", address.rstrip("/") + DISCOVERY, "its configuration")
        if document.get("issuer") != address:
            raise SignInError(f"{address} says that it is another issuer, {document.get('issuer')!r}")
        methods = document.get("code_challenge_methods_supported")
        if isinstance(methods, list) and "S256" not in methods:
            raise SignInError(f"{address} does not take PKCE with S256, which signing in needs")
        found = {name: document.get(f"{name}_endpoint") for name in ("authorization", "token", "revocation")}
        for name, endpoint in found.items():
            if endpoint is not None or name != "revocation":
                check_address(endpoint, f"the {name} endpoint of {one_line(address, 100)}")
        return Endpoints(
            authorization=str(found["authorization"]),
            token=str(found["token"]),
            revocation=found["revocation"],
            names_itself=document.get("authorization_response_iss_parameter_supported") is True,
        )

    def address_to_open(self, endpoints: Endpoints, attempt: AuthorizationRequest, redirect_uri: str) -> str:
        """The address to which the browser is sent."""
        asked = {
            "response_type": "code",
            "client_id": self.application.client_id,
            "redirect_uri": redirect_uri,
            "scope": self.application.scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        joined = "&" if urlsplit(endpoints.authorization).query else "?"
        return f"{endpoints.authorization}{joined}{urlencode(asked)}"

    def code(self, endpoints: Endpoints, attempt: AuthorizationRequest, given: Mapping[str, str]) -> str:
        """The code in the parameters that the browser brought back. Raises SignInError if they are not the answer to
        this attempt, or if the issuer refused.
        """
        if not hmac.compare_digest(given.get("state", "").encode(), attempt.state.encode()):
            raise SignInError("what the browser brought back is not the answer to this sign-in")
        issuer = given.get("iss")
        if (issuer is not None or endpoints.names_itself) and issuer != self.application.issuer:
            raise SignInError("what the browser brought back comes from another issuer")
        if "error" in given:
            why = given.get("error_description") or given["error"]
            raise SignInError(f"the issuer refused: {one_line(why, 200)}")
        if not given.get("code"):
            raise SignInError("the browser brought back no code")
        return given["code"]

    def exchange(
        self, endpoints: Endpoints, attempt: AuthorizationRequest, code: str, redirect_uri: str
    ) -> TokenSet:
        """The tokens for a code. Raises SignInError and ApiConnectionError."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": self.application.client_id,
            "code_verifier": attempt.verifier,
        }
        answer = self._json("POST", endpoints.token, "tokens", form)
        claims = self._checked(answer.get("id_token"))
        nonce = claims.get("nonce")
        if not isinstance(nonce, str) or not hmac.compare_digest(nonce.encode(), attempt.nonce.encode()):
            raise SignInError("the ID token was made for another sign-in")
        return self._tokens(answer, str(claims["sub"]), None)

    def refresh(self, endpoints: Endpoints, old: TokenSet) -> TokenSet:
        """The next tokens. Raises SignInEndedError if the issuer gives no more, SignInError and ApiConnectionError."""
        form = {
            "grant_type": "refresh_token",
            "refresh_token": old.refresh_token,
            "client_id": self.application.client_id,
        }
        answer = self._json("POST", endpoints.token, "tokens", form)
        if "id_token" in answer and self._checked(answer["id_token"])["sub"] != old.subject:
            raise SignInError("the next ID token is about somebody else")
        return self._tokens(answer, old.subject, old.refresh_token)

    def machine_token(self, endpoints: Endpoints, secret: str) -> TokenSet:
        """The token of a program with a secret of its own (RFC 6749, 4.4), which is sent like a password (2.3.1).

        Raises SignInError and ApiConnectionError.
        """
        form = {"grant_type": "client_credentials"}
        if self.application.scopes:
            form["scope"] = self.application.scopes
        named = (quote(self.application.client_id, safe=""), quote(secret, safe=""))
        answer = self._json("POST", endpoints.token, "a token", form, auth=named)
        return self._tokens(answer, self.application.client_id, None)

    def revoke(self, endpoints: Endpoints, tokens: TokenSet) -> bool:
        """Ends the sign-in at the issuer, too. Returns False if that could not be done."""
        if endpoints.revocation is None or tokens.refresh_token is None:
            return False
        form = {"token": tokens.refresh_token, "client_id": self.application.client_id}
        try:
            return self._http.post(endpoints.revocation, data=form).status_code == 200
        except httpx2.HTTPError:
            return False

    def _tokens(self, answer: Mapping[str, Any], subject: str, refresh_token: str | None) -> TokenSet:
        """`refresh_token`: the one that stays valid if the answer has no other."""
        token = answer.get(self.application.takes)
        if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable():
            raise SignInError(f"the issuer gave no {self.application.takes.replace('_', ' ')}")
        told = answer.get("refresh_token")
        return TokenSet(
            token=token,
            expires_at=self._expiry(token, answer.get("expires_in")),
            subject=subject,
            refresh_token=told if isinstance(told, str) and told else refresh_token,
        )

    def _expiry(self, token: str, expires_in: object) -> float:
        """The token's own expiry, if it can be read; `expires_in` is that of the access token."""
        now = self._clock()
        for begins, seconds in ((0.0, claims_of(token).get("exp")), (now, expires_in)):
            if (
                isinstance(seconds, int | float)
                and not isinstance(seconds, bool)
                and 0 < seconds <= MOST_SECONDS
            ):
                return begins + float(seconds)
        return now + LEAST_SECONDS

    def _checked(self, id_token: object) -> Mapping[str, Any]:
        """The claims of an ID token that is for this application. Its signature is not checked: the token came straight
        from the issuer over TLS (OpenID Connect Core, 3.1.3.7, 6), and the API verifies it. Raises SignInError.
        """
        claims = claims_of(id_token)
        audience = claims.get("aud")
        audiences = [audience] if isinstance(audience, str) else audience
        expires = claims.get("exp")
        fits = (
            claims.get("iss") == self.application.issuer
            and isinstance(audiences, list)
            and self.application.client_id in audiences
            and (len(audiences) == 1 or claims.get("azp") == self.application.client_id)
            and isinstance(claims.get("sub"), str)
            and isinstance(expires, int | float)
            and expires > self._clock() - CLOCK_SECONDS
        )
        if not fits:
            raise SignInError("the issuer gave no ID token that is for this application and valid")
        return claims

    def _json(
        self,
        method: str,
        url: str,
        what: str,
        form: Mapping[str, Any] | None = None,
        auth: tuple[str, str] | None = None,
    ) -> Mapping[str, Any]:
        try:
            answer = self._http.request(method, url, data=form, auth=auth)
        except httpx2.HTTPError as error:
            why = one_line(str(error), 100) or type(error).__name__
            raise ApiConnectionError(
                f"no answer from the issuer {one_line(self.application.issuer, 100)}: {why}"
            ) from None
        try:
            body = answer.json()
        except ValueError:
            body = None
        if answer.status_code == 200 and isinstance(body, Mapping):
            return body
        if answer.status_code >= 500 or answer.status_code == TOO_MANY:
            raise ApiConnectionError(
                f"the issuer {one_line(self.application.issuer, 100)} did not give {what} just now: "
                f"status {answer.status_code}"
            )
        refused = body.get("error") if isinstance(body, Mapping) else None
        if answer.status_code in (400, 401) and refused == "invalid_grant":
            raise SignInEndedError("the issuer takes this sign-in no longer")
        named = f" ({one_line(refused, 60)})" if isinstance(refused, str) else ""
        raise SignInError(f"the issuer did not give {what}: status {answer.status_code}{named}")


def claims_of(token: object) -> Mapping[str, Any]:
    """The claims of a JSON web token, unverified; empty if it is none."""
    parts = token.split(".") if isinstance(token, str) else []
    if len(parts) != 3:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError):
        return {}
    return claims if isinstance(claims, Mapping) else {}


def check_address(address: object, what: str) -> None:
    """Raises SignInError unless the address is https, or http on this machine."""
    try:
        parts = urlsplit(address) if isinstance(address, str) and address.isprintable() else None
        usable = parts is not None and bool(parts.hostname) and parts.username is None and not parts.fragment
        secure = parts is not None and (
            parts.scheme == "https" or (parts.scheme == "http" and is_loopback(str(address)))
        )
    except ValueError:
        usable = secure = False
    if not usable or not secure:
        raise SignInError(f"{what} has to begin with https://")
