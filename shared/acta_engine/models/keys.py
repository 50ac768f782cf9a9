"""Providers' API keys: where each comes from, and what happens when one is rotated.

A key comes from an environment variable, or from a secret whose name is in the settings. A secret's text is kept for
minutes, so a kept key may be an old one.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from acta_engine.aws.secrets import SecretUnreadable
from acta_engine.errors import ActaError, ProviderKeyRefused
from acta_engine.models.model import (
    BackgroundCalls,
    BackgroundResponse,
    Model,
    ModelReply,
    ModelRequest,
    in_background,
)
from acta_engine.settings import Settings

T = TypeVar("T")

NO_KEY_YET = "unset"
"""What a new deployment puts into a secret until someone stores a key there."""


class Secrets(Protocol):
    """Returns a secret's text by its name, from what is kept. `refresh`: reads it again."""

    def __call__(self, name: str, *, refresh: bool = False) -> str: ...


class KeySource(NamedTuple):
    """`variable`: of the environment. `setting`: the field of `Settings` that names the secret."""

    variable: str
    setting: str


KEY_SOURCES = {
    "anthropic": KeySource("ANTHROPIC_API_KEY", "anthropic_secret"),
    "openai": KeySource("OPENAI_API_KEY", "openai_secret"),
}
"""By provider. Where no provider is named, the first one with a key is taken."""


def key_of(
    provider: str, settings: Settings, environ: Mapping[str, str], secrets: Secrets, *, refresh: bool = False
) -> str | None:
    """The provider's key. Empty: there is none, or the provider needs none. None: its secret holds something that is no
    key; that is no reason to take another provider. Raises AwsDenied where the secret may not be read, StoreThrottled,
    StoreUnavailable.
    """
    source = KEY_SOURCES.get(provider)
    if source is None:
        return ""
    key: str | None = environ.get(source.variable, "").strip()
    name = getattr(settings, source.setting)
    if not key and name:
        try:
            key = _key_in(secrets(name, refresh=refresh))
        except SecretUnreadable:
            return None
    return key


def _key_in(secret: str) -> str | None:
    """A secret holds the key itself, or `{"api_key": "..."}` as consoles store it. None: it holds something else."""
    text: Any = secret.strip()
    if text.startswith("{"):
        try:
            text = json.loads(text).get("api_key")
        except (ValueError, RecursionError):
            return None
    if not isinstance(text, str):
        return None
    return "" if text.strip() == NO_KEY_YET else text.strip()


MIN_SECONDS = 1.0
"""What a second call gets at least."""


class RotatingModel:
    """Reads the key again where the provider refuses it, and asks a second time where the key has changed.

    There are at most two calls. A provider does not charge for a call whose key it refuses, so only the second counts.
    """

    def __init__(
        self, model: Model, reload: Callable[[], Model], now: Callable[[], float] = time.monotonic
    ) -> None:
        """`reload`: reads the key again and returns the model for it, the same object where the key is the same. `now`:
        in seconds.
        """
        self._model = model
        self._reload = reload
        self._now = now

    @property
    def provider(self) -> str:
        return self._model.provider

    @property
    def in_background(self) -> BackgroundCalls | None:
        return RotatingBackground(self) if in_background(self._model) is not None else None

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """Raises what the models raise, and AwsDenied, StoreThrottled or StoreUnavailable where the secret cannot be
        read.
        """
        return self.asked(lambda model, left: model.complete(request, timeout=left), timeout)

    def asked(self, ask: Callable[[Model, float], T], timeout: float) -> T:
        """What `ask` makes of the model in the seconds that it is given. Raises as `complete` does."""
        started = self._now()
        try:
            return ask(self._model, timeout)
        except ProviderKeyRefused as error:
            refused = error
        reloaded = self._reload()
        if reloaded is self._model:
            raise refused
        left = max(MIN_SECONDS, timeout - (self._now() - started))
        self._model = reloaded
        return ask(reloaded, left)


class RotatingBackground:
    """The background calls of a model whose key may change: see `BackgroundCalls` in
    `shared/acta_engine/models/model.py`."""

    def __init__(self, model: RotatingModel) -> None:
        self._model = model

    def start(self, request: ModelRequest, *, timeout: float) -> str | ModelReply:
        return self._asked(lambda calls, left: calls.start(request, timeout=left), timeout)

    def result(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        return self._asked(lambda calls, left: calls.result(response, timeout=left), timeout)

    def cancel(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        return self._asked(lambda calls, left: calls.cancel(response, timeout=left), timeout)

    def forget(self, response: BackgroundResponse, *, timeout: float) -> None:
        return self._asked(lambda calls, left: calls.forget(response, timeout=left), timeout)

    def _asked(self, ask: Callable[[BackgroundCalls, float], T], timeout: float) -> T:
        def of(model: Model, left: float) -> T:
            calls = in_background(model)
            if calls is None:  # the new key cannot be read
                raise ProviderKeyRefused(f"{model.provider}: no API key is configured")
            return ask(calls, left)

        return self._model.asked(of, timeout)
