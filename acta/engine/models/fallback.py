"""An agent's models in their order: where one is overloaded or away, the next is asked in the same turn.

Another model is asked only while no answer has begun. Half an answer is a broken stream, so nobody is shown the text of
two models. A fallback that cannot be used at all (no key, no such model) is skipped, because the first model's trouble
may pass: its error counts. One whose secret may not be read counts as away. Where no model answers, the engine retries
the turn as it does without fallbacks. It also does so if the request's `fallbacks` allow no further model.

Where a model declines, one more is asked, also after a part of an answer; its text is then shown to nobody before it is
committed. The first refusal has been paid for, and is charged as an attempt. It stands where no other model answers.
"""

import time
from collections.abc import Callable, Sequence

from acta.engine.errors import (
    AwsDenied,
    ModelRefused,
    ProviderOverloaded,
    ProviderTimeout,
    ProviderUnavailable,
    SessionError,
    StreamBroken,
)
from acta.engine.models.model import (
    FailedModel,
    Model,
    ModelReply,
    ModelRequest,
    TokenUsage,
)
from acta.engine.models.providers import AnswerTime

MIN_SECONDS = 1.0
"""With less time left no other model is asked."""

AS_RATED = AnswerTime()

TemporaryFailure = ProviderOverloaded | ProviderTimeout | ProviderUnavailable | AwsDenied


def with_fallbacks(
    first: tuple[Model, str], others: Sequence[tuple[Model, str]], answer_time: AnswerTime = AS_RATED
) -> tuple[Model, str]:
    """The model that asks them in this order, and the first one's name. A model that comes twice is asked once. All are
    given with the name to ask them by.
    """
    chain: dict[tuple[str, str], tuple[Model, str]] = {}
    for model, name in (first, *others):
        chain.setdefault((model.provider, name), (model, name))
    return (ModelChain(tuple(chain.values()), answer_time=answer_time), first[1]) if len(chain) > 1 else first


class ModelChain:
    """Each model but the last has to begin its answer in an equal share of the time that is left, and early enough for
    the next one to write a whole answer. An answer that has begun has all of the time.
    """

    def __init__(
        self,
        models: Sequence[tuple[Model, str]],
        now: Callable[[], float] = time.monotonic,
        answer_time: AnswerTime = AS_RATED,
    ) -> None:
        """`models`: at least two, each with the name to ask it by; the first is the agent's own. `now`: in seconds."""
        self._models = tuple(models)
        self._answer_time = answer_time
        self._now = now

    @property
    def provider(self) -> str:
        return self._models[0][0].provider

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """Raises the first model's SessionError; whatever a model raises once its answer has begun; else, where all
        that were asked failed, one error for all of them. After a refusal nothing is raised.
        """
        deadline = self._now() + timeout
        failed: list[FailedModel] = []
        errors: list[TemporaryFailure] = []
        refusal: ModelReply | None = None
        for position, (model, name) in enumerate(self._models):
            is_late = deadline - self._now() < MIN_SECONDS
            watch = request.fallbacks
            if position and (is_late or (watch is not None and not watch.may_ask(model.provider, name))):
                break
            left = max(MIN_SECONDS, deadline - self._now()) if position else timeout
            others = [other for _, other in self._models[position + 1 :]]
            options = request.stream_options
            text = _TextObserver(options.on_text)
            if options.on_text is not None:
                options = options._replace(on_text=text if refusal is None else None)
            if others:
                within = self._answer_time.begins_within(left, others, request.max_tokens)
                options = options._replace(begins_within=within)
            try:
                reply = model.complete(request._replace(model=name, stream_options=options), timeout=left)
            except (ProviderOverloaded, ProviderTimeout, ProviderUnavailable, AwsDenied) as error:
                if isinstance(error, ProviderTimeout) and error.began:
                    raise
                if text.has_begun:
                    raise StreamBroken(str(error)) from None
                errors.append(error)
                _tell_ended(request, error)
                failed.append(FailedModel(model.provider, name, error.code))
            except SessionError as error:
                if not position or text.has_begun:
                    raise
                _tell_ended(request, error)
                failed.append(FailedModel(model.provider, name, error.code))
            else:
                reply = reply._replace(provider=model.provider, model=name, failed_models=tuple(failed))
                if reply.stop != "refusal" or refusal is not None or not others:
                    return reply
                refusal = reply._replace(usage=TokenUsage())
                _tell_ended(request, ModelRefused(f"{model.provider}: the model declined", reply.usage))
                failed.append(FailedModel(model.provider, name, ModelRefused.code, reply.category))
        if refusal is not None:
            return refusal
        raise _combined(errors)


def _tell_ended(request: ModelRequest, error: TemporaryFailure | SessionError) -> None:
    if request.fallbacks is not None:
        request.fallbacks.ended(error)


class _TextObserver:
    """Passes text on, and remembers whether there was any."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self.has_begun = False

    def __call__(self, text: str) -> None:
        self.has_begun = True
        if self._on_text is not None:
            self._on_text(text)


def _combined(errors: Sequence[TemporaryFailure]) -> TemporaryFailure:
    """One error for the engine. Where all models asked for a wait, it has the shortest one. Where only some did, it has
    none, so that the engine's own backoff counts: the others may be back sooner. Where none did, it is the first
    timeout, else the first error.
    """
    waits = [e.retry_after for e in errors if isinstance(e, ProviderOverloaded) and e.retry_after is not None]
    timeouts = [e for e in errors if isinstance(e, ProviderTimeout)]
    if waits:
        wait = min(waits) if len(waits) == len(errors) else None
        return ProviderOverloaded(str(errors[0]), wait)
    return timeouts[0] if timeouts else errors[0]
