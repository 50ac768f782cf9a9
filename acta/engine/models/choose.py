"""Which provider, protocol and key serve a model that an agent names. No SDK is imported here, and a secret is read
only for a provider that needs one.

A key comes from an environment variable, or from a secret whose name is in the settings. A secret's text is kept for
minutes, so a key that is refused is read again: someone may have rotated it. Which model serves which purpose:
`named_for` in `acta/engine/agents/agent.py`.
"""

import json
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn, TypeVar
from typing import Protocol as Interface

from acta.engine.agents.agent import Protocol
from acta.engine.aws.secrets import SecretUnreadable
from acta.engine.errors import (
    ActaError,
    AwsDenied,
    ModelNotAllowed,
    ProviderKeyRefused,
    ProviderRejected,
    SessionError,
)
from acta.engine.models.calls import is_official
from acta.engine.models.model import (
    BackgroundCalls,
    BackgroundResponse,
    Model,
    ModelReply,
    ModelRequest,
    in_background,
)
from acta.engine.models.openai.capabilities import takes_tools_in_chat
from acta.engine.models.providers import NO_KEY_YET, OFFLINE, PROVIDERS, WITH_KEY, Api, Provider
from acta.engine.settings import Settings

T = TypeVar("T")


class SecretReader(Interface):
    """Returns a secret's text by its name, from what is kept. `refresh`: reads it again."""

    def __call__(self, name: str, *, refresh: bool = False) -> str: ...


def choose(
    settings: Settings,
    environ: Mapping[str, str],
    secrets: SecretReader,
    provider: str | None = None,
    model: str | None = None,
    protocol: Protocol = "native",
) -> tuple[Model, str]:
    """An agent's model and the name to ask it by. The same arguments give the same object, with its connections, as
    long as the process lives.

    `provider` None: the one in the settings, else the first one with a key, else `offline` where the environment has
    it. `model` None: the one in the settings, or the provider's own default where the provider is not the deployment's.

    A model that cannot be asked raises at its first call: ProviderKeyRefused where there is no key; AwsDenied where its
    secret may not be read, so that the agent's other models can be asked; ProviderRejected where it is `offline` and
    the environment does not have it; ModelNotAllowed where the deployment does not allow it.
    """
    chosen = provider or _default_provider(settings, environ, secrets)
    name = model or ""
    if not name and settings.model:
        is_default = provider is None or chosen == _default_provider(settings, environ, secrets)
        name = settings.model if is_default else ""
    if chosen == OFFLINE:
        return _offline() if settings.offline else _NO_OFFLINE, PROVIDERS[OFFLINE].default_model
    if not chosen:
        return _NO_PROVIDER, name or WITH_KEY[0].default_model
    row = PROVIDERS.get(chosen)
    if row is None:
        why = f"{chosen}: this environment has no provider of that name: an operator names it in `providers`"
        return UnusableModel(chosen, ProviderRejected, why), name
    name = name or row.default_model
    if not name:
        why = f"{chosen}: no model is named. Name one in the agent, or `models` of the provider in the environment"
        return UnusableModel(chosen, ProviderRejected, why), name
    if not settings.allowed.may_call(name):
        why = f"{name[:64]}: this environment does not allow it"
        return UnusableModel(chosen, ModelNotAllowed, why), name
    address = address_of(row, environ)
    try:
        key = key_of(row, settings, environ, secrets)
    except AwsDenied as denied:
        return UnusableModel(chosen, AwsDenied, f"{chosen}: {denied}"), name
    has_secret = row.name in settings.provider_secrets
    if row.key_variable and not key and settings.is_local and not has_secret:
        why = f"no API key is configured: the local stack takes it from the variable {row.key_variable} when it starts"
        return UnusableModel(chosen, ProviderKeyRefused, f"{chosen}: {why}"), name
    api = row.api
    if api == "responses" and not row.address and (settings.openai_api or not is_official(address)):
        # Chat Completions is what compatible servers have. OpenAI itself serves all its models over Responses.
        api = settings.openai_api or "chat"
    without_tools = api == "chat" and is_official(address) and not takes_tools_in_chat(name)
    make = _react if protocol == "react" or without_tools else _native
    made = make(chosen, api, key, address)
    if not has_secret or environ.get(row.key_variable, "").strip():
        return made, name

    def reload() -> Model:
        return make(chosen, api, key_of(row, settings, environ, secrets, refresh=True), address)

    return RotatingModel(made, reload), name


