"""What is configured: the providers and their keys, the models that sessions may be run with, and by whom."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, get_args

from shared.adapters.llm import key_check
from shared.adapters.llm.catalogue import context_window
from shared.adapters.llm.choose import BASE_URLS, KEYED, choose, choose_for, key_of
from shared.adapters.llm.key_check import KeyStatus
from shared.adapters.llm.rotating import Secrets
from shared.domain.agent import PROVIDERS, AgentDefinition, Purpose
from shared.settings import Settings

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
        return {provider: self._state(provider) for provider in PROVIDERS}

    def check(self, provider: str) -> KeyStatus:
        """What is kept of the secret is dropped first: whoever asks may just have rotated it."""
        key = key_of(provider, self._settings, self._environ, self._secrets, anew=True)
        return key_check.check(provider, key, self._environ.get(BASE_URLS.get(provider, "")) or None)

    def default(self) -> tuple[str, str]:
        """Provider and model."""
        model, name = choose(self._settings, self._environ, self._secrets)
        return model.provider, name

    def models(self, agents: Iterable[AgentDefinition]) -> list[ConfiguredModel]:
        """Each once, the deployment's first, with everyone who uses it."""
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
        ]

    def _chosen(self, agent: AgentDefinition, provider: str | None, model: str | None) -> tuple[str, str]:
        made, name = choose_for(self._settings, self._environ, self._secrets, provider, model, agent.protocol)
        return made.provider, name

    def _state(self, provider: str) -> KeyState:
        if provider not in KEYED:
            return "not_needed"
        key = key_of(provider, self._settings, self._environ, self._secrets)
        if key is None:
            return "unreadable"
        return "present" if key else "missing"
