"""A setting is one field: its default, its bounds, who may set it and which functions get it."""

from typing import Any, get_args

import pytest

from acta.engine.settings import Settings, SettingsError
from acta.infra.sizing import FunctionName

NEEDED = {"ACTA_ENV": "dev", "ACTA_TABLE": "t", "ACTA_BUCKET": "b"}


def with_variable(name: str, text: str) -> Settings:
    return Settings.from_environ({**NEEDED, name: text})


def test_what_is_not_set_has_its_default_and_an_empty_variable_is_as_good_as_none() -> None:
    for settings in (Settings.from_environ(NEEDED), with_variable("ACTA_TURNS_PER_STEP", "")):
        assert settings.turns_per_step == Settings.fields["turns_per_step"].default == 1


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("ACTA_TURNS_PER_STEP", "8", "turns_per_step", 8),
        ("ACTA_TOKEN_WINDOW_SECONDS", "90", "token_window_seconds", 90.0),
        ("ACTA_TRACES_XRAY", "true", "traces_xray", True),
        ("ACTA_MODEL", "claude-x", "model", "claude-x"),
        ("ACTA_TENANT_LIMITS", '{"*": {"long_polls": null}}', "tenant_limits", {"*": {"long_polls": None}}),
        ("ACTA_PROVIDER_LIMITS", '{"openai": "learn"}', "provider_limits", {"openai": "learn"}),
    ],
)
def test_a_variable_is_read_as_what_its_field_is(name: str, text: str, field: str, value: Any) -> None:
    found = getattr(with_variable(name, text), field)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ACTA_TURNS_PER_STEP", "0"),
        ("ACTA_TURNS_PER_STEP", "101"),
        ("ACTA_TURNS_PER_STEP", "1.5"),
        ("ACTA_TURNS_PER_STEP", "many"),
        ("ACTA_STEP_DEADLINE_SECONDS", "0"),
        ("ACTA_STEP_DEADLINE_SECONDS", "nan"),
        ("ACTA_TRACES_XRAY", "perhaps"),
        ("ACTA_DEFAULT_VISIBILITY", "everybody"),
        ("ACTA_TENANT_LIMITS", '{"*": {"long_polls": 0}}'),
        ("ACTA_TENANT_LIMITS", '{"*": {"starts": 5}}'),
        ("ACTA_TENANT_LIMITS", "[]"),
        ("ACTA_PROVIDER_LIMITS", '{"openai": {"requests_per_minute": null}}'),
        ("ACTA_PROVIDER_LIMITS", '{"openai": "guess"}'),
        ("ACTA_TENANT_TOOLS", '{"acme": "acta-dev-tool-pay"}'),
        ("ACTA_AWS_PRICES", '{"region": "x"}'),
        ("ACTA_ROLE_MAP", '{"Billing": 1}'),
        ("ACTA_NOTIFY_WEBHOOK_URL", "http://hooks.example.com"),
        ("ACTA_PROVIDER", "nobody"),
        ("ACTA_TABLE", ""),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_the_name_of_its_variable(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=name):
        with_variable(name, text)


def test_a_setting_that_there_is_not_is_refused() -> None:
    with pytest.raises(SettingsError, match="ACTA_TURN_PER_STEP"):
        Settings(env="dev", table="t", bucket="b", turn_per_step=2)


def test_settings_do_not_change() -> None:
    with pytest.raises(AttributeError):
        Settings.from_environ(NEEDED).turns_per_step = 2


def test_a_setting_names_functions_that_there_are_and_says_what_a_text_of_it_looks_like() -> None:
    for field in Settings.fields.values():
        assert set(field.to) <= set(get_args(FunctionName))
        if field.json:
            assert field.read(field.json)