def _default_provider(settings: Settings, environ: Mapping[str, str], secrets: SecretReader) -> str:
    """The deployment's provider. Empty: none has a key; then the secrets were read again, because someone may just have
    stored one.
    """
    if settings.provider:
        return settings.provider
    for refresh in (False, True):
        for row in PROVIDERS.values():
            try:
                if row.key_variable and key_of(row, settings, environ, secrets, refresh=refresh) != "":
                    return row.name
            except AwsDenied:  # a secret that may not be read is no reason to take another provider
                return row.name
    return OFFLINE if settings.offline else ""


def address_of(provider: Provider, environ: Mapping[str, str]) -> str | None:
    """The base URL to ask. None: the SDK knows the provider's own."""
    return environ.get(provider.address_variable) or provider.address


def key_of(
    provider: Provider,
    settings: Settings,
    environ: Mapping[str, str],
    secrets: SecretReader,
    *,
    refresh: bool = False,
) -> str | None:
    """The provider's key. Empty: there is none, or it is asked with the function's role. None: its secret holds
    something that is no key; that is no reason to take another provider. Raises AwsDenied where the secret may not be
    read, StoreThrottled, StoreUnavailable.
    """
    if not provider.key_variable:
        return NO_KEY if provider.address and not provider.with_role else ""
    key = environ.get(provider.key_variable, "").strip()
    secret = settings.provider_secrets.get(provider.name)
    if key or not secret:
        return key
    try:
        text: Any = secrets(secret, refresh=refresh).strip()
        if text.startswith("{"):  # as consoles store it
            text = json.loads(text).get("api_key")
    except (SecretUnreadable, ValueError, RecursionError):
        return None
    if not isinstance(text, str):
        return None
    return "" if text.strip() == NO_KEY_YET else text.strip()


@cache
def _react(provider: str, api: Api, key: str | None, address: str | None) -> Model:
    from acta.engine.models.react import ReActModel

    return ReActModel(_native(provider, api, key, address))


@cache
def _offline() -> Model:
    # Only the zips of environments that allow it have this folder (acta/infra/packaging/bundle.py).
    from acta.engine.models.offline import OfflineModel

    return OfflineModel()


@cache
def _native(provider: str, api: Api, key: str | None, address: str | None) -> Model:
    """`key`: as `key_of` returns it."""
    if api == "bedrock":
        from acta.engine.models.anthropic.client import BedrockModel

        return BedrockModel(base_url=address)
    if api == "converse":
        from acta.engine.models.converse import ConverseModel

        return ConverseModel(provider, address)
    with_role = PROVIDERS[provider].with_role
    if not key and not with_role:
        why = (
            _UNREADABLE
            if key is None
            else f"no API key is configured: it belongs in the secret {_secret(provider)}"
        )
        return UnusableModel(provider, ProviderKeyRefused, f"{provider}: {why}")
    if api == "messages" and key:
        from acta.engine.models.anthropic.client import AnthropicModel

        return AnthropicModel(key, address, provider)
    if api == "responses":
        from acta.engine.models.openai.responses import OpenAIResponsesModel

        return OpenAIResponsesModel(key or None, address, provider)
    from acta.engine.models.openai.chat import OpenAIModel

    return OpenAIModel(key or None, address, provider)


