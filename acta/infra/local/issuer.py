"""The development identity: an OpenID issuer with one key pair, stored in the state directory, and a page to sign in.

It takes the place of a customer's identity provider, or of Cognito in AWS. The front serves its two documents, and the
API's JWT authorizer reads them there. It is never used outside the local stack.

The page works like an identity provider's sign-in page with PKCE. Whoever opens it says who they are, and nothing is
checked, as with `acta token`. So it answers only programs of the user who started the stack, and no other user of the
machine gets a code or a token (`acta.local_aws.peers`). The code goes to the command line on this machine or to the
stack's own page and nowhere else, and is useless without the verifier, which only these two have. Sources: OpenID
Connect Core 1.0, RFC 6749 (OAuth 2.0), 7636 (PKCE), 8252 (native apps).

`acta up` and `acta console` give a link with a code that works once, within a minute (ADR 103). Only whoever made the
code knows it. The state directory, which only its owner can read, has a file, named after the code's hash, that says
for whom the code stands; taking this file away uses the code up. So any process of the owner can make a link.
"""

import base64
import html
import json
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from acta.engine.untrusted.own_files import write_own
from acta.infra.api.issuers import RENEWAL_GRACE_SECONDS
from acta.local_aws.loopback import HOST
from acta.local_aws.peers import Peer
from acta.local_aws.reverse_proxy import Answer

FOLDER = "page-links"
LIVES = timedelta(minutes=1)
SIGN_IN_LIVES = timedelta(days=30)


class Person(NamedTuple):
    tenant: str
    user: str
    roles: tuple[str, ...]


class PageLinks:
    """The sign-in links of the stack of `state_dir`."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / FOLDER

    def make(
        self,
        url: str,
        tenant: str,
        user: str,
        roles: Sequence[str],
        place: str = "inbox",
        now: datetime | None = None,
    ) -> str:
        """`url`: the stack's. The code is in the fragment, which is sent to no server and so is in no log."""
        now = now or datetime.now(UTC)
        _forget(self._folder, now - LIVES)
        code = secrets.token_urlsafe(24)
        kept = {"tenant": tenant, "user": user, "roles": list(roles), "until": (now + LIVES).isoformat()}
        write_own(self._file(code), json.dumps(kept).encode())
        return f"{url}/console/{place}#code={code}"

    def take(self, code: str) -> Person | None:
        """None: there is no such link, it was used, or its minute is over."""
        path = self._file(code)
        taken = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        try:
            path.rename(taken)  # of several at the same time one succeeds
            kept = json.loads(taken.read_text(encoding="utf-8"))
            taken.unlink()
        except (OSError, ValueError):
            return None
        if datetime.fromisoformat(kept["until"]) < datetime.now(UTC):
            return None
        return Person(kept["tenant"], kept["user"], tuple(kept["roles"]))

    def _file(self, code: str) -> Path:
        return self._folder / sha256(code.encode()).hexdigest()


class SignIns:
    """The sign-ins of the stack of `state_dir`. Their refresh tokens rotate, as those of Acta's own pool do.

    The state directory has a file for each sign-in: whose it is, and the hashes of its refresh tokens with their ends.
    """

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / "sign-ins"
        self._lock = threading.Lock()

    def begin(self, person: Person, now: datetime) -> str:
        """The first refresh token of a new sign-in."""
        kept = {**person._asdict(), "until": (now + SIGN_IN_LIVES).timestamp(), "renewed_by": {}}
        with self._lock:
            _forget(self._folder, now - SIGN_IN_LIVES)
            return self._with_next(self._folder / secrets.token_hex(16), kept)

    def renew(self, token: str, now: datetime) -> tuple[Person, str] | None:
        """Whose sign-in it is, and the next refresh token. None: it has ended, or this one was used before."""
        with self._lock:
            path, kept = self._read(token)
            hashed, at = sha256(token.encode()).hexdigest(), now.timestamp()
            kept["renewed_by"] = {name: end for name, end in kept["renewed_by"].items() if end > at}
            if hashed not in kept["renewed_by"]:
                return None
            kept["renewed_by"][hashed] = min(kept["renewed_by"][hashed], at + RENEWAL_GRACE_SECONDS)
            person = Person(kept["tenant"], kept["user"], tuple(kept["roles"]))
            return person, self._with_next(path, kept)

    def end(self, token: str) -> None:
        with self._lock:
            path, kept = self._read(token)
            if sha256(token.encode()).hexdigest() in kept["renewed_by"]:
                path.unlink()

    def _with_next(self, path: Path, kept: dict[str, Any]) -> str:
        token = f"{path.name}.{secrets.token_urlsafe(32)}"
        kept["renewed_by"][sha256(token.encode()).hexdigest()] = kept["until"]
        write_own(path, json.dumps(kept).encode())
        return token

    def _read(self, token: str) -> tuple[Path, dict[str, Any]]:
        """The file of the token's sign-in, and what is in it."""
        name = token.partition(".")[0]
        path = self._folder / (name if re.fullmatch("[0-9a-f]{32}", name) else "none")
        try:
            return path, json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return path, {"renewed_by": {}}


