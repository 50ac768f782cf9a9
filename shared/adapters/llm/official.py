"""Whether a base URL is OpenAI's own: it takes parameters and serves an API that compatible servers may not know."""

from urllib.parse import urlsplit

HOST = "api.openai.com"


def is_official(base_url: str | None) -> bool:
    """None: no other one is configured. OpenAI's regional hosts are OpenAI too."""
    host = urlsplit(base_url).hostname if base_url else HOST
    return host is not None and (host == HOST or host.endswith(f".{HOST}"))
