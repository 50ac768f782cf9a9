"""Environments of one account never have a thing of the same name, whatever they are called."""

from collections.abc import Iterator
from itertools import permutations

from acta.infra.names import tenant_functions
from acta.infra.sizing import SIZES
from tests.infra.conftest import Synthesised

NAMED_BY = (
    "AliasName",
    "ApplicationName",
    "ConfigurationName",
    "DashboardName",
    "FunctionName",
    "LogGroupName",
    "Name",
    "QueueName",
    "StateMachineName",
    "TopicName",
    "UserPoolName",
)
"""Properties that give a resource its name in the account. A name that is made of the stack's id is nobody else's."""
OF_THEIR_OWNER = {"AWS::Lambda::Alias", "AWS::Lambda::Version", "AWS::Lambda::EventInvokeConfig"}
"""They are named within a function."""
LIKE_EACH_OTHER = (
    "a",
    "a-a",
    "a-b",
    "acta",
    "acta-a",
    *(f"a-{each}" for each in SIZES if each != "tool"),
    "a-notify-again",
    "a-sign-in",
)


def names(made: Synthesised) -> Iterator[tuple[str, str]]:
    """Type and name of everything that has a fixed one, with `{}` for the environment."""
    for template in (made.stateful, made.sessions, made.stateless):
        for resource in template.body["Resources"].values():
            kind, properties = resource["Type"], resource.get("Properties", {})
            for name in NAMED_BY:
                value = properties.get(name)
                if isinstance(value, str) and kind not in OF_THEIR_OWNER:
                    yield kind, value.replace(made.environment.name, "{}")


def test_what_has_a_name_has_the_environment_s_in_it(prod: Synthesised) -> None:
    found = set(names(prod))
    assert len(found) > 20
    assert [
        name for kind, name in found if "{}" not in name and kind != "AWS::ApiGatewayV2::Authorizer"
    ] == []


def test_two_environments_have_no_name_in_common(prod: Synthesised) -> None:
    found = {each for each in names(prod) if "{}" in each[1]}
    for one, other in permutations(LIKE_EACH_OTHER, 2):
        of_one = {(kind, name.format(one)) for kind, name in found}
        assert not of_one & {(kind, name.format(other)) for kind, name in found}, (one, other)


def test_no_function_of_an_environment_is_a_tool_of_another_one_s_tenants(prod: Synthesised) -> None:
    functions = {name for kind, name in names(prod) if kind == "AWS::Lambda::Function"}
    for one, other in permutations(LIKE_EACH_OTHER, 2):
        prefix = tenant_functions(other).removesuffix("*")
        assert not [name for name in functions if name.format(one).startswith(prefix)]
