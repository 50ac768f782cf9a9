"""Names for people in the audit trail and in logs of refusals: a keyed hash of tenant and subject (ADR 54).

Whoever has the key and knows a person's subject finds that person's records. Nobody finds the person from a record.
"""

import hmac
from collections.abc import Callable
from hashlib import sha256

from shared.adapters.aws.secrets import SecretUnreadable, secret_text
from shared.domain.errors import StoreUnavailable

LOCAL_KEY = "a local stack keeps nothing of people"
"""Where there is no Secrets Manager."""
CHARS = 32


class KeyedPseudonyms:
    """`secret`: the name of the secret with the key; empty: `local_key` is the key. A process reads it once, at its
    first use: it does not change, except where an operator destroys it.
    """

    def __init__(self, secret: str, local_key: str = "", secrets: Callable[[str], str] = secret_text) -> None:
        self._secret = secret
        self._key = "" if secret else local_key
        self._secrets = secrets

    def of(self, tenant: str, user: str) -> str:
        if not self._key:
            self._key = self._read()
        said = f"{tenant}\0{user}".encode("utf-8", "surrogatepass")
        return f"p_{hmac.new(self._key.encode(), said, sha256).hexdigest()[:CHARS]}"

    def _read(self) -> str:
        if not self._secret:
            raise StoreUnavailable("the audit key is not known yet")
        try:
            key = self._secrets(self._secret)
        except SecretUnreadable as unreadable:
            raise StoreUnavailable(f"the audit key cannot be read: {unreadable}") from None
        if not key:
            raise StoreUnavailable("there is no audit key")
        return key
