"""URLs with which a program that has no token may do one thing: deliver an event to a trigger, or answer a call.

Such a URL ends with a token, `base64url(JSON of purpose, tenant and ids) . base64url(HMAC-SHA-256 of it)`. Whoever
receives a request checks it before anything is read (ADR 214), so a made-up URL causes no read of the table. The
key is a secret of the deployment. Of several keys in it, separated by white space, the first signs and all of them are
accepted, so that an operator can replace a key without breaking the URLs that are in use.
"""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import Literal, NamedTuple

from acta.engine.errors import NotFound, StoreUnavailable

Purpose = Literal["hooks", "callbacks"]
"""What the URL is for. It is the part of the path before the token, too."""
MAX_TOKEN_CHARS = 2_048
LOCAL_KEY = "a-local-stack-is-reached-from-this-machine-alone"
"""The key of a local stack, which keeps none in Secrets Manager."""
NO_SUCH_URL = "There is nothing at this path."


class Signed(NamedTuple):
    """What a token says: whose data it is about, and the ids of what it lets its holder do."""

    tenant: str
    ids: tuple[str, ...]


class SignedUrls:
    """`address`: of the API, without a slash at the end. `keys`: reads the secret with the keys."""

    def __init__(self, address: str, keys: Callable[[], str]) -> None:
        self._address = address
        self._read_keys = keys

    def url(self, purpose: Purpose, tenant: str, *ids: str) -> str:
        """Raises StoreUnavailable while the key cannot be read."""
        return f"{self._address}/v1/{purpose}/{self.sign(purpose, tenant, *ids)}"

    def sign(self, purpose: Purpose, tenant: str, *ids: str) -> str:
        """The token, always the same for the same ids and key. Raises StoreUnavailable."""
        said = json.dumps([purpose, tenant, *ids], separators=(",", ":")).encode()
        return f"{_text(said)}.{_text(_mac(self._keys()[0], said))}"

    def verify(self, purpose: Purpose, token: str) -> Signed:
        """Raises NotFound for a token that was not made here for this purpose, StoreUnavailable."""
        said, _, mac = token.partition(".")
        try:
            if len(token) > MAX_TOKEN_CHARS:
                raise ValueError
            body, sent = _bytes(said), _bytes(mac)
        except ValueError:
            raise NotFound(NO_SUCH_URL) from None
        # Every key is compared, so the time that it takes does not tell which one it was.
        if not sum(hmac.compare_digest(_mac(key, body), sent) for key in self._keys()):
            raise NotFound(NO_SUCH_URL)
        made_for, tenant, *ids = json.loads(body)
        if made_for != purpose:
            raise NotFound(NO_SUCH_URL)
        return Signed(tenant, tuple(ids))

    def _keys(self) -> list[str]:
        keys = self._read_keys().split()
        if not keys:
            raise StoreUnavailable("there is no key of signed URLs")
        return keys


def _mac(key: str, said: bytes) -> bytes:
    return hmac.new(key.encode(), said, sha256).digest()


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    """Raises ValueError, also for a text that is not how these bytes are written."""
    data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    if _text(data) != text:
        raise ValueError("not the usual form")
    return data
