"""Which models a deployment has, and whether its keys work, as the API answers it."""

from __future__ import annotations

from typing import Literal

from acta_engine.api.answers import TypedDict


class ModelUseView(TypedDict):
    agent_id: str | None
    """null: the deployment's default."""
    purpose: str


class LongPriceView(TypedDict):
    """What a request with a longer prompt costs as a whole."""

    prompt_tokens: int
    input: float
    cached_input: float
    cache_write: float
    output: float


class ModelPriceView(TypedDict):
    """US dollars per million tokens."""

    input: float
    cached_input: float
    cache_write: float
    output: float
    above: LongPriceView | None


class ConfiguredModelView(TypedDict):
    provider: str
    model: str
    used_by: list[ModelUseView]
    context_window_tokens: int
    usd_per_million_tokens: ModelPriceView | None
    """null: not known. A session with a cost budget cannot use the model."""


class DefaultModelView(TypedDict):
    provider: str
    model: str


class ProviderKeyView(TypedDict):
    provider: str
    key: Literal["present", "missing", "unreadable", "not_needed"]


class ConfiguredModelsView(TypedDict):
    default: DefaultModelView
    providers: list[ProviderKeyView]
    models: list[ConfiguredModelView]
    priced_at: str
    """The day of the price list."""


class CheckedKeyView(TypedDict):
    provider: str
    status: Literal["works", "refused", "missing", "unreachable", "unchecked"]


class CheckedKeysView(TypedDict):
    providers: list[CheckedKeyView]
