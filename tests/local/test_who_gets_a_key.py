"""A secret of whoever starts the stack goes to the one function that uses it."""

import pytest

from acta.infra.local.config import PROVIDER_VARIABLES, LocalConfig

HOOK = {"ACTA_NOTIFY_WEBHOOK_URL": "http://127.0.0.1:9/hook", "ACTA_NOTIFY_SECRET": "a secret of a team"}


@pytest.mark.parametrize("name", PROVIDER_VARIABLES)
def test_what_belongs_to_a_provider_goes_to_step_alone(name: str) -> None:
    environ = {name: "k", "ACTA_TOKEN_BUDGET": "1000"}
    config = LocalConfig.from_environ(environ)
    assert config.for_some_functions(environ) == {"acta-local-step": {name: "k"}}
    assert config.for_every_function(environ) == {"ACTA_TOKEN_BUDGET": "1000"}
    functions = config.for_functions(environ)
    assert functions["acta-local-step"] == {name: "k", "ACTA_TOKEN_BUDGET": "1000"}
    assert functions["acta-local-admin"] == {"ACTA_TOKEN_BUDGET": "1000"}
    assert not any("-tool-" in each for each in functions), "tools of one's own get what AWS would give them"


def test_what_notifications_are_signed_with_and_sent_to_goes_to_notify_alone() -> None:
    config = LocalConfig.from_environ(HOOK)
    assert config.for_some_functions(HOOK) == {"acta-local-notify": HOOK}
    assert config.for_every_function(HOOK) == {}


def test_what_is_unset_or_empty_goes_nowhere() -> None:
    environ = {"ANTHROPIC_API_KEY": "", "ACTA_MODEL": ""}
    config = LocalConfig.from_environ(environ)
    assert (config.for_some_functions(environ), config.for_every_function(environ)) == ({}, {})
