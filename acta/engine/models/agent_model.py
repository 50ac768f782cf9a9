"""The model of an agent, with its fallbacks: what turns ask (`Models` in `acta/engine/models/model.py`)."""

import os
from functools import cached_property
from typing import TYPE_CHECKING

from acta.engine.agents.agent import AgentDefinition, Purpose
from acta.engine.aws.secrets import secret_text
from acta.engine.models.choose import choose
from acta.engine.models.model import Model
from acta.engine.models.providers import context_tokens
from acta.engine.settings import Settings

if TYPE_CHECKING:
    from acta.engine.models.models_for_admins import ModelListing


class AgentModels:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def choose(self, agent: AgentDefinition, purpose: Purpose) -> tuple[Model, str]:
        first = self._named(agent, *agent.named_for(purpose))
        if not agent.fallbacks or purpose == "judge":
            return first
        from acta.engine.models.fallback import with_fallbacks

        others = [
            self._named(agent, one.provider or agent.provider, one.model)
            for one in agent.fallbacks
            if self._settings.allowed.may_call(one.model)
        ]
        return with_fallbacks(first, others, self._settings.answer_time)

    def context_tokens(self, agent: AgentDefinition, provider: str, model: str) -> int:
        return context_tokens(provider, model, agent.limits.context_tokens or self._settings.context_tokens)

    @cached_property
    def configured(self) -> "ModelListing":
        """What the API tells of the models. It is imported here, so turns do not pay for it."""
        from acta.engine.models.models_for_admins import ModelListing

        return ModelListing(self._settings, os.environ, secret_text)

    def _named(self, agent: AgentDefinition, provider: str | None, model: str | None) -> tuple[Model, str]:
        return choose(self._settings, os.environ, secret_text, provider, model, agent.protocol)