class UnusableModel:
    """A model that nobody can ask. Its calls raise, so the run fails or waits with a reason, and the worker goes on."""

    def __init__(self, provider: str, error: type[SessionError | AwsDenied], reason: str) -> None:
        self._provider = provider
        self._error = error
        self._reason = reason

    @property
    def provider(self) -> str:
        return self._provider

    @property
    def in_background(self) -> BackgroundCalls:
        """Itself: an answer that is being made is not lost because nobody may ask for it just now."""
        return self

    def complete(self, *given: object, timeout: float) -> NoReturn:
        raise self._error(self._reason)

    start = result = cancel = forget = complete


_UNREADABLE = 'the API key cannot be read; its secret holds the key itself, or {"api_key": "..."}'


def _secret(provider: str) -> str:
    return f"acta/<env>/{provider}"


NO_KEY = "none"
"""What is sent as the key of an endpoint that needs none: the SDKs insist on one."""


_NO_PROVIDER = UnusableModel(
    WITH_KEY[0].name,
    ProviderKeyRefused,
    "No model provider has an API key here: it belongs in the secret "
    + " or ".join(_secret(row.name) for row in WITH_KEY),
)
_NO_OFFLINE = UnusableModel(
    OFFLINE,
    ProviderRejected,
    "offline: the agent names the rule-based stand-in, which this environment does not have; give it another provider",
)


MIN_SECONDS = 1.0
"""What a second call gets at least."""


class RotatingModel:
    """Reads the key again where the provider refuses it, and asks a second time where the key has changed.

    There are at most two calls. A provider does not charge for a call whose key it refuses, so only the second counts.
    """

    def __init__(
        self, model: Model, reload: Callable[[], Model], now: Callable[[], float] = time.monotonic
    ) -> None:
        """`reload`: reads the key again and returns the model for it, the same object where the key is the same. `now`:
        in seconds.
        """
        self._model = model
        self._reload = reload
        self._now = now

    @property
    def provider(self) -> str:
        return self._model.provider

    @property
    def in_background(self) -> BackgroundCalls | None:
        return RotatingBackground(self) if in_background(self._model) is not None else None

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """Raises what the models raise, and AwsDenied, StoreThrottled or StoreUnavailable where the secret cannot be
        read.
        """
        return self.asked(lambda model, left: model.complete(request, timeout=left), timeout)

    def asked(self, ask: Callable[[Model, float], T], timeout: float) -> T:
        """Calls `ask` with the model and its seconds. Where the key is refused and a new one is there, calls it once
        more with the model of the new key. Raises as `complete` does.
        """
        started = self._now()
        try:
            return ask(self._model, timeout)
        except ProviderKeyRefused as error:
            refused = error
        reloaded = self._reload()
        if reloaded is self._model:
            raise refused
        left = max(MIN_SECONDS, timeout - (self._now() - started))
        self._model = reloaded
        return ask(reloaded, left)


class RotatingBackground:
    """The background calls of a model whose key may change: see `BackgroundCalls` in
    `acta/engine/models/model.py`."""

    def __init__(self, model: RotatingModel) -> None:
        self._model = model

    def start(self, request: ModelRequest, *, timeout: float) -> str | ModelReply:
        return self._asked(lambda calls, left: calls.start(request, timeout=left), timeout)

    def result(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        return self._asked(lambda calls, left: calls.result(response, timeout=left), timeout)

    def cancel(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        return self._asked(lambda calls, left: calls.cancel(response, timeout=left), timeout)

    def forget(self, response: BackgroundResponse, *, timeout: float) -> None:
        return self._asked(lambda calls, left: calls.forget(response, timeout=left), timeout)

    def _asked(self, ask: Callable[[BackgroundCalls, float], T], timeout: float) -> T:
        def of(model: Model, left: float) -> T:
            calls = in_background(model)
            assert calls is not None  # another key makes no other protocol
            return ask(calls, left)

        return self._model.asked(of, timeout)
