"""A small OpenID provider in the place of somebody's issuer. It is strict where the standards are: a code and a refresh
token work once, and a code only with its verifier and its address. (The local AWS's own provider, which nobody here
wrote, is asked in `tests/user_pool/test_cognito.py`.)
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit

import httpx2

CLIENT = "acta-cli"
SUBJECT = "ann"
MACHINE, SECRET = "nightly/1", "a secret: of nightly"
"""A client with a secret; both have characters that have to be quoted."""


class Asked(NamedTuple):
    redirect_uri: str
    nonce: str
    challenge: str


class OpenIdProvider:
    """`changes`: of its configuration; `claims`: of its ID tokens; `back`: of what a browser brings back; `answer`: of
    the token endpoint's. `ttl`: seconds that a token lasts. `requests`: paths and forms, in their order.
    """

    def __init__(self) -> None:
        self.changes: dict[str, Any] = {}
        self.claims: dict[str, Any] = {}
        self.back: dict[str, Any] = {}
        self.answer: dict[str, Any] = {}
        self.ttl = 3_600
        self.error: tuple[int, dict[str, str]] | None = None
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.codes: dict[str, Asked] = {}
        self.refresh_tokens: set[str] = set()
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def refreshes(self) -> int:
        return sum(form.get("grant_type") == "refresh_token" for path, form in self.requests)

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize?ui=small",
            "token_endpoint": f"{self.url}/token",
            "revocation_endpoint": f"{self.url}/revoke",
            "code_challenge_methods_supported": ["S256"],
            **self.changes,
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser is sent, signed in as `SUBJECT`."""
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        assert query["ui"] == "small"
        code = secrets.token_urlsafe(12)
        self.codes[code] = Asked(query["redirect_uri"], query["nonce"], query["code_challenge"])
        back = {"code": code, "state": query["state"], **self.back}
        return f"{query['redirect_uri']}?{urlencode({k: v for k, v in back.items() if v is not None})}"

    def token(self, form: dict[str, str], authorization: str = "") -> tuple[int, dict[str, Any]]:
        if self.error is not None:
            return self.error[0], dict(self.error[1])
        if form["grant_type"] == "client_credentials":
            named = base64.b64decode(authorization.removeprefix("Basic ")).decode().split(":")
            if [unquote(each) for each in named] != [MACHINE, SECRET]:
                return 401, {"error": "invalid_client"}
            return 200, {"access_token": secrets.token_urlsafe(12), "expires_in": self.ttl}
        with self.lock:
            if form["grant_type"] == "refresh_token":
                if form["refresh_token"] not in self.refresh_tokens:
                    return 400, {"error": "invalid_grant"}
                self.refresh_tokens.remove(form["refresh_token"])
                return 200, self.tokens(None)
            asked = self.codes.pop(form["code"], None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        if asked is None or asked.redirect_uri != form["redirect_uri"] or form["client_id"] != CLIENT:
            return 400, {"error": "invalid_grant"}
        if asked.challenge != challenge.rstrip(b"=").decode():
            return 400, {"error": "invalid_grant"}
        return 200, self.tokens(asked.nonce)

    def tokens(self, nonce: str | None) -> dict[str, Any]:
        refresh_token = secrets.token_urlsafe(12)
        self.refresh_tokens.add(refresh_token)
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": SUBJECT,
            "exp": time.time() + self.ttl,
            "nonce": nonce,
        }
        return {
            "id_token": jwt({**claims, "jti": secrets.token_hex(4), **self.claims}),
            "access_token": secrets.token_urlsafe(12),
            "refresh_token": refresh_token,
            "token_type": "Bearer",
            "expires_in": self.ttl,
            **self.answer,
        }

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def jwt(claims: dict[str, Any]) -> str:
    """Unsigned: the client leaves signatures to the API."""
    parts = ({"alg": "none"}, claims)
    return (
        ".".join(base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=").decode() for each in parts)
        + ".x"
    )


class Browser:
    """Opens an address as a person's browser does, in the background. `pages`: what it was shown at the end."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.pages: list[httpx2.Response] = []
        self.threads: list[threading.Thread] = []

    def __call__(self, address: str) -> bool:
        self.opened.append(address)
        self.threads.append(threading.Thread(target=self._visit, args=(address,), daemon=True))
        self.threads[-1].start()
        return True

    def _visit(self, address: str) -> None:
        with httpx2.Client(follow_redirects=True, trust_env=False, timeout=10) as http:
            self.pages.append(http.get(address))

    def wait(self) -> None:
        for thread in self.threads:
            thread.join(10)


def handler_of(provider: OpenIdProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            provider.requests.append((parts.path, {}))
            if parts.path == "/.well-known/openid-configuration":
                return self.reply(200, provider.configuration())
            self.send_response(302)
            self.send_header("Location", provider.authorize(dict(parse_qsl(parts.query))))
            return self.end_headers()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            provider.requests.append((self.path, form))
            if self.path == "/revoke":
                provider.refresh_tokens.discard(form["token"])
                return self.reply(200, {})
            return self.reply(*provider.token(form, self.headers.get("Authorization", "")))

        def reply(self, status: int, body: dict[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
