"""An agent's models in their order: where one is overloaded or away, the next is asked in the same turn (design §9).

Only what may pass leads on, and only before an answer has begun: half an answer is broken, not passed over, and
whoever listens hears one model. A fallback that cannot be used at all (no key, no such model) is passed over too: the
first model's trouble may pass, and decides. Where none answers, the engine retries the turn as it does without
fallbacks: after the shortest time they named, or with its own backoff where one named none: it may be back sooner.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from shared.domain.errors import (
    ProviderOverloaded,
    ProviderTimeout,
    ProviderUnavailable,
    SessionError,
    StreamBroken,
    TransientError,
)
from shared.ports.model import FailedModel, Model, ModelReply, ModelRequest, StreamOptions

LEAST_SECONDS = 1.0
"""With less than this left nobody else is asked."""

Away = ProviderOverloaded | ProviderTimeout | ProviderUnavailable
CODES: dict[type[TransientError], str] = {
    ProviderOverloaded: "PROVIDER_OVERLOADED",
    ProviderTimeout: "PROVIDER_TIMEOUT",
    ProviderUnavailable: "PROVIDER_UNAVAILABLE",
}


class Named(NamedTuple):
    """A model and the name it is asked by."""

    model: Model
    name: str


class _Ear:
    """Hands on what is said, and remembers that something was."""

    def __init__(self, tell: Callable[[str], None] | None) -> None:
        self._tell = tell
        self.heard = False

    def __call__(self, text: str) -> None:
        self.heard = True
        if self._tell is not None:
            self._tell(text)


class FallbackModel:
    """`models`: at least two, the first one is the agent's own. Each but the last has an equal share of the time left
    to begin its answer in; an answer that has begun has all of it.
    """

    def __init__(self, models: Sequence[Named], now: Callable[[], float] = time.monotonic) -> None:
        self._models = tuple(models)
        self._now = now

    @property
    def provider(self) -> str:
        return self._models[0].model.provider

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        until = self._now() + timeout
        passed: list[FailedModel] = []
        errors: list[Away] = []
        for at, (model, name) in enumerate(self._models):
            left, behind = until - self._now(), len(self._models) - at - 1
            if at and left < LEAST_SECONDS:
                break
            share = left / (behind + 1) if behind else request.stream_options.begins_within
            ear = _Ear(request.stream_options.on_text)
            stream_options = StreamOptions(share, ear if request.stream_options.on_text is not None else None)
            try:
                reply = model.complete(
                    request._replace(model=name, stream_options=stream_options), timeout=left
                )
            except (ProviderOverloaded, ProviderTimeout, ProviderUnavailable) as error:
                lost = isinstance(error, ProviderTimeout)
                if isinstance(error, ProviderTimeout) and error.began:
                    raise
                if ear.heard:
                    raise StreamBroken(str(error)) from None
                errors.append(error)
                passed.append(FailedModel(model.provider, name, CODES[type(error)], lost))
            except SessionError as error:
                if not at or ear.heard:
                    raise
                passed.append(FailedModel(model.provider, name, error.code))
            else:
                return reply._replace(provider=model.provider, model=name, failed_models=tuple(passed))
        raise _all_away(errors)


def _all_away(errors: Sequence[Away]) -> Away:
    """What the engine is told: the shortest wait where all named one, none where some did, else what the first said."""
    waits = [e.retry_after for e in errors if isinstance(e, ProviderOverloaded) and e.retry_after is not None]
    lost = [e for e in errors if isinstance(e, ProviderTimeout)]
    if waits:
        wait = min(waits) if len(waits) == len(errors) else None
        return ProviderOverloaded(str(errors[0]), wait, lost=len(lost))
    return lost[0] if lost else errors[0]


def with_fallbacks(first: tuple[Model, str], others: Sequence[tuple[Model, str]]) -> tuple[Model, str]:
    """The model that asks them in this order, by the first one's name. One that comes twice is asked once."""
    chain: dict[tuple[str, str], Named] = {}
    for model, name in (first, *others):
        chain.setdefault((model.provider, name), Named(model, name))
    return (FallbackModel(tuple(chain.values())), first[1]) if len(chain) > 1 else first
