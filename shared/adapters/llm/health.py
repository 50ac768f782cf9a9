"""Whether a provider takes its key: one request that costs nothing, the list of its models.

works        the key was taken
refused      401, or it is no key at all
missing      there is none, or its secret cannot be read
unreachable  no answer, or a 5xx
unchecked    it cannot be asked: no key of its own (`bedrock`, `offline`), a server without that list, or a
             key that may not read it (403), which may do all else
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

from shared.adapters.llm.choose import BASE_URLS, KEYED, OFFLINE, choose, choose_for, key_of
from shared.adapters.llm.common.connection import sendable
from shared.adapters.llm.common.stream import within
from shared.adapters.llm.key_rotation import Secrets
from shared.adapters.llm.models import context_window
from shared.domain.definitions.agent import PROVIDERS, AgentDefinition, Purpose
from shared.domain.errors import ProviderTimeout
from shared.settings import Settings

KeyStatus = Literal["works", "refused", "missing", "unreachable", "unchecked"]

PATIENCE_SECONDS = 6.0
"""For each provider; two of them and the SDKs' imports stay inside the 30 s an API request has."""


Ask = Callable[[str, str | None, float], Any]
"""Of a key, a base URL and seconds."""


def check(
    provider: str, key: str | None, base_url: str | None, timeout: float = PATIENCE_SECONDS
) -> KeyStatus:
    asks = _ASKS.get(provider)
    if asks is None:
        return "unchecked"
    if not key:
        return "missing"
    if not sendable(key):
        return "refused"
    ask = asks()  # importing an SDK takes as long as it takes: it is not the provider's time
    try:
        return within(timeout, provider, lambda _: _asked(ask, key, base_url, timeout))
    except ProviderTimeout:
        return "unreachable"


def _asked(ask: Ask, key: str, base_url: str | None, timeout: float) -> KeyStatus:
    try:
        ask(key, base_url, timeout)
    except Exception as error:
        return _meaning(getattr(error, "status_code", None))
    return "works"


def _meaning(status: int | None) -> KeyStatus:
    """Of an answer that is no list; None: there was none. A limit, or an empty purse, is told to known keys only."""
    if status == 401:
        return "refused"
    if status in (402, 429):
        return "works"
    return "unreachable" if status is None or status >= 500 else "unchecked"


def _anthropic() -> Ask:
    from anthropic import Anthropic

    def ask(key: str, base_url: str | None, timeout: float) -> None:
        with Anthropic(api_key=key, base_url=base_url, max_retries=0, open_telemetry=False) as client:
            client.models.list(limit=1, timeout=timeout)

    return ask


def _openai() -> Ask:
    from openai import OpenAI

    def ask(key: str, base_url: str | None, timeout: float) -> None:
        with OpenAI(api_key=key, base_url=base_url, max_retries=0) as client:
            client.models.list(timeout=timeout)

    return ask


_ASKS = {"anthropic": _anthropic, "openai": _openai}

KeyState = Literal["present", "missing", "unreadable", "not_needed"]


class Use(NamedTuple):
    """`agent_id` None: the deployment's default. `purpose`: `default`, an agent's purposes, `fallback`."""

    agent_id: str | None
    purpose: str


class ConfiguredModel(NamedTuple):
    """`context_window` in tokens."""

    provider: str
    model: str
    context_window: int
    used_by: tuple[Use, ...]


class Configured:
    def __init__(self, settings: Settings, environ: Mapping[str, str], secrets: Secrets) -> None:
        self._settings = settings
        self._environ = environ
        self._secrets = secrets

    def key_states(self) -> dict[str, KeyState]:
        """By provider. Nothing is asked of a provider."""
        return {provider: self._state(provider) for provider in PROVIDERS if self._is_there(provider)}

    def check(self, provider: str) -> KeyStatus:
        """What is kept of the secret is dropped first: whoever asks may just have rotated it."""
        key = key_of(provider, self._settings, self._environ, self._secrets, anew=True)
        return check(provider, key, self._environ.get(BASE_URLS.get(provider, "")) or None)

    def default(self) -> tuple[str, str]:
        """Provider and model."""
        model, name = choose(self._settings, self._environ, self._secrets)
        return model.provider, name

    def models(self, agents: Iterable[AgentDefinition]) -> list[ConfiguredModel]:
        """Each once, the deployment's first, with everyone who uses it; none that is not there."""
        found: dict[tuple[str, str], list[Use]] = {self.default(): [Use(None, "default")]}
        for agent in agents:
            for purpose in get_args(Purpose):
                chosen = self._chosen(agent, agent.provider, agent.model_for(purpose))
                found.setdefault(chosen, []).append(Use(agent.agent_id, purpose))
            for fallback in agent.fallbacks:
                chosen = self._chosen(agent, fallback.provider or agent.provider, fallback.model)
                found.setdefault(chosen, []).append(Use(agent.agent_id, "fallback"))
        return [
            ConfiguredModel(
                provider, model, self._settings.context_window_tokens or context_window(model), tuple(uses)
            )
            for (provider, model), uses in found.items()
            if self._is_there(provider)
        ]

    def _chosen(self, agent: AgentDefinition, provider: str | None, model: str | None) -> tuple[str, str]:
        made, name = choose_for(self._settings, self._environ, self._secrets, provider, model, agent.protocol)
        return made.provider, name

    def _is_there(self, provider: str) -> bool:
        return provider != OFFLINE or self._settings.offline

    def _state(self, provider: str) -> KeyState:
        if provider not in KEYED:
            return "not_needed"
        key = key_of(provider, self._settings, self._environ, self._secrets)
        if key is None:
            return "unreadable"
        return "present" if key else "missing"
