"""A local stack notifies a webhook if its starter names one and a secret to sign with."""

import pytest

from acta.engine.settings import SettingsError
from acta.infra.local.config import LocalConfig

URL, SECRET = "ACTA_NOTIFY_WEBHOOK_URL", "ACTA_NOTIFY_SECRET"
HOOK = {URL: "http://127.0.0.1:9/hook", SECRET: "a secret of a team"}


@pytest.mark.parametrize("name", ["ACTA_NOTIFY_HOSTS", "ACTA_NOTIFY_ALLOW"])
def test_where_tenants_may_name_webhooks_the_stack_listens_and_needs_no_secret_of_its_own(name: str) -> None:
    config = LocalConfig.from_environ({name: "127.0.0.1:9"})
    assert config.context == {"notifications": "on"}
    given = config.for_some_functions({name: "127.0.0.1:9"})
    assert set(given) == {f"acta-local-{each}" for each in ("start", "admin", "notify", "mcp")}


def test_the_address_of_the_api_is_told_to_notify_alone_and_the_starter_s_own_wins() -> None:
    config = LocalConfig.from_environ({})
    own = {"acta-local-notify": {"ACTA_NOTIFY_API_URL": "http://127.0.0.1:8"}}
    given = config.for_some_functions({}, "http://127.0.0.1:8")
    assert {name: given[name] for name in own} == own
    named = {"ACTA_NOTIFY_API_URL": "https://acta.example.com"}
    given = LocalConfig.from_environ(named).for_some_functions(named, "http://127.0.0.1:8")
    assert given["acta-local-notify"] == named
    assert [name for name, each in given.items() if each.keys() & named.keys()] == ["acta-local-notify"]


def test_with_a_webhook_the_stack_listens_and_its_functions_get_url_and_secret_by_name() -> None:
    config = LocalConfig.from_environ(HOOK)
    assert config.context == {"notifications": "on"}
    assert set(config.lambda_env) == {URL, SECRET}
    assert config.unknown == ()
    assert "a secret" not in repr(config)


@pytest.mark.parametrize("environ", [{}, {SECRET: "a secret of a team"}])
def test_without_a_webhook_notifications_are_off(environ: dict[str, str]) -> None:
    config = LocalConfig.from_environ(environ)
    assert config.context == {}
    assert config.lambda_env == ()


@pytest.mark.parametrize("secret", ["", "short", "whsec_?"])
def test_a_webhook_without_a_usable_secret_is_refused_without_quoting_it(secret: str) -> None:
    with pytest.raises(SettingsError, match=SECRET) as refused:
        LocalConfig.from_environ({**HOOK, SECRET: secret})
    assert "\n" not in str(refused.value)
    assert not secret or secret not in str(refused.value)


def test_a_webhook_that_is_no_url_is_refused() -> None:
    with pytest.raises(SettingsError, match=URL):
        LocalConfig.from_environ({**HOOK, URL: "127.0.0.1:9"})


def test_what_the_templates_set_is_not_taken_from_a_shell() -> None:
    environ = {"ACTA_NOTIFY_TOPIC_ARN": "arn", "ACTA_NOTIFY_SECRET_NAME": "name"}
    config = LocalConfig.from_environ(environ)
    assert (config.lambda_env, config.unknown) == ((), ())
