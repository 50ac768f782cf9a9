"""Which model a worker talks to. Imports no SDK, and reads a secret only for the provider it needs one for."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from shared.adapters.llm.catalogue import DEFAULT_MODELS, takes_tools_in_chat
from shared.domain.agent import Protocol
from shared.domain.errors import ProviderKeyRefused
from shared.ports.model import Model, ModelReply, ModelRequest
from shared.settings import Settings

OFFLINE = "offline"
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
    """The deployment's model and the name to ask it by: the settings' provider, else the first with a key,
    else `offline`."""
    return choose_for(settings, environ, secrets, None, None, "native")


def choose_for(
    settings: Settings,
    environ: Mapping[str, str],
    secrets: Secrets,
    provider: str | None,
    model: str | None,
    protocol: Protocol,
) -> tuple[Model, str]:
    """An agent's model and the name to ask it by. `provider`, `model` None: the deployment's; a provider that
    is not the deployment's has its own default model. The same arguments give the same model, with its
    connections, as long as the process lives.
    """
    chosen = provider or _ours(settings, environ, secrets)
    named = model or ""
    if not named and settings.model and (provider is None or chosen == _ours(settings, environ, secrets)):
        named = settings.model
    if chosen == OFFLINE:  # whatever is named, nobody is asked by that name
        return _native(OFFLINE, "", None), DEFAULT_MODELS[OFFLINE]
    name = named or DEFAULT_MODELS.get(chosen, chosen)
    source = _SOURCES.get(chosen)
    base_url = environ.get(source.base_url) or None if source is not None else None
    key = _key(chosen, settings, environ, secrets)
    official = chosen == "openai" and (base_url is None or "api.openai.com" in base_url)
    if protocol == "react" or (official and not takes_tools_in_chat(name)):
        return _react(chosen, key, base_url), name
    return _native(chosen, key, base_url), name


def _ours(settings: Settings, environ: Mapping[str, str], secrets: Secrets) -> str:
    if settings.provider:
        return settings.provider
    return next((name for name in _SOURCES if _key(name, settings, environ, secrets)), OFFLINE)


@cache
def _react(provider: str, key: str, base_url: str | None) -> Model:
    from shared.adapters.llm.react import ReActModel

    return ReActModel(_native(provider, key, base_url))


@cache
def _native(provider: str, key: str, base_url: str | None) -> Model:
    if provider == OFFLINE:
        from shared.adapters.llm.offline.model import OfflineModel

        return OfflineModel()
    if not key:
        return Keyless(provider)
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
