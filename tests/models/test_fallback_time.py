"""How an agent's models share the time of a turn (docs/design/providers.md 10)."""

import pytest

from acta.engine.errors import (
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderTimeout,
    ProviderUnavailable,
    SessionError,
    TransientError,
)
from acta.engine.models.fallback import ModelChain, with_fallbacks
from acta.engine.models.model import Model, ModelReply, ModelRequest, StreamOptions
from acta.engine.models.providers import AnswerTime
from tests.in_process.scripted import ScriptedModel, says

ASKED = ModelRequest("m", "", (), (), "", 100)


class Watch:
    """A clock that the models move."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Slow:
    """Takes its time, then raises ProviderOverloaded or answers."""

    provider = "slow"

    def __init__(self, watch: Watch, seconds: float, *, answers: bool = False) -> None:
        self._watch, self._seconds, self._answers = watch, seconds, answers
        self.given: list[tuple[float, float | None]] = []

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self.given.append((timeout, request.stream_options.begins_within))
        self._watch.now += self._seconds
        if not self._answers:
            raise ProviderOverloaded("busy")
        return says("Done.")


def chain(watch: Watch, *models: Model) -> ModelChain:
    return ModelChain([(model, f"m{number}") for number, model in enumerate(models)], watch)


def test_each_model_has_the_time_left_and_begins_within_an_equal_share_of_it() -> None:
    watch = Watch()
    models = [Slow(watch, 30), Slow(watch, 10), Slow(watch, 1, answers=True)]
    reply = chain(watch, *models).complete(ASKED, timeout=120)
    assert [model.given for model in models] == [[(120, 40)], [(90, 45)], [(80, None)]]
    assert (reply.model, [one.model for one in reply.failed_models]) == ("m2", ["m0", "m1"])


def test_a_silent_model_leaves_the_next_one_the_time_for_a_whole_long_answer() -> None:
    """An equal share, 420 s, would leave it 420 of the 640 s that it needs to write 24,000 tokens."""
    watch = Watch()
    models = [Slow(watch, 170), Slow(watch, 600, answers=True)]
    long = ASKED._replace(max_tokens=24_000)
    answer_time = AnswerTime(first_token=40, tokens_per_second=40)
    chained = ModelChain([(each, "m") for each in models], watch, answer_time)
    assert chained.complete(long, timeout=840).text == "Done."
    assert [model.given for model in models] == [[(840, 200)], [(670, None)]]


def test_with_no_time_left_no_other_model_is_asked() -> None:
    watch = Watch()
    models = [Slow(watch, 59.5), Slow(watch, 1, answers=True)]
    with pytest.raises(ProviderOverloaded):
        chain(watch, *models).complete(ASKED, timeout=60)
    assert models[1].given == []


def test_the_last_model_may_begin_as_late_as_the_caller_allows() -> None:
    watch = Watch()
    models = [Slow(watch, 1), Slow(watch, 1, answers=True)]
    asked = ASKED._replace(stream_options=StreamOptions(begins_within=7))
    chain(watch, *models).complete(asked, timeout=60)
    assert models[1].given == [(59, 7)]


def test_a_timeout_counts_more_than_overload() -> None:
    silent = ScriptedModel([ProviderTimeout("silent")])
    with pytest.raises(ProviderTimeout):
        chain(Watch(), ScriptedModel([ProviderOverloaded("busy")]), silent).complete(ASKED, timeout=60)


def test_there_is_a_wait_only_where_every_model_named_one() -> None:
    far, near = ProviderOverloaded("busy", 3600.0), ProviderOverloaded("busy", 5.0)
    for error, wait in ((near, 5.0), (ProviderOverloaded("busy"), None), (ProviderUnavailable("away"), None)):
        with pytest.raises(ProviderOverloaded) as caught:
            chain(Watch(), ScriptedModel([far]), ScriptedModel([error])).complete(ASKED, timeout=60)
        assert caught.value.retry_after == wait


class Asker:
    """Allows so many further models, and remembers what it hears."""

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed
        self.heard: list[str] = []

    def ended(self, error: SessionError | TransientError) -> None:
        self.heard.append(error.code)

    def may_ask(self, provider: str, model: str) -> bool:
        self.heard.append(model)
        self.allowed -= 1
        return self.allowed >= 0


def test_who_asks_hears_how_each_model_went_although_one_error_is_raised_for_all() -> None:
    asker = Asker(allowed=2)
    models = (
        ScriptedModel([ProviderOverloaded("busy", 3600.0)]),
        ScriptedModel([ProviderTimeout("silent")]),
        ScriptedModel([ProviderKeyRefused("401")]),
    )
    with pytest.raises(ProviderOverloaded) as caught:
        chain(Watch(), *models).complete(ASKED._replace(fallbacks=asker), timeout=60)
    assert caught.value.retry_after is None
    assert asker.heard == [
        "PROVIDER_OVERLOADED", "m1", "PROVIDER_TIMEOUT", "m2", "PROVIDER_KEY_REFUSED",
    ]  # fmt: skip


def test_a_model_that_may_not_be_asked_ends_the_chain() -> None:
    models = [Slow(Watch(), 0), Slow(Watch(), 0), Slow(Watch(), 0, answers=True)]
    with pytest.raises(ProviderOverloaded):
        chain(Watch(), *models).complete(ASKED._replace(fallbacks=Asker(allowed=1)), timeout=60)
    assert [len(model.given) for model in models] == [1, 1, 0]


def test_with_no_time_left_nobody_is_told_that_another_model_is_asked() -> None:
    watch, asker = Watch(), Asker(allowed=1)
    models = [Slow(watch, 59.5), Slow(watch, 1, answers=True)]
    with pytest.raises(ProviderOverloaded):
        chain(watch, *models).complete(ASKED._replace(fallbacks=asker), timeout=60)
    assert asker.heard == ["PROVIDER_OVERLOADED"]


def test_a_model_that_is_named_twice_is_asked_once() -> None:
    only = ScriptedModel([ProviderOverloaded("busy")])
    model, name = with_fallbacks((only, "m"), [(only, "m")])
    assert (model, name) == (only, "m")
