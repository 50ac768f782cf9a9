"""Which models a deployment has, and whether its keys work, as the API answers it."""

from __future__ import annotations

from typing import Literal

from acta.engine.api.answers import TypedDict

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


class ModelUseView(TypedDict):
    agent_id: str | None
    """null: the deployment's default."""
    purpose: str
    """`default`, one of an agent's purposes, or `fallback`."""


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
    """The model's window, or what is assumed of it."""
    context_tokens: int
    """The tokens that a request and its answer may have together before a conversation is shortened, where its agent
    does not say."""
    usd_per_million_tokens: ModelPriceView | None
    """null: not known. A session with a cost budget cannot use the model."""
    source: str | None
    """Where the price comes from, and of which day it is. null: nobody has said."""


class DefaultModelView(TypedDict):
    provider: str
    model: str


class ProviderKeyView(TypedDict):
    provider: str
    key: KeyState


class ConfiguredModelsView(TypedDict):
    default: DefaultModelView
    providers: list[ProviderKeyView]
    models: list[ConfiguredModelView]
    priced_at: str
    """The day of the price list."""


class CheckedKeyView(TypedDict):
    provider: str
    status: KeyStatus


class CheckedKeysView(TypedDict):
    providers: list[CheckedKeyView]
