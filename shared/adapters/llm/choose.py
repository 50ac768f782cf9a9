"""Which model a worker talks to. Imports no SDK, and reads a secret only for the provider it needs one for."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

from shared.adapters.aws.secrets import SecretUnreadable
from shared.adapters.llm.common.connection import is_official
from shared.adapters.llm.key_rotation import RotatingModel, Secrets
from shared.adapters.llm.models import DEFAULT_MODELS, takes_tools_in_chat
from shared.domain.definitions.agent import Protocol
from shared.domain.errors import ProviderKeyRefused, ProviderRejected, SessionError
from shared.ports.model import Model, ModelReply, ModelRequest
from shared.settings import Settings

OFFLINE = "offline"
NO_KEY_YET = "unset"
"""What `infra/` puts into a new secret until someone stores a key."""
UNREADABLE = 'the API key cannot be read; its secret holds the key itself, or {"api_key": "..."}'

BEDROCK = "bedrock"
"""Has no key, the function's role signs; so it is used where it is named and nowhere else."""

Api = Literal["", "responses", "chat"]
"""Of OpenAI's; empty for the providers that have one only."""


class _Source(NamedTuple):
    key: str
    secret: str


KEYED = {
    "anthropic": _Source("ANTHROPIC_API_KEY", "anthropic_secret"),
    "openai": _Source("OPENAI_API_KEY", "openai_secret"),
}
"""In the order they are looked at when no provider is named."""

BASE_URLS = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    BEDROCK: "ANTHROPIC_BEDROCK_BASE_URL",
}


class Refusing:
    """A provider that cannot be asked: the run fails at its first call, the worker does not."""

    def __init__(self, provider: str, error: type[SessionError], why: str) -> None:
        self._provider = provider
        self._error = error
        self._why = why

    @property
    def provider(self) -> str:
        return self._provider

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        raise self._error(self._why)


def choose(settings: Settings, environ: Mapping[str, str], secrets: Secrets) -> tuple[Model, str]:
    """The deployment's model and the name to ask it by: the settings' provider, else the first with a key, else
    `offline` where the environment has it. Elsewhere the model's first call raises ProviderKeyRefused.
    """
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
    connections, as long as the process lives. Where a provider has no key, or is `offline` and not there, the model's
    first call raises ProviderKeyRefused or ProviderRejected.
    """
    chosen = provider or _ours(settings, environ, secrets)
    named = model or ""
    if not named and settings.model and (provider is None or chosen == _ours(settings, environ, secrets)):
        named = settings.model
    if chosen == OFFLINE:  # whatever is named, nobody is asked by that name
        return _offline() if settings.offline else _NOT_THERE, DEFAULT_MODELS[OFFLINE]
    if not chosen:
        return _NO_KEY, named or DEFAULT_MODELS[_NO_KEY.provider]
    name = named or DEFAULT_MODELS.get(chosen, chosen)
    source = KEYED.get(chosen)
    base_url = environ.get(BASE_URLS.get(chosen, "")) or None
    key = key_of(chosen, settings, environ, secrets)
    api = _api(settings, base_url) if chosen == "openai" else ""
    toolless = api == "chat" and is_official(base_url) and not takes_tools_in_chat(name)
    make = _react if protocol == "react" or toolless else _native
    made = make(chosen, key, base_url, api)
    if source is None or environ.get(source.key, "").strip() or not getattr(settings, source.secret):
        return made, name

    def anew() -> Model:
        return make(chosen, key_of(chosen, settings, environ, secrets, anew=True), base_url, api)

    return RotatingModel(made, anew), name


def _ours(settings: Settings, environ: Mapping[str, str], secrets: Secrets) -> str:
    """The deployment's provider; empty where none has a key, for which the secrets are read once more: someone may just
    have stored one.
    """
    if settings.provider:
        return settings.provider
    for anew in (False, True):
        for name in KEYED:
            if key_of(name, settings, environ, secrets, anew=anew) != "":
                return name
    return OFFLINE if settings.offline else ""


def _api(settings: Settings, base_url: str | None) -> Api:
    """OpenAI itself is asked over the API that all of its models have, other servers over the one they all have."""
    return settings.openai_api or ("responses" if is_official(base_url) else "chat")


@cache
def _react(provider: str, key: str | None, base_url: str | None, api: Api) -> Model:
    from shared.adapters.llm.react.model import ReActModel

    return ReActModel(_native(provider, key, base_url, api))


@cache
def _offline() -> Model:
    # Only the zips of environments that allow it have this folder (infra/packaging/bundle.py).
    from shared.adapters.llm.offline.model import OfflineModel

    return OfflineModel()


@cache
def _native(provider: str, key: str | None, base_url: str | None, api: Api) -> Model:
    if provider == BEDROCK:
        from shared.adapters.llm.anthropic.bedrock import BedrockModel

        return BedrockModel(base_url=base_url)
    if not key:
        why = _no_key(provider) if key == "" else UNREADABLE
        return Refusing(provider, ProviderKeyRefused, f"{provider}: {why}")
    if provider == "anthropic":
        from shared.adapters.llm.anthropic.client import AnthropicModel

        return AnthropicModel(key, base_url)
    if api == "responses":
        from shared.adapters.llm.openai.responses import OpenAIResponsesModel

        return OpenAIResponsesModel(key, base_url)
    from shared.adapters.llm.openai.chat import OpenAIModel

    return OpenAIModel(key, base_url)


def _no_key(provider: str) -> str:
    place = f": it belongs in the secret acta/<env>/{provider}" if provider in KEYED else ""
    return f"no API key is configured{place}"


_NO_KEY = Refusing(
    next(iter(KEYED)),
    ProviderKeyRefused,
    "No model provider has an API key here: it belongs in the secret "
    + " or ".join(f"acta/<env>/{provider}" for provider in KEYED),
)
_NOT_THERE = Refusing(
    OFFLINE,
    ProviderRejected,
    "offline: the agent names the rule-based stand-in, which this environment does not have; give it another provider",
)


def key_of(
    provider: str, settings: Settings, environ: Mapping[str, str], secrets: Secrets, *, anew: bool = False
) -> str | None:
    """Empty: there is none. None: its secret may not be read, or holds something else, which is no reason to take
    another provider."""
    source = KEYED.get(provider)
    if source is None:
        return ""
    key: str | None = environ.get(source.key, "").strip()
    name = getattr(settings, source.secret)
    if not key and name:
        try:
            key = _key_in(secrets(name, anew=anew))
        except SecretUnreadable:
            return None
    return key


def _key_in(secret: str) -> str | None:
    """A secret holds the key itself, or `{"api_key": "..."}` as consoles like to store it. None: somebody stored
    something, and it is neither.
    """
    text: Any = secret.strip()
    if text.startswith("{"):
        try:
            text = json.loads(text).get("api_key")
        except (ValueError, RecursionError):
            return None
    if not isinstance(text, str):
        return None
    return "" if text.strip() == NO_KEY_YET else text.strip()
