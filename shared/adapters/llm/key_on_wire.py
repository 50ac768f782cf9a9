"""Whether an API key can be sent at all: it goes into a header, which carries printable ASCII and no line break."""

import re

from shared.domain.errors import ProviderKeyRefused

_HEADER = re.compile(r"[!-~]+([ \t]+[!-~]+)*")


def sendable(key: str) -> bool:
    """Of a key that is there; without one nothing is sent, which some servers want."""
    return not key or _HEADER.fullmatch(key) is not None


def checked(provider: str, key: str) -> str:
    """Raises ProviderKeyRefused: the SDKs would call it a lost connection, or quote it."""
    if not sendable(key):
        raise ProviderKeyRefused(f"{provider}: the key has a character that no key can have")
    return key
