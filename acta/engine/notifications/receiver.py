"""Where a tenant is told, and with what it is signed (ADR 68). The secret itself is in AWS Secrets Manager alone.

Notifications are signed as the Standard Webhooks specification says (https://www.standardwebhooks.com), so that a
receiver can use a library of its language.
"""

import base64
import binascii
import hmac
from datetime import datetime
from typing import Annotated

from pydantic import Field

from acta.engine.store.schema import FrozenModel

BASE64_PREFIX = "whsec_"
"""What follows this prefix in a secret is base64. A secret without the prefix is the key itself."""
MIN_KEY_BYTES = 16
MAX_URL_CHARS = 1_000
MAX_SECRET_CHARS = 512
SECRET_RULE = (
    f"A secret is {MIN_KEY_BYTES} to {MAX_SECRET_CHARS} printable ASCII characters without a space, or whsec_ and the "
    f"base64 of {MIN_KEY_BYTES} bytes or more."
)


class TenantReceiver(FrozenModel):
    """`url`: of the tenant's webhook; None: its sessions may have webhooks of their own, which are signed with the same
    secret. `updated_by`: the subject who wrote it last.
    """

    tenant: str
    url: Annotated[str, Field(max_length=MAX_URL_CHARS)] | None
    created_at: datetime
    updated_at: datetime
    updated_by: str


def usable_secret(secret: str) -> str:
    """The secret, where it may be stored. Raises ValueError with `SECRET_RULE`."""
    is_plain = secret.isascii() and secret.isprintable() and " " not in secret
    try:
        if is_plain and len(secret) <= MAX_SECRET_CHARS and signing_key(secret):
            return secret
    except ValueError:
        pass
    raise ValueError(SECRET_RULE)


def signing_key(secret: str) -> bytes:
    """The key in a configured secret. Raises ValueError where it has none; the message does not quote the secret."""
    secret = secret.strip()
    try:
        if secret.startswith(BASE64_PREFIX):
            key = base64.b64decode(secret.removeprefix(BASE64_PREFIX), validate=True)
        else:
            key = secret.encode()
    except (binascii.Error, UnicodeError):
        raise ValueError(f"what follows {BASE64_PREFIX} is not base64") from None
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"the key has fewer than {MIN_KEY_BYTES} bytes")
    return key


def signature(key: bytes, notification_id: str, timestamp: int, body: bytes) -> str:
    """`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. `timestamp`: whole seconds since 1970."""
    signed = b".".join((notification_id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
