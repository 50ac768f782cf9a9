"""Which functions of the account the tools of tenants reach, where an operator has named some."""

from dataclasses import replace
from pathlib import Path

import pytest

from acta.engine.settings import Settings, SettingsError
from acta.engine.tools.builtin import optional_tools
from acta.infra.environments import PROD
from tests.infra.conftest import Synthesised, synthesised
from tests.infra.test_grants import DATA, actions, resources

NAMED = {"acme": ("acta-prod-tool-refund",), "*": ("acta-prod-tool-weigh",)}
ROLES = {"*": {"delete_file": "records"}}


@pytest.fixture(scope="module")
def with_tools(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    return synthesised(
        replace(PROD, tenant_tools=NAMED, tool_approvers=ROLES), tmp_path_factory.mktemp("tools")
    )


def test_those_who_check_the_list_have_it_and_no_other_function(with_tools: Synthesised) -> None:
    told = {}
    for function in DATA:
        variables = with_tools.stateless.function(function)["Environment"]["Variables"]
        if "ACTA_TENANT_TOOLS" in variables:
            told[function] = Settings.from_environ({k: str(v) for k, v in variables.items()}).tenant_tools
    assert told == {"admin": NAMED, "tool": NAMED}


def test_those_who_ask_people_about_calls_know_the_roles_that_an_operator_has_named(
    with_tools: Synthesised,
) -> None:
    told = {}
    for function in DATA:
        variables = with_tools.stateless.function(function)["Environment"]["Variables"]
        if "ACTA_TOOL_APPROVERS" in variables:
            told[function] = Settings.from_environ({k: str(v) for k, v in variables.items()}).tool_approvers
    assert told == dict.fromkeys(("admin", "intervene", "mcp", "start", "step", "tool"), ROLES)


def test_the_right_to_invoke_is_of_this_environment_s_tools_alone(with_tools: Synthesised) -> None:
    """`admin` invokes `tool` alone, and `recover` itself."""
    invoking = [
        resource
        for function in DATA
        for statement in with_tools.stateless.statements(function.capitalize())
        if "lambda:InvokeFunction" in actions(statement) and function not in ("admin", "recover")
        for resource in resources(statement)
    ]
    (resource,) = set(invoking)
    assert ":function:acta-prod-tool-*" in resource


@pytest.mark.parametrize(
    "name",
    ["acta-dev-tool-refund", "acta-tool-refund", "acta-prod-admin", "acta-prod-tool", "acta-prod-tool-*"],
)
def test_an_operator_cannot_name_a_function_that_is_no_tool_of_the_environment(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.raises(SettingsError, match="is called acta-prod-tool-… here"):
        synthesised(replace(PROD, tenant_tools={"acme": (name,)}), tmp_path_factory.mktemp("wrong"))


def test_a_list_that_a_function_s_variables_cannot_hold_is_refused_before_it_is_deployed() -> None:
    many = {"acme": tuple(f"acta-prod-tool-{number}" for number in range(120))}
    with pytest.raises(SettingsError, match="at most 2,048 characters"):
        Settings(env="prod", table="t", bucket="b", tenant_tools=many)


def test_a_misspelt_optional_tool_stops_the_synthesis_and_the_message_names_those_that_there_are(
    tmp_path: Path,
) -> None:
    with pytest.raises(SettingsError) as refused:
        synthesised(replace(PROD, settings={"optional_tools": "get_wether"}), tmp_path)
    assert "ACTA_OPTIONAL_TOOLS names get_wether" in str(refused.value)
    assert str(refused.value).endswith(f"the optional tools are {', '.join(optional_tools())}")


@pytest.mark.parametrize("name", ["dev-tool-eu", "tool", "Dev", "dev_eu", "dev-", ""])
def test_no_environment_has_a_name_under_which_its_functions_could_be_another_one_s_tools(name: str) -> None:
    with pytest.raises(ValueError, match="no part of it is tool"):
        replace(PROD, name=name)


def test_no_environment_in_aws_has_an_optional_tool_unless_it_says_so(each: Synthesised) -> None:
    told = {
        function: each.stateless.function(function)["Environment"]["Variables"].get("ACTA_OPTIONAL_TOOLS")
        for function in each.environment.functions
    }
    assert set(told.values()) == {",".join(optional_tools()) if each.environment.is_local else None}
