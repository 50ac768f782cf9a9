"""The settings of functions that an environment decides about, whatever they run on."""

import json
from collections.abc import Mapping

from acta.engine.limits.tenant_limits import TenantLimits
from acta.engine.queue.places import LEARN, ProviderLimits
from acta.engine.settings import Settings
from acta.engine.usage.aws_prices import AwsPrices
from acta.infra.api.issuers import OwnPool
from acta.infra.api.machine_claims import ROLES_CLAIM, TENANT_CLAIM
from acta.infra.environments import Environment

EMPTY: tuple[object, ...] = ("", None, {})
"""Values that mean the same as a variable that is not set."""


def of_environment(environment: Environment) -> dict[str, object]:
    """The settings that an environment decides about (`acta.engine/settings.py`): its fields of the same names, what
    follows from its others, and its `settings`. Raises ValueError where those name what an option decides: a strict
    environment would call itself strict and would not be.
    """
    named = {
        name: _plain(getattr(environment, name)) for name in Settings.fields if hasattr(environment, name)
    }
    own_pool_lists_machines = isinstance(environment.auth, OwnPool) and bool(environment.auth.machines)
    decided = {
        **named,
        "tenant_limits": _limits(environment.limits_by_tenant),
        "provider_limits": _limits(environment.provider_limits),
        "event_sources": {name: each.source.as_setting for name, each in environment.event_sources.items()},
        "ended_sessions_days": environment.retention.ended_sessions,
        "audit_retention_days": environment.retention.audit,
        "step_memory_mb": environment.sizes["step"].memory,
        "tool_memory_mb": environment.sizes["tool"].memory,
        "machine_tenant_claim": TENANT_CLAIM if own_pool_lists_machines else "",
        "machine_roles_claim": ROLES_CLAIM if own_pool_lists_machines else "",
        **environment.caps.settings,
    }
    if twice := sorted(decided.keys() & environment.settings.keys()):
        raise ValueError(
            f"environment {environment.name}: settings has {', '.join(twice)}, which options of the environment decide "
            "(docs/options.md): give those instead"
        )
    return {**decided, **environment.settings}


def _plain(value: object) -> object:
    """The value in the form in which a setting holds it."""
    if isinstance(value, AwsPrices):
        return {name: price for name, price in vars(value).items() if price is not None}
    return ",".join(value) if isinstance(value, tuple) else value


def _limits(limits: Mapping[str, TenantLimits] | Mapping[str, ProviderLimits]) -> dict[str, object]:
    """Leaves out limits that are None. A name without limits keeps an empty entry, unless no name has any."""
    named: dict[str, object] = {
        name: "learn"
        if each == LEARN
        else {limit: most for limit, most in each._asdict().items() if most is not None}
        for name, each in limits.items()
    }
    return named if any(named.values()) else {}


def as_variables(values: Mapping[str, object]) -> dict[str, str]:
    """The variables from which `Settings` reads these values, by their fields' names."""
    texts = {
        field: value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        for field, value in values.items()
    }
    return {Settings.fields[field].variable: text for field, text in texts.items()}
