"""The routes of `step`: which models are configured, and whether the keys work. For admins."""

from typing import TYPE_CHECKING

from acta.engine.agents.store import all_agents
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.models.answers import CheckedKeysView
    from acta.engine.models.models_for_admins import ModelListing


def list_models(api: Api) -> Response:
    configured: ModelListing = api.app.configured_models
    return success(configured.listed(all_agents(api.app.definitions, api.caller.tenant)))


def check_model_keys(api: Api) -> Response:
    """Asks every provider that has a key for the list of its models. Changes nothing."""
    configured: ModelListing = api.app.configured_models
    shown: CheckedKeysView = {
        "providers": [
            {"provider": row.name, "status": configured.check(row)} for row in configured.available()
        ]
    }
    return success(shown)
