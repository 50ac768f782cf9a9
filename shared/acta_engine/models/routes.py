"""The routes of `step`: which models are configured, and whether the keys work. For admins."""

from typing import TYPE_CHECKING, cast

from acta_engine.agents.store import all_agents
from acta_engine.api.app import Api
from acta_engine.api.envelope import Response, success
from acta_engine.models.providers import PRICED_AT, Rates, price_of

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta_engine.models import answers as definitions
    from acta_engine.models.models_for_admins import ModelListing


def list_models(api: Api) -> Response:
    configured: ModelListing = api.app.configured_models
    provider, model = configured.default()
    shown: definitions.ConfiguredModelsView = {
        "default": {"provider": provider, "model": model},
        "providers": [{"provider": name, "key": state} for name, state in configured.key_states().items()],
        "models": [
            {
                "provider": one.provider,
                "model": one.model,
                "used_by": [{"agent_id": use.agent_id, "purpose": use.purpose} for use in one.used_by],
                "context_window_tokens": one.context_window,
                "usd_per_million_tokens": _prices(one.provider, one.model),
            }
            for one in configured.models(all_agents(api.app.definitions, api.caller.tenant))
        ],
        "priced_at": PRICED_AT,
    }
    return success(shown)


def check_model_keys(api: Api) -> Response:
    """Asks every provider that has a key for the list of its models. Changes nothing."""
    configured: ModelListing = api.app.configured_models
    shown: definitions.CheckedKeysView = {
        "providers": [
            {"provider": name, "status": configured.check(name)} for name in configured.key_states()
        ]
    }
    return success(shown)


def _prices(provider: str, model: str) -> "definitions.ModelPriceView | None":
    """`above`: what a request with a longer prompt costs as a whole. None: the price is not known."""
    price = price_of(provider, model)
    if price is None:
        return None
    above = price.long and {"prompt_tokens": price.long_above, **_rates(price.long)}
    return cast("definitions.ModelPriceView", {**_rates(price.rates), "above": above})


def _rates(rates: Rates) -> dict[str, float]:
    return {name: thousandths / 1_000 for name, thousandths in rates._asdict().items()}
