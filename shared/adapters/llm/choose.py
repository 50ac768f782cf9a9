"""Which model a worker talks to. Imports no SDK, and reads a secret only for the provider it needs one for."""

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from shared.adapters.llm.catalogue import DEFAULT_MODELS
from shared.domain.errors import ProviderKeyRefused
from shared.ports.model import Model, ModelReply, ModelRequest
from shared.settings import Settings

NO_KEY_YET = "unset"
"""What `infra/` puts into a new secret until someone stores a key."""

Secrets = Callable[[str], str]
"""A secret's text by its name; the caller caches."""


class _Source(NamedTuple):
    key: str
    base_url: str
    secret: str


_SOURCES = {
    "anthropic": _Source("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "anthropic_secret"),
    "openai": _Source("OPENAI_API_KEY", "OPENAI_BASE_URL", "openai_secret"),
}
"""In the order they are looked at when no provider is named."""


class Keyless:
    """A provider that is configured and has no key: the run fails at its first call, the worker does not."""

    def __init__(self, provider: str) -> None:
        self._provider = provider

    @property
    def provider(self) -> str:
        return self._provider

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        raise ProviderKeyRefused(f"{self._provider}: no API key is configured")


def choose(settings: Settings, environ: Mapping[str, str], secrets: Secrets) -> tuple[Model, str]:
    """The model and the name to ask it by: the settings' provider, else the first with a key, else
    `offline`."""
    if settings.provider:
        provider = settings.provider
        key = _key(provider, settings, environ, secrets)
    else:
        found = ((name, _key(name, settings, environ, secrets)) for name in _SOURCES)
        provider, key = next(((name, key) for name, key in found if key), ("offline", ""))
    # ACTA_MODEL without a provider and without any key names nobody's model: offline keeps its own name
    named = settings.model if provider != "offline" else ""
    return _model(provider, key, environ), named or DEFAULT_MODELS.get(provider, provider)


def _model(provider: str, key: str, environ: Mapping[str, str]) -> Model:
    if provider == "offline":
        from shared.adapters.llm.offline.model import OfflineModel

        return OfflineModel()
    if not key:
        return Keyless(provider)
    base_url = environ.get(_SOURCES[provider].base_url) or None
    if provider == "anthropic":
        from shared.adapters.llm.anthropic import AnthropicModel

        return AnthropicModel(key, base_url)
    from shared.adapters.llm.openai import OpenAIModel

    return OpenAIModel(key, base_url)


def _key(provider: str, settings: Settings, environ: Mapping[str, str], secrets: Secrets) -> str:
    source = _SOURCES.get(provider)
    if source is None:
        return ""
    key = environ.get(source.key, "").strip()
    name = getattr(settings, source.secret)
    if not key and name:
        key = _key_in(secrets(name))
    return key


def _key_in(secret: str) -> str:
    """A secret holds the key itself, or `{"api_key": "..."}` as consoles like to store it."""
    text = secret.strip()
    if text.startswith("{"):
        try:
            text = str(json.loads(text).get("api_key", "")).strip()
        except ValueError:
            return ""
    return "" if text == NO_KEY_YET else text