def _forget(folder: Path, before: datetime) -> None:
    """Removes the files that were written before then."""
    for path in folder.glob("*") if folder.is_dir() else ():
        with suppress(OSError):
            if path.stat().st_mtime < before.timestamp():
                path.unlink()


AUDIENCE = "acta"
ALGORITHM = "RS256"
KEY_FILE = "issuer-key.pem"
DEFAULT_TTL_SECONDS = 12 * 3_600

Role = str
"""Matches `ROLE_PATTERN`. The API knows admin and member; any other role matters to an agent's policies only."""
EVERYBODY: Role = "member"


@dataclass(frozen=True)
class LocalIssuer:
    """Signs tokens in the name of `url`, the address the front listens on (no trailing slash)."""

    url: str
    key: rsa.RSAPrivateKey

    @classmethod
    def from_state(cls, state_dir: Path, url: str) -> "LocalIssuer":
        """Uses the key of `state_dir`, which is made on first use and readable by its owner only."""
        path = state_dir / KEY_FILE
        if not path.exists():
            write_key(path)
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
        if not isinstance(key, rsa.RSAPrivateKey):
            raise ValueError(f"{path} does not hold an RSA key")
        return cls(url=url, key=key)

    @property
    def key_id(self) -> str:
        der = self.key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return sha256(der).hexdigest()[:16]

    def issue_token(
        self,
        tenant: str,
        user: str,
        roles: Role | Iterable[Role],
        ttl: int = DEFAULT_TTL_SECONDS,
        now: datetime | None = None,
        *,
        nonce: str = "",
    ) -> str:
        """A signed token; `ttl` in seconds from `now`. A negative `ttl` makes an expired token. `nonce`: that of the
        sign-in which gets the token; empty: there is none.

        Everybody is a member; `roles` are added to that.
        """
        named = [roles] if isinstance(roles, str) else list(roles)
        all_roles = dict.fromkeys([*(role for role in named if role != EVERYBODY), EVERYBODY])
        issued_at = int((now or datetime.now(UTC)).timestamp())
        claims = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": user,
            "tenant": tenant,
            "roles": json.dumps(list(all_roles)),  # a text, because the gateway hands no list over exactly
            "iat": issued_at,
            "exp": issued_at + ttl,
            "jti": secrets.token_hex(8),  # so that two tokens of one second differ
            **({"nonce": nonce} if nonce else {}),
        }
        return jwt.encode(claims, self.key, algorithm=ALGORITHM, headers={"kid": self.key_id})

    def jwks(self) -> dict[str, Any]:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**public, "kid": self.key_id, "alg": ALGORITHM, "use": "sig"}]}

    def documents(self) -> Mapping[str, bytes]:
        """Path -> JSON body of what an OpenID issuer publishes."""
        configuration = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/.well-known/jwks.json",
            "id_token_signing_alg_values_supported": [ALGORITHM],
            "authorization_endpoint": f"{self.url}/oauth2/authorize",
            "token_endpoint": f"{self.url}/oauth2/token",
            "revocation_endpoint": f"{self.url}/oauth2/revoke",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "subject_types_supported": ["public"],
        }
        return {
            "/.well-known/openid-configuration": json.dumps(configuration).encode(),
            "/.well-known/jwks.json": json.dumps(self.jwks()).encode(),
        }


