"""Which provider, API and key serve a model that an agent names. No SDK is imported here, and a secret is read only for
a provider that needs one.

Which model serves which purpose: `model_for` in `shared/acta_engine/agents/agent.py`. Which purpose a turn has:
`shared/acta_engine/turn/turn.py`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Literal

from acta_engine.agents.agent import Protocol
from acta_engine.errors import (
    AwsDenied,
    ModelNotAllowed,
    ProviderKeyRefused,
    ProviderRejected,
    SessionError,
)
from acta_engine.models.common.address_and_key import is_official
from acta_engine.models.keys import KEY_SOURCES, RotatingModel, Secrets, key_of
from acta_engine.models.model import Model, ModelReply, ModelRequest
from acta_engine.models.model_catalogue import DEFAULT_MODELS, takes_tools_in_chat
from acta_engine.settings import Settings

OFFLINE = "offline"
BEDROCK = "bedrock"
"""Needs no key, because the function's role signs its requests. So it is used only where it is named."""

BASE_URLS = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    BEDROCK: "ANTHROPIC_BEDROCK_BASE_URL",
}
"""By provider: the environment variable that names another server than the provider's own."""

OpenAIApi = Literal["", "responses", "chat"]
"""Empty: another provider's model."""


def choose(settings: Settings, environ: Mapping[str, str], secrets: Secrets) -> tuple[Model, str]:
    """The deployment's model and the name to ask it by: of the provider in the settings, else of the first provider
    with a key, else `offline` where the environment has it. Where there is none of them, the model's first call raises
    ProviderKeyRefused.
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
    """An agent's model and the name to ask it by.

    `provider`, `model` None: the deployment's. A provider that is not the deployment's has its own default model. The
    same arguments give the same object, with its connections, as long as the process lives. Where the provider has no
    key the model's first call raises ProviderKeyRefused; where its secret may not be read, AwsDenied, so that the
    agent's other models can be asked; where it is `offline` and the environment does not have it, ProviderRejected;
    where the deployment does not allow it, ModelNotAllowed.
    """
    chosen = provider or _default_provider(settings, environ, secrets)
    named = model or ""
    if (
        not named
        and settings.model
        and (provider is None or chosen == _default_provider(settings, environ, secrets))
    ):
        named = settings.model
    if chosen == OFFLINE:
        return _offline() if settings.offline else _NO_OFFLINE, DEFAULT_MODELS[OFFLINE]
    if not chosen:
        return _NO_PROVIDER, named or DEFAULT_MODELS[_NO_PROVIDER.provider]
    name = named or DEFAULT_MODELS.get(chosen, chosen)
    if not settings.allowed.may_call(name):
        return UnusableModel(
            chosen, ModelNotAllowed, f"{name[:64]}: this environment does not allow it"
        ), name
    base_url = environ.get(BASE_URLS.get(chosen, "")) or None
    try:
        key = key_of(chosen, settings, environ, secrets)
    except AwsDenied as denied:
        return UnusableModel(chosen, AwsDenied, f"{chosen}: {denied}"), name
    source = KEY_SOURCES.get(chosen)
    if source is not None and not key and settings.is_local and not getattr(settings, source.setting):
        why = f"no API key is configured: the local stack takes it from the variable {source.variable} when it starts"
        return UnusableModel(chosen, ProviderKeyRefused, f"{chosen}: {why}"), name
    api = _openai_api(settings, base_url) if chosen == "openai" else ""
    needs_react = api == "chat" and is_official(base_url) and not takes_tools_in_chat(name)
    make = _react if protocol == "react" or needs_react else _native
    made = make(chosen, key, base_url, api)
    if source is None or environ.get(source.variable, "").strip() or not getattr(settings, source.setting):
        return made, name

    def reload() -> Model:
        return make(chosen, key_of(chosen, settings, environ, secrets, refresh=True), base_url, api)

    return RotatingModel(made, reload), name


def _default_provider(settings: Settings, environ: Mapping[str, str], secrets: Secrets) -> str:
    """The deployment's provider. Empty: none has a key; then the secrets were read again, because someone may just have
    stored one.
    """
    if settings.provider:
        return settings.provider
    for refresh in (False, True):
        for name in KEY_SOURCES:
            if _has_key(name, settings, environ, secrets, refresh=refresh):
                return name
    return OFFLINE if settings.offline else ""


def _has_key(
    provider: str, settings: Settings, environ: Mapping[str, str], secrets: Secrets, *, refresh: bool
) -> bool:
    """A secret that may not be read counts: it is no reason to take another provider."""
    try:
        return key_of(provider, settings, environ, secrets, refresh=refresh) != ""
    except AwsDenied:
        return True


def _openai_api(settings: Settings, base_url: str | None) -> OpenAIApi:
    """OpenAI itself serves all its models over Responses. Chat Completions is what all compatible servers have."""
    return settings.openai_api or ("responses" if is_official(base_url) else "chat")


@cache
def _react(provider: str, key: str | None, base_url: str | None, api: OpenAIApi) -> Model:
    from acta_engine.models.react.model import ReActModel

    return ReActModel(_native(provider, key, base_url, api))


@cache
def _offline() -> Model:
    # Only the zips of environments that allow it have this folder (infra/acta_infra/packaging/bundle.py).
    from acta_engine.models.offline import OfflineModel

    return OfflineModel()


@cache
def _native(provider: str, key: str | None, base_url: str | None, api: OpenAIApi) -> Model:
    """`key`: as `key_of` returns it."""
    if provider == BEDROCK:
        from acta_engine.models.anthropic.bedrock import BedrockModel

        return BedrockModel(base_url=base_url)
    if not key:
        why = _no_key(provider) if key == "" else _UNREADABLE
        return UnusableModel(provider, ProviderKeyRefused, f"{provider}: {why}")
    if provider == "anthropic":
        from acta_engine.models.anthropic.client import AnthropicModel

        return AnthropicModel(key, base_url)
    if api == "responses":
        from acta_engine.models.openai.responses import OpenAIResponsesModel

        return OpenAIResponsesModel(key, base_url)
    from acta_engine.models.openai.chat import OpenAIModel

    return OpenAIModel(key, base_url)


class UnusableModel:
    """A model that nobody can ask. Its calls raise, so the run fails or waits with a reason, and the worker goes on."""

    def __init__(self, provider: str, error: type[SessionError | AwsDenied], reason: str) -> None:
        self._provider = provider
        self._error = error
        self._reason = reason

    @property
    def provider(self) -> str:
        return self._provider

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        raise self._error(self._reason)


_UNREADABLE = 'the API key cannot be read; its secret holds the key itself, or {"api_key": "..."}'


def _no_key(provider: str) -> str:
    place = f": it belongs in the secret acta/<env>/{provider}" if provider in KEY_SOURCES else ""
    return f"no API key is configured{place}"


_NO_PROVIDER = UnusableModel(
    next(iter(KEY_SOURCES)),
    ProviderKeyRefused,
    "No model provider has an API key here: it belongs in the secret "
    + " or ".join(f"acta/<env>/{provider}" for provider in KEY_SOURCES),
)
_NO_OFFLINE = UnusableModel(
    OFFLINE,
    ProviderRejected,
    "offline: the agent names the rule-based stand-in, which this environment does not have; give it another provider",
)
