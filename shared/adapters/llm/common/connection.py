"""What can be known of a provider's address and key before anything is sent."""

import re
from urllib.parse import urlsplit

from shared.domain.errors import ProviderKeyRefused

HOST = "api.openai.com"


def is_official(base_url: str | None) -> bool:
    """None: no other one is configured. OpenAI's regional hosts are OpenAI too."""
    host = urlsplit(base_url).hostname if base_url else HOST
    return host is not None and (host == HOST or host.endswith(f".{HOST}"))


_HEADER = re.compile(r"[!-~]+([ \t]+[!-~]+)*")


def sendable(key: str) -> bool:
    """Of a key that is there; without one nothing is sent, which some servers want."""
    return not key or _HEADER.fullmatch(key) is not None


def checked(provider: str, key: str) -> str:
    """Raises ProviderKeyRefused: the SDKs would call it a lost connection, or quote it."""
    if not sendable(key):
        raise ProviderKeyRefused(f"{provider}: the key has a character that no key can have")
    return key