def write_key(path: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    write_own(path, pem)


CLIENT_ID = AUDIENCE
"""The command line's client id. It is the audience of the ID tokens that the API accepts."""
AUTHORIZE, TOKEN, REVOKE = "/oauth2/authorize", "/oauth2/token", "/oauth2/revoke"
CODE_LIVES = timedelta(minutes=1)
BY_LINK = "urn:acta:link"
"""The grant type of a link's code."""
PAGE_PATH = "/console/signed-in"
TOKEN_SECONDS = 3_600
ASKED = (
    "response_type", "client_id", "redirect_uri", "state", "nonce", "code_challenge", "code_challenge_method",
)  # fmt: skip
ROLES = ("member", "admin", "approver")
NOT_YOURS = (
    "<p>This page answers programs of the person who started this stack, and this machine does not say that your "
    "browser is one. <code>acta console</code> gives you a link that signs you in.</p>"
)
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self' http://127.0.0.1:*",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer a browser sends a form without its origin
    "Cache-Control": "no-store",
}
PAGE = Template(Path(__file__).with_name("sign_in.html").read_text(encoding="utf-8"))


class Granted(NamedTuple):
    """What a code is for."""

    redirect_uri: str
    challenge: str
    nonce: str
    person: Person
    until: datetime


class SignInPage:
    """The sign-in page of one issuer. Codes are kept in memory for a minute, and can be used once."""

    def __init__(self, issuer: LocalIssuer, state_dir: Path) -> None:
        self._issuer = issuer
        self._links = PageLinks(state_dir)
        self._sign_ins = SignIns(state_dir)
        self._codes: dict[str, Granted] = {}
        self._lock = threading.Lock()

    def answer(
        self, method: str, raw_path: str, headers: Mapping[str, str], body: bytes, who: Callable[[], Peer]
    ) -> Answer | None:
        """None: the request is not for this page. `headers`: names in lower case. `who`: finds out who connected."""
        path, _, query = raw_path.partition("?")
        if (method, path) in (("GET", AUTHORIZE), ("POST", AUTHORIZE)) and who() is not Peer.OWN:
            return _page(403, NOT_YOURS)
        if (method, path) == ("GET", AUTHORIZE):
            return self._ask(dict(parse_qsl(query)))
        if (method, path) == ("POST", AUTHORIZE):
            if headers.get("origin", self._issuer.url) != self._issuer.url:
                return _page(403, "<p>Another page may not sign you in.</p>")
            return self._grant(parse_qsl(body.decode("utf-8", "replace")))
        if method == "POST" and path in (TOKEN, REVOKE):
            if who() is Peer.OTHER:  # an unknown peer may still have a link's code, which is a secret
                return _json(403, {"error": "access_denied"})
            form = dict(parse_qsl(body.decode("utf-8", "replace")))
            if path == TOKEN:
                return self._tokens(form)
            self._sign_ins.end(form.get("token", ""))
            return _json(200, {})  # also where there was nothing to revoke (RFC 7009, 2.2)
        return None

    def _ask(self, asked: Mapping[str, str]) -> Answer:
        if wrong := self._wrong(asked):
            return _page(400, f"<p>{html.escape(wrong)}</p>")
        hidden = "".join(
            f'<input type="hidden" name="{name}" value="{html.escape(asked.get(name, ""))}">'
            for name in ASKED
        )
        roles = "".join(
            f'<label><input type="checkbox" name="role" value="{role}"{" checked" if role == "member" else ""}>'
            f" {role}</label>"
            for role in ROLES
        )
        return _page(200, PAGE.substitute(action=AUTHORIZE, hidden=hidden, roles=roles))

    def _wrong(self, asked: Mapping[str, str]) -> str:
        """Why the request is refused without sending anybody back; empty: it is valid."""
        if asked.get("response_type") != "code" or asked.get("client_id") != CLIENT_ID:
            return f"The client is {CLIENT_ID}, and it asks for a code."
        back = asked.get("redirect_uri", "")
        if back != f"{self._issuer.url}{PAGE_PATH}" and not _is_command_line(back):
            return "A code is sent to acta login on this machine, or to this stack's own page."
        if asked.get("code_challenge_method") != "S256" or not asked.get("code_challenge"):
            return "PKCE with S256 is needed."
        return ""

    def _grant(self, form: list[tuple[str, str]]) -> Answer:
        asked = dict(form)
        tenant, user = asked.get("tenant", "").strip(), asked.get("user", "").strip()
        if wrong := self._wrong(asked) or ("" if tenant and user else "Say a tenant and a user."):
            return _page(400, f"<p>{html.escape(wrong)}</p>")
        code, now = secrets.token_urlsafe(32), datetime.now(UTC)
        roles = tuple(value for name, value in form if name == "role" and value in ROLES) or ("member",)
        person, nonce = Person(tenant, user, roles), asked.get("nonce", "")
        granted = Granted(asked["redirect_uri"], asked["code_challenge"], nonce, person, now + CODE_LIVES)
        with self._lock:
            self._codes = {each: kept for each, kept in self._codes.items() if kept.until > now} | {
                code: granted
            }
        back = urlencode({"code": code, "state": asked.get("state", ""), "iss": self._issuer.url})
        return _answer(302, b"", Location=f"{asked['redirect_uri']}?{back}")

    def _tokens(self, form: Mapping[str, str]) -> Answer:
        match form.get("grant_type"):
            case "authorization_code":
                with self._lock:
                    granted = self._codes.pop(form.get("code", ""), None)
                if granted is None or not _fits(granted, form):
                    return _refused("invalid_grant")
                return self._given(granted.person, nonce=granted.nonce)
            case "refresh_token":
                renewed = self._sign_ins.renew(form.get("refresh_token", ""), datetime.now(UTC))
                return _refused("invalid_grant") if renewed is None else self._given(*renewed)
            case grant if grant == BY_LINK:
                person = self._links.take(form.get("code", ""))
                return _refused("invalid_grant") if person is None else self._given(person)
            case _:
                return _refused("unsupported_grant_type")

    def _given(self, person: Person, renews: str | None = None, nonce: str = "") -> Answer:
        """`renews` None: a sign-in begins."""
        token = self._issuer.issue_token(*person, TOKEN_SECONDS, nonce=nonce)
        told = {
            "token_type": "Bearer",
            "expires_in": TOKEN_SECONDS,
            "id_token": token,
            "access_token": token,
            "refresh_token": renews or self._sign_ins.begin(person, datetime.now(UTC)),
        }
        return _json(200, told)


def _is_command_line(redirect_uri: str) -> bool:
    """Where `acta login` waits, on any port (RFC 8252, 7.3)."""
    try:
        parts = urlsplit(redirect_uri)
        port = parts.port
    except ValueError:
        return False
    return port is not None and redirect_uri == f"http://{HOST}:{port}/callback"


def _fits(granted: Granted, form: Mapping[str, str]) -> bool:
    digest = sha256(form.get("code_verifier", "").encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    same = secrets.compare_digest(challenge, granted.challenge)
    return same and granted.redirect_uri == form.get("redirect_uri") and granted.until > datetime.now(UTC)


def _page(status: int, text: str) -> Answer:
    return _answer(status, text.encode(), **{"Content-Type": "text/html; charset=utf-8"})


def _refused(error: str) -> Answer:
    return _json(400, {"error": error})


def _json(status: int, value: Mapping[str, object]) -> Answer:
    return _answer(status, json.dumps(value).encode(), **{"Content-Type": "application/json"})


def _answer(status: int, body: bytes, **headers: str) -> Answer:
    return Answer(status, list({**HEADERS, **headers}.items()), body)
