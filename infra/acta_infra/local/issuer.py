"""The development identity: an OpenID issuer with one key pair, stored in the state directory.

It stands where a customer's identity provider or Cognito stands in AWS. The front serves its two documents;
the API's JWT authorizer reads them there. Never used outside the local stack.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

AUDIENCE = "acta"
SIGN_IN = "acta-sign-in"
"""The audience of what renews a sign-in, which the API does not take."""
ALGORITHM = "RS256"
KEY_FILE = "issuer-key.pem"
DEFAULT_TTL_SECONDS = 12 * 3_600

Role = str
"""Matches `ROLE_PATTERN`. The API knows admin and member; any other role matters to an agent's policies only."""
EVERYBODY: Role = "member"


@dataclass(frozen=True)
class Issuer:
    """Signs tokens in the name of `url`, the address the front listens on (no trailing slash)."""

    url: str
    key: rsa.RSAPrivateKey

    @classmethod
    def from_state(cls, state_dir: Path, url: str) -> "Issuer":
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
        audience: str = AUDIENCE,
    ) -> str:
        """A signed token; `ttl` in seconds from `now`. A negative one makes a token that has expired. `nonce`: of the
        sign-in that it is for; empty: it is for none.

        Everybody is a member; every other role comes on top of that.
        """
        named = [roles] if isinstance(roles, str) else list(roles)
        issued_at = int((now or datetime.now(UTC)).timestamp())
        claims = {
            "iss": self.url,
            "aud": audience,
            "sub": user,
            "tenant": tenant,
            "roles": _claim(list(dict.fromkeys([*(role for role in named if role != EVERYBODY), EVERYBODY]))),
            "iat": issued_at,
            "exp": issued_at + ttl,
            **({"nonce": nonce} if nonce else {}),
        }
        return jwt.encode(claims, self.key, algorithm=ALGORITHM, headers={"kid": self.key_id})

    def signed_in(self, token: str) -> tuple[str, str, tuple[Role, ...]] | None:
        """Tenant, user and roles of what renews a sign-in. None: it is no such token, or is over."""
        try:
            claims = jwt.decode(
                token, self.key.public_key(), algorithms=[ALGORITHM], audience=SIGN_IN, issuer=self.url
            )
        except jwt.InvalidTokenError:
            return None
        roles = claims["roles"]
        return claims["tenant"], claims["sub"], tuple(json.loads(roles) if isinstance(roles, str) else roles)

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
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "subject_types_supported": ["public"],
        }
        return {
            "/.well-known/openid-configuration": json.dumps(configuration).encode(),
            "/.well-known/jwks.json": json.dumps(self.jwks()).encode(),
        }


def _claim(roles: list[Role]) -> list[Role] | str:
    """A list of one. The gateway's text of a longer one could be one name with spaces, so that is JSON
    (`shared/acta_engine/api/roles.py`).
    """
    return roles if len(roles) == 1 else json.dumps(roles)


def write_key(path: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(pem)
