"""A model whose key may be rotated while this process lives: the key is kept for minutes, and it may be old."""

import time
from collections.abc import Callable
from typing import Protocol

from shared.domain.errors import ProviderKeyRefused
from shared.ports.model import Model, ModelReply, ModelRequest

LEAST_SECONDS = 1.0


class Secrets(Protocol):
    """A secret's text by its name, kept for a while; `anew` drops what is kept and reads again."""

    def __call__(self, name: str, *, anew: bool = False) -> str: ...


class RotatingModel:
    """`anew` reads the key again and gives the model for it: the very same one where the key is the same.

    At most two calls. A refusal is not charged for, so the second is the only one that counts.
    """

    def __init__(
        self, model: Model, anew: Callable[[], Model], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._model = model
        self._anew = anew
        self._now = now

    @property
    def provider(self) -> str:
        return self._model.provider

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        started = self._now()
        try:
            return self._model.complete(request, timeout=timeout)
        except ProviderKeyRefused as refused:
            first = refused
        again = self._anew()
        if again is self._model:
            raise first
        left = max(LEAST_SECONDS, timeout - (self._now() - started))
        self._model = again
        return again.complete(request, timeout=left)
