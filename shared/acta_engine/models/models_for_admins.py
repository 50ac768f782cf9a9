"""What admins see of the models: which are configured, who uses them, and whether providers accept their keys."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

from acta_engine.agents.agent import AgentDefinition, Purpose
from acta_engine.errors import AwsDenied, ProviderTimeout
from acta_engine.models.calls import is_sendable, run_within
from acta_engine.models.choose import SecretReader, address_of, choose, choose_for, key_of
from acta_engine.models.providers import OFFLINE, PROVIDERS, Provider, context_window
from acta_engine.settings import Settings

KeyState = Literal["present", "missing", "unreadable", "not_needed"]
"""What is known of a key without asking its provider."""

KeyStatus = Literal["works", "refused", "missing", "unreachable", "unchecked"]
"""What a provider says of its key.

works        it accepts the key
refused      it answered 401, or no header can carry the key
missing      there is no key, or its secret cannot be read
unreachable  it did not answer, or answered 5xx
unchecked    it cannot be asked: it has no key of its own (`bedrock`, `offline`), it has no list of models, or the key
             may do everything but read that list (403)
"""


class ListedUse(NamedTuple):
    """`agent_id` None: the deployment's default. `purpose`: `default`, one of an agent's purposes, or `fallback`."""

    agent_id: str | None
    purpose: str


class ListedModel(NamedTuple):
    """`context_window`: tokens."""

    provider: str
    model: str
    context_window: int
    used_by: tuple[ListedUse, ...]


class ModelListing:
    """The models of one deployment."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], secrets: SecretReader) -> None:
        self._settings = settings
        self._environ = environ
        self._secrets = secrets

    def default(self) -> tuple[str, str]:
        """Provider and name of the deployment's model."""
        model, name = choose(self._settings, self._environ, self._secrets)
        return model.provider, name

    def models(self, agents: Iterable[AgentDefinition]) -> list[ListedModel]:
        """Each model once, the deployment's first. `offline` is left out where the environment does not have it."""
        found: dict[tuple[str, str], list[ListedUse]] = {self.default(): [ListedUse(None, "default")]}
        for agent in agents:
            for purpose in get_args(Purpose):
                chosen = self._chosen(agent, agent.provider, agent.model_for(purpose))
                found.setdefault(chosen, []).append(ListedUse(agent.agent_id, purpose))
            for fallback in agent.fallbacks:
                chosen = self._chosen(agent, fallback.provider or agent.provider, fallback.model)
                found.setdefault(chosen, []).append(ListedUse(agent.agent_id, "fallback"))
        return [
            ListedModel(
                provider, model, self._settings.context_window_tokens or context_window(model), tuple(uses)
            )
            for (provider, model), uses in found.items()
            if self._is_available(provider)
        ]

    def key_states(self) -> dict[str, KeyState]:
        """What is known of each provider's key."""
        return {row.name: self._key_state(row) for row in PROVIDERS.values() if self._is_available(row.name)}

    def check(self, provider: str) -> KeyStatus:
        """Asks the provider. Reads its secret again, because the key may just have been rotated."""
        row = PROVIDERS[provider]
        try:
            key = key_of(row, self._settings, self._environ, self._secrets, refresh=True)
        except AwsDenied:
            return "missing"
        return check_key(row, key, address_of(row, self._environ))

    def _chosen(self, agent: AgentDefinition, provider: str | None, model: str | None) -> tuple[str, str]:
        made, name = choose_for(self._settings, self._environ, self._secrets, provider, model, agent.protocol)
        return made.provider, name

    def _is_available(self, provider: str) -> bool:
        return provider != OFFLINE or self._settings.offline

    def _key_state(self, provider: Provider) -> KeyState:
        if not provider.key_variable:
            return "not_needed"
        try:
            key = key_of(provider, self._settings, self._environ, self._secrets)
        except AwsDenied:
            return "unreadable"
        if key is None:
            return "unreadable"
        return "present" if key else "missing"


CHECK_SECONDS = 6.0
"""For each provider. An API request has 30 s, which two of them and the imports of their SDKs fit into."""


def check_key(
    provider: Provider, key: str | None, base_url: str | None, timeout: float = CHECK_SECONDS
) -> KeyStatus:
    """Asks the provider for the list of its models, which costs nothing. `key` None: its secret cannot be read.
    `base_url` None: the provider's own. `timeout`: seconds.
    """
    load_sdk = _SDKS.get(provider.api)
    if load_sdk is None:
        return "unchecked"
    if not key:
        return "missing"
    if not is_sendable(key):
        return "refused"
    # Before the time counts: it is no fault of the provider that an SDK loads slowly.
    list_models = load_sdk()
    try:
        return run_within(timeout, provider.name, lambda _: _status(list_models, key, base_url, timeout))
    except ProviderTimeout:
        return "unreachable"


ListModels = Callable[[str, str | None, float], Any]
"""Takes a key, a base URL (None: the provider's own) and seconds. Raises the SDK's errors."""


def _status(list_models: ListModels, key: str, base_url: str | None, timeout: float) -> KeyStatus:
    try:
        list_models(key, base_url, timeout)
    except Exception as error:
        return _status_from_http(getattr(error, "status_code", None))
    return "works"


def _status_from_http(status: int | None) -> KeyStatus:
    """`status` None: there was no answer. Only an accepted key reaches a rate limit or an empty balance."""
    if status == 401:
        return "refused"
    if status in (402, 429):
        return "works"
    return "unreachable" if status is None or status >= 500 else "unchecked"


def _anthropic() -> ListModels:
    from anthropic import Anthropic

    def list_models(key: str, base_url: str | None, timeout: float) -> None:
        with Anthropic(api_key=key, base_url=base_url, max_retries=0, open_telemetry=False) as client:
            client.models.list(limit=1, timeout=timeout)

    return list_models


def _openai() -> ListModels:
    from openai import OpenAI

    def list_models(key: str, base_url: str | None, timeout: float) -> None:
        with OpenAI(api_key=key, base_url=base_url, max_retries=0) as client:
            client.models.list(timeout=timeout)

    return list_models


_SDKS: Mapping[str, Callable[[], ListModels]] = {
    "messages": _anthropic,
    "responses": _openai,
    "chat": _openai,
}
"""By protocol."""
