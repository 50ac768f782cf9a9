"""A key is read again, once, where the provider refuses the one that is kept."""

from typing import Any

import pytest

from acta.engine.agents.agent import Protocol
from acta.engine.aws.secrets import SecretUnreadable
from acta.engine.errors import (
    AwsDenied,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderUnavailable,
    StoreUnavailable,
)
from acta.engine.models.choose import RotatingModel, choose
from acta.engine.models.fallback import with_fallbacks
from acta.engine.models.model import Model, ModelReply, ModelRequest
from acta.engine.settings import Settings
from tests.in_process.scripted import ScriptedModel, says
from tests.models.wires.conversations import request

REFUSED = ProviderKeyRefused("provider answered 401")


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Timed:
    """Answers, and keeps the timeouts it was given."""

    provider = "scripted"

    def __init__(self, reply: ModelReply) -> None:
        self.reply = reply
        self.given: list[float] = []

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self.given.append(timeout)
        return self.reply


def _rotating(model: Model, *later: Model) -> RotatingModel:
    """`later`: the model after each time the key is read again."""
    models = iter(later)
    return RotatingModel(model, lambda: next(models))


def test_a_key_that_works_is_not_read_again() -> None:
    model = _rotating(ScriptedModel([says("hello")]))

    assert model.complete(request(), timeout=5).text == "hello"


def test_a_refused_key_is_read_again_and_the_new_one_is_used_from_then_on() -> None:
    old, new = ScriptedModel([REFUSED]), ScriptedModel([says("hello"), says("again")])
    model = _rotating(old, new)

    assert model.complete(request(), timeout=5).text == "hello"
    assert model.complete(request(), timeout=5).text == "again"
    assert (len(old.requests), len(new.requests)) == (1, 2)


def test_a_refused_key_that_is_the_same_when_read_again_is_not_tried_again() -> None:
    only = ScriptedModel([REFUSED, says("never")])

    with pytest.raises(ProviderKeyRefused):
        _rotating(only, only).complete(request(), timeout=5)
    assert len(only.requests) == 1


def test_a_second_refused_key_ends_the_run() -> None:
    old, new = ScriptedModel([REFUSED]), ScriptedModel([REFUSED, says("never")])

    with pytest.raises(ProviderKeyRefused):
        _rotating(old, new).complete(request(), timeout=5)
    assert (len(old.requests), len(new.requests)) == (1, 1)


def test_no_other_failure_reads_the_key_again() -> None:
    with pytest.raises(ProviderOverloaded):
        _rotating(ScriptedModel([ProviderOverloaded("429")])).complete(request(), timeout=5)


def test_the_engine_retries_where_the_secret_cannot_be_reached() -> None:
    def unreachable() -> Model:
        raise StoreUnavailable("get_secret_value")

    with pytest.raises(StoreUnavailable):
        RotatingModel(ScriptedModel([REFUSED]), unreachable).complete(request(), timeout=5)


def test_the_second_call_has_the_time_the_first_one_left() -> None:
    time = Time()

    def refuse(_: ModelRequest) -> ModelReply:
        time.now += 2
        raise REFUSED

    second = Timed(says("hello"))
    RotatingModel(ScriptedModel([refuse]), lambda: second, time).complete(request(), timeout=5)

    assert second.given == [3]


def _settings(**values: Any) -> Settings:
    return Settings(env="dev", table="t", bucket="b", **values)


class Stored:
    """A secret of which an old text is kept. A refresh finds `now`."""

    def __init__(self, kept: str, now: str) -> None:
        self.kept = kept
        self.now = now

    def __call__(self, name: str, *, refresh: bool = False) -> str:
        if refresh:
            self.kept = self.now
        return self.kept


PROTOCOLS: tuple[Protocol, ...] = ("native", "react")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_key_that_is_stored_after_the_provider_was_found_without_one_is_used(protocol: Protocol) -> None:
    """The call gets as far as the network, where nobody answers."""
    secrets = Stored("unset", "sk-new")
    settings = _settings(provider="openai", provider_secrets={"openai": "acta/openai"})
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}

    model, _ = choose(settings, environ, secrets, None, None, protocol)
    with pytest.raises(ProviderUnavailable):
        model.complete(request(), timeout=5)


def test_a_key_of_the_environment_is_not_looked_for_in_a_secret() -> None:
    settings = _settings(provider="openai", provider_secrets={"openai": "acta/openai"})

    chosen = choose(settings, {"OPENAI_API_KEY": "k"}, Stored("a", "b"))[0]

    assert not isinstance(chosen, RotatingModel)


def test_a_secret_that_is_no_text_fails_the_run_and_is_no_reason_to_take_another_provider() -> None:
    def unreadable(name: str, *, refresh: bool = False) -> str:
        raise SecretUnreadable("SecretBinary")

    model, _ = choose(
        _settings(provider_secrets={"anthropic": "acta/dev/anthropic"}), {"OPENAI_API_KEY": "k"}, unreadable
    )

    assert model.provider == "anthropic"
    with pytest.raises(ProviderKeyRefused) as refused:
        model.complete(request(), timeout=5)
    assert "acta/dev" not in str(refused.value)


def denied(name: str, *, refresh: bool = False) -> str:
    raise AwsDenied("get_secret_value: AccessDeniedException")


@pytest.mark.parametrize("provider", ["anthropic", None])
def test_a_secret_that_may_not_be_read_is_a_missing_permission_and_no_reason_to_take_another_provider(
    provider: str | None,
) -> None:
    settings = _settings(provider_secrets={"anthropic": "acta/dev/anthropic"})

    model, _ = choose(settings, {"OPENAI_API_KEY": "k"}, denied, provider, None, "native")

    assert model.provider == "anthropic"
    with pytest.raises(AwsDenied, match="AccessDeniedException") as refused:
        model.complete(request(), timeout=5)
    assert "acta/dev" not in str(refused.value)


def test_a_key_that_is_refused_while_its_secret_may_not_be_read_is_a_missing_permission() -> None:
    def reload() -> Model:
        raise AwsDenied("get_secret_value: AccessDeniedException")

    with pytest.raises(AwsDenied):
        RotatingModel(ScriptedModel([REFUSED]), reload).complete(request(), timeout=5)


def test_a_provider_whose_secret_may_not_be_read_does_not_keep_a_fallback_from_answering() -> None:
    settings = _settings(provider="anthropic", provider_secrets={"anthropic": "acta/dev/anthropic"})
    first = choose(settings, {}, denied, None, None, "native")

    model, _ = with_fallbacks(first, [(ScriptedModel([says("hello")]), "other")])
    reply = model.complete(request(), timeout=5)

    assert (reply.text, reply.model) == ("hello", "other")
    assert [(one.provider, one.code) for one in reply.failed_models] == [("anthropic", "AWS_DENIED")]


def test_a_fallback_whose_secret_may_not_be_read_is_passed_over_and_where_none_answers_it_is_retried() -> (
    None
):
    settings = _settings(provider="anthropic", provider_secrets={"anthropic": "acta/dev/anthropic"})
    unread = choose(settings, {}, denied, None, None, "native")
    busy = ProviderUnavailable("away")

    model, _ = with_fallbacks(
        (ScriptedModel([busy]), "first"), [unread, (ScriptedModel([says("hello")]), "third")]
    )
    assert model.complete(request(), timeout=5).model == "third"
    model, _ = with_fallbacks(unread, [(ScriptedModel([REFUSED]), "second")])
    with pytest.raises(AwsDenied):
        model.complete(request(), timeout=5)
