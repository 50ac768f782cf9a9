"""Checks of a provider's address and API key before anything is sent."""

import re
from urllib.parse import urlsplit

from acta_engine.errors import ProviderKeyRefused

OPENAI_HOST = "api.openai.com"
_HEADER_VALUE = re.compile(r"[!-~]+([ \t]+[!-~]+)*")


def is_official(base_url: str | None) -> bool:
    """Whether requests go to OpenAI itself, its regional hosts included. `base_url` None: no other server is
    configured.
    """
    host = urlsplit(base_url).hostname if base_url else OPENAI_HOST
    return host is not None and (host == OPENAI_HOST or host.endswith(f".{OPENAI_HOST}"))


def is_sendable(key: str) -> bool:
    """Whether an HTTP header can carry the key. An empty key is not sent at all, which some servers want."""
    return not key or _HEADER_VALUE.fullmatch(key) is not None


def require_sendable(provider: str, key: str) -> str:
    """Returns the key. Raises ProviderKeyRefused where no header can carry it: the SDKs would report a lost connection,
    or quote the key in their error.
    """
    if not is_sendable(key):
        raise ProviderKeyRefused(f"{provider}: the key has a character that no key can have")
    return key
