"""What admins see of the models: which are configured, who uses them, and whether providers accept their keys."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from acta.engine.agents.agent import AgentDefinition
from acta.engine.errors import AwsDenied, ProviderTimeout
from acta.engine.models.calls import CallProgress, is_sendable, run_within
from acta.engine.models.choose import SecretReader, address_of, choose, key_of
from acta.engine.models.errors import INVALID_KEY, NO_DATABASE, message_of, name_in
from acta.engine.models.providers import (
    OFFLINE,
    PRICED_AT,
    PROVIDERS,
    Provider,
    Rates,
    context_tokens,
    known_model,
    price_of,
)
from acta.engine.settings import Settings

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.models.answers import (
        ConfiguredModelsView,
        KeyState,
        KeyStatus,
        ModelPriceView,
        ModelUseView,
    )


class ModelListing:
    """The models of one deployment."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], secrets: SecretReader) -> None:
        self._settings = settings
        self._environ = environ
        self._secrets = secrets

    def listed(self, agents: Iterable[AgentDefinition]) -> "ConfiguredModelsView":
        """Each model once, the deployment's first."""
        default, name = choose(self._settings, self._environ, self._secrets)
        used_by: dict[tuple[str, str], list[ModelUseView]] = {
            (default.provider, name): [{"agent_id": None, "purpose": "default"}]
        }
        for agent in agents:
            for purpose in agent.purposes:
                chosen = self._chosen(agent, *agent.named_for(purpose))
                used_by.setdefault(chosen, []).append({"agent_id": agent.agent_id, "purpose": purpose})
            for fallback in agent.fallbacks:
                chosen = self._chosen(agent, fallback.provider or agent.provider, fallback.model)
                used_by.setdefault(chosen, []).append({"agent_id": agent.agent_id, "purpose": "fallback"})
        available = self.available()
        return {
            "default": {"provider": default.provider, "model": name},
            "providers": [{"provider": row.name, "key": self._key_state(row)} for row in available],
            "models": [
                {
                    "provider": provider,
                    "model": model,
                    "used_by": uses,
                    "context_window_tokens": known_model(model, provider).window,
                    "context_tokens": context_tokens(provider, model, self._settings.context_tokens),
                    "usd_per_million_tokens": _prices(provider, model),
                    "source": _source(provider, model),
                }
                for (provider, model), uses in used_by.items()
                if PROVIDERS.get(provider) in available
            ],
            "priced_at": PRICED_AT,
        }

    def available(self) -> list[Provider]:
        """All but `offline` where the environment does not have it."""
        return [row for row in PROVIDERS.values() if row.name != OFFLINE or self._settings.offline]

    def check(self, provider: Provider) -> "KeyStatus":
        """Asks the provider. Reads its secret again, because the key may just have been rotated."""
        try:
            key = key_of(provider, self._settings, self._environ, self._secrets, refresh=True)
        except AwsDenied:
            return "missing"
        return check_key(provider, key, address_of(provider, self._environ))

    def _chosen(self, agent: AgentDefinition, provider: str | None, model: str | None) -> tuple[str, str]:
        made, name = choose(self._settings, self._environ, self._secrets, provider, model, agent.protocol)
        return made.provider, name

    def _key_state(self, provider: Provider) -> "KeyState":
        if not provider.key_variable:
            return "not_needed"
        try:
            key = key_of(provider, self._settings, self._environ, self._secrets)
        except AwsDenied:
            key = None
        return "unreadable" if key is None else "present" if key else "missing"


def _prices(provider: str, model: str) -> "ModelPriceView | None":
    """None: the price is not known."""
    price = price_of(provider, model)
    if price is None:
        return None
    above = price.long and {"prompt_tokens": price.long_above, **_dollars(price.long)}
    return cast("ModelPriceView", {**_dollars(price.rates), "above": above})


def _source(provider: str, model: str) -> str | None:
    row = PROVIDERS[provider]
    known = known_model(model, provider)
    is_listed = price_of(provider, model) is not None and row.source
    return known.source or (f"{row.source}, {row.as_of}" if is_listed else None)


def _dollars(rates: Rates) -> dict[str, float]:
    return {name: thousandths / 1_000 for name, thousandths in rates._asdict().items()}


CHECK_SECONDS = 6.0
"""For each provider. An API request has 30 s, which two of them and the imports of their SDKs fit into."""


def check_key(provider: Provider, key: str | None, base_url: str | None) -> "KeyStatus":
    """Asks the provider for the list of its models, which costs nothing. `key` None: its secret cannot be read.
    `base_url` None: the provider's own.
    """
    if provider.api not in ("messages", "responses", "chat"):
        return "unchecked"
    if not key:
        return "missing"
    if not is_sendable(key):
        return "refused"
    # Before the time counts: it is no fault of the provider that an SDK loads slowly.
    client_of: Callable[..., Any]
    if provider.api == "messages":
        from anthropic import Anthropic

        client_of = partial(Anthropic, open_telemetry=False)
    else:
        from openai import OpenAI

        client_of = OpenAI

    def ask(progress: CallProgress) -> "KeyStatus":
        try:
            with client_of(api_key=key, base_url=base_url, max_retries=0) as client:
                client.models.list(timeout=CHECK_SECONDS)
        except Exception as error:
            said = name_in(message_of(getattr(error, "body", None)), getattr(error, "type", None))
            return _status_from_http(getattr(error, "status_code", None), said)
        return "works"

    try:
        return run_within(CHECK_SECONDS, provider.name, ask)
    except ProviderTimeout:
        return "unreachable"


def _status_from_http(status: int | None, name: str | None) -> "KeyStatus":
    """`status` None: there was no answer. Only an accepted key reaches a rate limit or an empty balance."""
    if status == 401 or name in (NO_DATABASE, INVALID_KEY):
        return "refused"
    if status in (402, 429):
        return "works"
    return "unreachable" if status is None or status >= 500 else "unchecked"
