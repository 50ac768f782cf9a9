"""Which models a deployment has, and whether its keys work, as the API answers it."""

from __future__ import annotations

from typing import Literal

from acta_engine.api.answers import TypedDict


class ModelUse(TypedDict):
    agent_id: str | None
    """null: the deployment's default."""
    purpose: str


class LongPrice(TypedDict):
    """What a request with a longer prompt costs as a whole."""

    prompt_tokens: int
    input: float
    cached_input: float
    cache_write: float
    output: float


class ModelPrice(TypedDict):
    """US dollars per million tokens."""

    input: float
    cached_input: float
    cache_write: float
    output: float
    above: LongPrice | None


class ConfiguredModel(TypedDict):
    provider: str
    model: str
    used_by: list[ModelUse]
    context_window_tokens: int
    usd_per_million_tokens: ModelPrice | None
    """null: not known. A session with a cost budget cannot use the model."""


class DefaultModel(TypedDict):
    provider: str
    model: str


class ProviderKey(TypedDict):
    provider: str
    key: Literal["present", "missing", "unreadable", "not_needed"]


class ConfiguredModels(TypedDict):
    default: DefaultModel
    providers: list[ProviderKey]
    models: list[ConfiguredModel]
    priced_at: str
    """The day of the price list."""


class CheckedKey(TypedDict):
    provider: str
    status: Literal["works", "refused", "missing", "unreachable", "unchecked"]


class CheckedKeys(TypedDict):
    providers: list[CheckedKey]
