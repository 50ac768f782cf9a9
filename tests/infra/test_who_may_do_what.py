"""What an environment says of caps, models and roles, in the variables of its functions."""

from dataclasses import replace

import pytest

from acta.engine.limits.caps import Caps
from acta.engine.settings import Settings, SettingsError
from acta.infra.api.issuers import ExternalIssuer
from acta.infra.environments import PROD, SessionCaps, select
from tests.infra.conftest import Synthesised, synthesised

ROLES = {"Billing admin": "finance", "Everyone": ""}
SAYS = replace(
    PROD,
    auth=ExternalIssuer("https://login.example.com/", "acta"),
    caps=SessionCaps(max_steps=100, token_budget=400_000, cost_budget_usd=20, max_output_tokens=9_000),
    allowed_models=("claude-sonnet-5-5", "gpt-6-sol"),
    role_map=ROLES,
)


@pytest.fixture(scope="module")
def saying(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    return synthesised(SAYS, tmp_path_factory.mktemp("saying"))


@pytest.mark.parametrize("function", ["start", "step", "intervene", "admin"])
def test_whoever_checks_it_is_told_what_the_environment_says(saying: Synthesised, function: str) -> None:
    variables = saying.stateless.function(function)["Environment"]["Variables"]
    told = Settings.from_environ({name: str(value) for name, value in variables.items()})
    assert told.caps == Caps(max_steps=100, token_budget=400_000, cost_budget_usd=20)
    assert told.cap_max_output_tokens == 9_000
    assert told.allowed.listed == {"claude-sonnet-5-5", "gpt-6-sol"}
    assert (told.role_map, told.roles_have_no_spaces) == (ROLES, False)


def test_only_the_local_issuer_sends_json_and_another_one_where_an_operator_says_so() -> None:
    assert [name for name in ("local", "dev", "staging", "prod") if select(name).roles_are_json] == ["local"]
    assert not SAYS.roles_are_json
    said = replace(SAYS, auth=ExternalIssuer("https://l.example.com/", "a", roles_are_json=True))
    assert said.roles_are_json


def test_only_cognito_s_groups_are_known_to_have_no_spaces_and_other_issuers_roles_where_an_operator_says_so() -> (
    None
):
    own = {name: select(name).roles_have_no_spaces for name in ("local", "dev", "staging", "prod")}
    assert own == {"local": False, "dev": True, "staging": True, "prod": True}
    assert not SAYS.roles_have_no_spaces
    assert replace(SAYS, auth=ExternalIssuer("https://l.example.com/", "a", True)).roles_have_no_spaces


@pytest.mark.parametrize(
    "wrong",
    [
        {"caps": SessionCaps(token_budget=10)}, {"caps": SessionCaps(max_steps=1_001)},
        {"role_map": {"Billing admin": "two words"}}, {"settings": {"token_budget": 6_000_000}},
    ],
)  # fmt: skip
def test_what_cannot_hold_is_refused_at_synthesis(
    wrong: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.raises(SettingsError):
        synthesised(replace(PROD, **wrong), tmp_path_factory.mktemp("wrong"))  # type: ignore[arg-type]
