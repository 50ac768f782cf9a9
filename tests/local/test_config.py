import pytest

from acta.engine.settings import SettingsError
from acta.infra.local.config import LocalConfig


def test_without_a_key_the_offline_provider_answers() -> None:
    config = LocalConfig.from_environ({})
    assert config.provider == "offline"
    assert config.lambda_env == ()


def test_a_key_chooses_its_provider_and_is_passed_on_by_name() -> None:
    environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "PATH": "/bin"}
    config = LocalConfig.from_environ(environ)
    assert config.provider == "openai"
    assert config.lambda_env == ("OPENAI_API_KEY", "OPENAI_BASE_URL")


def test_the_first_of_two_keys_wins_unless_one_is_chosen() -> None:
    both = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}
    assert LocalConfig.from_environ(both).provider == "anthropic"
    assert LocalConfig.from_environ({**both, "ACTA_PROVIDER": "openai"}).provider == "openai"


def test_bedrock_needs_no_key_and_is_used_where_it_is_chosen() -> None:
    environ = {"AWS_BEARER_TOKEN_BEDROCK": "b", "ANTHROPIC_BEDROCK_BASE_URL": "http://127.0.0.1:1"}
    assert LocalConfig.from_environ(environ).provider == "offline"
    config = LocalConfig.from_environ({**environ, "ACTA_PROVIDER": "bedrock"})
    assert config.provider == "bedrock"
    assert {*environ, "ACTA_PROVIDER"} == set(config.lambda_env)


def test_settings_are_passed_on_and_what_the_templates_set_is_not() -> None:
    environ = {"ACTA_TOKEN_BUDGET": "1000", "ACTA_TABLE": "mine", "ACTA_ENV": "prod"}
    assert LocalConfig.from_environ(environ).lambda_env == ("ACTA_TOKEN_BUDGET",)


def test_the_stacks_own_variables_are_read_here() -> None:
    config = LocalConfig.from_environ(
        {
            "ACTA_AWS_PORT": "4600",
            "ACTA_LAMBDA_AWS_ENDPOINT_URL": "http://127.0.0.1:9",
            "ACTA_RETRY_BASE_SECONDS": "3",
            "ACTA_PARK_AFTER_SECONDS": "5",
            "ACTA_AWS_LONGEST_PAUSE_SECONDS": "0.5",
            "ACTA_AWS_INVOCATION_CHECK_URL": "http://127.0.0.1:10",
        }
    )
    assert (config.aws_port, config.lambda_endpoint) == (4600, "http://127.0.0.1:9")
    assert config.emulator_options == {
        "longest-pause": "0.5",
        "invocation-check": "http://127.0.0.1:10",
    }
    assert config.context == {"retry_base_seconds": "3", "park_after_seconds": "5"}
    assert (config.lambda_env, config.unknown) == ((), ())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ACTA_TOKEN_BUDGET", "many"),
        ("ACTA_TOKEN_BUDGET", "0"),
        ("ACTA_STEP_DEADLINE_SECONDS", "-1"),
        ("ACTA_AWS_PORT", "70000"),
        ("ACTA_AWS_PORT", "http"),
        ("ACTA_LAMBDA_AWS_ENDPOINT_URL", "127.0.0.1:4566"),
        ("ACTA_AWS_LONGEST_PAUSE_SECONDS", "soon"),
        ("ACTA_AWS_INVOCATION_CHECK_URL", "127.0.0.1:10"),
        ("ACTA_RETRY_BASE_SECONDS", "0.5"),
        ("ACTA_PARK_AFTER_SECONDS", "0"),
        ("ACTA_PROVIDER", "oracle"),
        ("ACTA_PROVIDER", "anthropic"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line_that_names_it(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name) as refused:
        LocalConfig.from_environ({name: value})
    assert "\n" not in str(refused.value)


def test_a_misspelt_setting_is_noticed() -> None:
    environ = {"ACTA_TOKEN_BUGDET": "1", "ACTA_TOKEN": "t", "ACTA_ENV": "x", "ACTA_MODEL": "m"}
    assert LocalConfig.from_environ(environ).unknown == ("ACTA_TOKEN_BUGDET",)


def test_an_optional_tool_that_there_is_not_is_refused_before_anything_starts() -> None:
    with pytest.raises(SettingsError, match="ACTA_OPTIONAL_TOOLS names get_wether; "):
        LocalConfig.from_environ({"ACTA_OPTIONAL_TOOLS": "get_wether"})
