"""How notifications are signed: as the Standard Webhooks specification says (https://www.standardwebhooks.com), so that
a receiver can use a library of its language.
"""

import base64
import binascii
import hmac

BASE64_PREFIX = "whsec_"
"""What follows this prefix in a secret is base64. A secret without the prefix is the key itself."""
MIN_KEY_BYTES = 16


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
