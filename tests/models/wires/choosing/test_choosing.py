"""Which model an agent gets."""

import subprocess
import sys
from typing import Any

import pytest

from acta.engine.agents.agent import Protocol
from acta.engine.errors import ModelNotAllowed, ProviderKeyRefused, ProviderRejected
from acta.engine.models.choose import RotatingModel, SecretReader, UnusableModel, choose
from acta.engine.models.model import Model
from acta.engine.models.openai.chat import OpenAIModel
from acta.engine.models.openai.responses import OpenAIResponsesModel
from acta.engine.models.react import ReActModel
from acta.engine.settings import Settings, SettingsError
from tests.models.wires.conversations import TIMEOUT, request


def _settings(**values: Any) -> Settings:
    return Settings(env="local", is_local=True, table="t", bucket="b", offline=True, **values)


def _in_aws(**values: Any) -> Settings:
    """Settings of an environment without the offline stand-in."""
    return Settings(env="prod", table="t", bucket="b", **values)


def _no_secret(name: str, *, refresh: bool = False) -> str:
    raise AssertionError(f"{name} was read")


def _stored(text: str) -> SecretReader:
    def secrets(name: str, *, refresh: bool = False) -> str:
        assert name == "acta/openai"
        return text

    return secrets


@pytest.mark.parametrize(
    ("settings", "environ", "provider"),
    [
        ({}, {}, "offline"),
        ({}, {"ANTHROPIC_API_KEY": ""}, "offline"),
        ({}, {"ANTHROPIC_API_KEY": "k"}, "anthropic"),
        ({}, {"OPENAI_API_KEY": "k"}, "openai"),
        ({}, {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "anthropic"),
        ({"provider": "openai"}, {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "openai"),
        ({"provider": "offline"}, {"ANTHROPIC_API_KEY": "k"}, "offline"),
    ],
)
def test_the_provider_is_the_named_one_or_the_first_with_a_key(
    settings: dict[str, str], environ: dict[str, str], provider: str
) -> None:
    model, name = choose(_settings(**settings), environ, _no_secret)

    assert model.provider == provider
    assert name


@pytest.mark.parametrize("stored", ["unset", "", '{"api_key": "unset"}'])
def test_an_environment_without_the_stand_in_refuses_where_no_provider_has_a_key(stored: str) -> None:
    settings = _in_aws(provider_secrets={"openai": "acta/openai"}, model="claude-opus-5-5")

    model, name = choose(settings, {}, lambda name, *, refresh=False: stored)

    assert (model.provider, name) == ("anthropic", "claude-opus-5-5")
    with pytest.raises(ProviderKeyRefused, match="acta/<env>/anthropic or acta/<env>/openai") as refused:
        model.complete(request(), timeout=TIMEOUT)
    assert "this provider" not in refused.value.explained


def test_a_key_that_was_just_stored_is_found_although_an_empty_secret_is_cached() -> None:
    def secrets(name: str, *, refresh: bool = False) -> str:
        return "sk-1" if refresh and name == "acta/openai" else "unset"

    assert choose(_in_aws(provider_secrets={"openai": "acta/openai"}), {}, secrets)[0].provider == "openai"


def test_an_agent_that_names_a_missing_stand_in_fails_the_run_and_asks_no_other_model() -> None:
    model, name = choose(_in_aws(), KEYS, _no_secret, "offline", "gpt-4.1", "native")

    assert (model.provider, name) == ("offline", "offline-rules")
    with pytest.raises(ProviderRejected, match="this environment does not have"):
        model.complete(request(), timeout=TIMEOUT)


def test_settings_cannot_name_a_missing_stand_in() -> None:
    with pytest.raises(SettingsError, match="this environment has no offline stand-in"):
        _in_aws(provider="offline")


def test_the_settings_name_the_model() -> None:
    environ = {"ANTHROPIC_API_KEY": "k"}

    assert choose(_settings(model="claude-opus-5-5"), environ, _no_secret)[1] == "claude-opus-5-5"
    assert choose(_settings(), environ, _no_secret)[1] == "claude-sonnet-5-5"
    assert choose(_settings(model="claude-opus-5-5"), {}, _no_secret)[1] == "offline-rules"


@pytest.mark.parametrize(
    ("stored", "provider"),
    [
        ("sk-1", "openai"),
        ('{"api_key": "sk-1"}', "openai"),
        ("unset", "offline"),
        ("", "offline"),
        ('{"api_key": "unset"}', "offline"),
    ],
)
def test_a_key_may_come_from_a_secret(stored: str, provider: str) -> None:
    chosen = choose(_settings(provider_secrets={"openai": "acta/openai"}), {}, _stored(stored))[0]

    assert chosen.provider == provider


@pytest.mark.parametrize(
    "stored",
    ["{", '{"api_key": "sk-1"', "{}", '{"OPENAI_API_KEY": "sk-1"}', '{"api_key": ["sk-1"]}', "{" * 9_999],
)
def test_a_secret_that_holds_something_else_changes_no_provider_and_fails_the_run(stored: str) -> None:
    model, _ = choose(_settings(provider_secrets={"openai": "acta/openai"}), {}, _stored(stored))

    assert model.provider == "openai"
    with pytest.raises(ProviderKeyRefused, match="its secret holds the key itself") as caught:
        model.complete(request(), timeout=TIMEOUT)
    assert "sk-1" not in str(caught.value)


def test_a_named_provider_without_a_key_fails_the_run_not_the_worker() -> None:
    model, _ = choose(_settings(provider="openai"), {}, _no_secret)

    assert model.provider == "openai"
    with pytest.raises(
        ProviderKeyRefused, match=r"takes it from the variable OPENAI_API_KEY when it starts$"
    ):
        model.complete(request(), timeout=1.0)


def test_a_local_stack_whose_keys_are_secrets_finds_one_that_is_stored_later() -> None:
    settings = _settings(provider="openai", provider_secrets={"openai": "acta/openai"})
    model, _ = choose(settings, {}, _stored("unset"))

    assert isinstance(model, RotatingModel)


def test_in_aws_the_place_of_a_missing_key_is_a_secret() -> None:
    model, _ = choose(
        _in_aws(provider_secrets={"openai": "acta/openai"}), {}, _stored("unset"), "openai", None, "native"
    )

    with pytest.raises(ProviderKeyRefused, match=r"belongs in the secret acta/<env>/openai$"):
        model.complete(request(), timeout=1.0)


KEYS = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}


@pytest.mark.parametrize(
    ("settings", "agent", "expected"),
    [
        ({}, (None, None), ("anthropic", "claude-sonnet-5-5")),
        ({}, (None, "claude-opus-5-5"), ("anthropic", "claude-opus-5-5")),
        ({}, ("openai", None), ("openai", "gpt-6-sol")),
        ({"model": "claude-opus-5-5"}, (None, None), ("anthropic", "claude-opus-5-5")),
        ({"model": "claude-opus-5-5"}, ("anthropic", None), ("anthropic", "claude-opus-5-5")),
        ({"model": "claude-opus-5-5"}, ("openai", None), ("openai", "gpt-6-sol")),
        ({"provider": "openai", "model": "gpt-5"}, ("openai", "gpt-4.1"), ("openai", "gpt-4.1")),
        ({"provider": "openai"}, ("offline", "gpt-4.1"), ("offline", "offline-rules")),
        ({"provider": "offline"}, ("anthropic", None), ("anthropic", "claude-sonnet-5-5")),
    ],
)
def test_an_agent_may_name_provider_and_model(
    settings: dict[str, str], agent: tuple[str | None, str | None], expected: tuple[str, str]
) -> None:
    model, name = choose(_settings(**settings), KEYS, _no_secret, *agent, "native")

    assert (model.provider, name) == expected


def test_an_agents_model_is_made_once_a_process() -> None:
    def chosen(model: str, protocol: Protocol) -> Model:
        return choose(_settings(), KEYS, _no_secret, "openai", model, protocol)[0]

    assert chosen("gpt-5", "native") is chosen("gpt-4.1", "native")
    assert chosen("gpt-5", "react") is chosen("gpt-4.1", "react")
    assert chosen("gpt-5", "react") is not chosen("gpt-5", "native")


@pytest.mark.parametrize(
    ("provider", "model", "protocol", "base_url", "react"),
    [
        ("openai", "gpt-6-sol", "native", None, False),
        ("openai", "gpt-6-sol", "react", None, True),
        ("anthropic", "claude-sonnet-5-5", "react", None, True),
        ("offline", None, "react", None, False),
        ("openai", "gpt-6.2-sol", "native", None, False),
        ("openai", "gpt-6-astra", "native", "https://api.openai.com/v1", False),
        ("openai", "gpt-6.2-sol", "native", "http://127.0.0.1:1/v1", False),
    ],
)
def test_react_is_for_those_that_ask_for_it_and_for_models_without_tools(
    provider: str, model: str | None, protocol: Protocol, base_url: str | None, react: bool
) -> None:
    environ = KEYS | ({"OPENAI_BASE_URL": base_url} if base_url else {})

    chosen, _ = choose(_settings(), environ, _no_secret, provider, model, protocol)

    assert isinstance(chosen, ReActModel) == react
    assert chosen.provider == provider


@pytest.mark.parametrize(
    ("openai_api", "base_url", "api"),
    [
        ("", None, OpenAIResponsesModel),
        ("", "https://api.openai.com/v1", OpenAIResponsesModel),
        ("", "https://eu.api.openai.com/v1/", OpenAIResponsesModel),
        ("", "http://127.0.0.1:1/v1", OpenAIModel),
        ("", "https://api.openai.com.elsewhere.example/v1", OpenAIModel),
        ("", "https://elsewhere.example/api.openai.com", OpenAIModel),
        ("chat", None, OpenAIModel),
        ("responses", "http://127.0.0.1:1/v1", OpenAIResponsesModel),
    ],
)
def test_openai_itself_is_asked_over_responses_and_other_servers_over_chat_unless_settings_differ(
    openai_api: str, base_url: str | None, api: type[Model]
) -> None:
    environ = KEYS | ({"OPENAI_BASE_URL": base_url} if base_url else {})
    settings = _settings(openai_api=openai_api)

    chosen, _ = choose(settings, environ, _no_secret, "openai", "gpt-4.1", "native")

    assert type(chosen) is api


def test_a_model_without_tools_over_chat_is_asked_in_react_where_chat_is_chosen() -> None:
    settings = _settings(openai_api="chat")

    chosen, _ = choose(settings, KEYS, _no_secret, "openai", "gpt-6.2-sol", "native")

    assert isinstance(chosen, ReActModel)


def test_bedrock_needs_no_key_and_is_used_only_where_it_is_named() -> None:
    region = {"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "k", "AWS_BEARER_TOKEN_BEDROCK": "k"}

    assert choose(_settings(), region, _no_secret)[0].provider == "offline"
    for named in (
        choose(_settings(provider="bedrock"), region, _no_secret),
        choose(_settings(), region | KEYS, _no_secret, "bedrock", None, "native"),
    ):
        assert (named[0].provider, named[1]) == ("bedrock", "global.anthropic.claude-sonnet-5-5")
    react, _ = choose(_settings(), region, _no_secret, "bedrock", None, "react")
    assert isinstance(react, ReActModel)


def test_choosing_any_model_imports_no_sdk() -> None:
    script = (
        "import sys\n"
        "from acta.engine.models.choose import choose\n"
        "from acta.engine.settings import Settings\n"
        "for provider in ('anthropic', 'openai', 'bedrock', 'offline'):\n"
        "    settings = Settings(env='local', table='t', bucket='b', offline=True, provider=provider)\n"
        "    environ = {'ANTHROPIC_API_KEY': 'k', 'OPENAI_API_KEY': 'k'}\n"
        "    assert choose(settings, environ, str)[0].provider == provider\n"
        "sdks = ('anthropic', 'openai', 'httpx', 'httpx2', 'boto3', 'botocore')\n"
        "print([name for name in sdks if name in sys.modules])\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )

    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.parametrize(
    ("provider", "model", "allowed"),
    [
        (None, None, True),
        ("anthropic", "claude-a", True),
        ("anthropic", "claude-b", False),
        ("openai", None, False),
    ],
)
def test_a_model_that_the_deployment_does_not_allow_fails_the_run_and_no_provider_is_asked(
    provider: str | None, model: str | None, allowed: bool
) -> None:
    settings = _settings(allowed_models="claude-a", model="claude-own", provider="anthropic")
    environ = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
    chosen, _ = choose(settings, environ, _no_secret, provider, model, "native")
    assert isinstance(chosen, UnusableModel) == (not allowed)
    if not allowed:
        with pytest.raises(ModelNotAllowed):
            chosen.complete(request(), timeout=TIMEOUT)
