"""An account that is not prepared for deployments is found out first, with the command that prepares it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.infra.deployed.account import (
    OLDEST,
    NotBootstrapped,
    check_bootstrap,
    regions_of,
)
from acta.infra.environments import DEV
from acta.infra.options import USUAL_QUALIFIER
from tests.infra.conftest import Synthesised
from tests.infra.test_hardening import EVERYTHING

WHERE = ("123456789012", "eu-west-1")


class Parameters:
    """Systems Manager, with the version of a bootstrap, or an error."""

    def __init__(self, version: int | None = None, refuses: str = "ParameterNotFound") -> None:
        self.version, self.refuses = version, refuses
        self.asked: list[str] = []

    def get_parameter(self, Name: str) -> Any:  # noqa: N803
        self.asked.append(Name)
        if self.version is None:
            raise ClientError({"Error": {"Code": self.refuses, "Message": "no"}}, "GetParameter")
        return {"Parameter": {"Value": str(self.version)}}


@pytest.mark.parametrize("version", [None, OLDEST - 1])
def test_an_account_that_is_not_prepared_is_named_with_the_command(version: int | None) -> None:
    with pytest.raises(NotBootstrapped, match="acta bootstrap --env dev "):
        check_bootstrap(DEV, *WHERE, Parameters(version))


@pytest.mark.parametrize("parameters", [Parameters(OLDEST), Parameters(refuses="AccessDeniedException")])
def test_one_that_is_prepared_or_keeps_it_to_itself_is_not(parameters: Parameters) -> None:
    check_bootstrap(DEV, *WHERE, parameters)
    assert parameters.asked == [f"/cdk-bootstrap/{USUAL_QUALIFIER}/version"]


def test_every_region_with_a_stack_is_looked_at() -> None:
    assert regions_of(DEV, "eu-west-1") == ("eu-west-1",)
    assert regions_of(EVERYTHING, "eu-west-1") == ("eu-west-1", "us-east-1")
    assert regions_of(EVERYTHING, "us-east-1") == ("us-east-1",)


def test_an_environment_may_have_a_bootstrap_of_its_own() -> None:
    ours, parameters = replace(DEV, bootstrap_qualifier="ours"), Parameters(OLDEST)
    check_bootstrap(ours, *WHERE, parameters)
    assert parameters.asked == ["/cdk-bootstrap/ours/version"]
    with pytest.raises(ValueError, match="bootstrap_qualifier"):
        replace(DEV, bootstrap_qualifier="Ours!")


def test_the_templates_ask_for_that_version(each: Synthesised) -> None:
    (rule,) = (json.dumps(each.stateless.body["Rules"][name]) for name in ("CheckBootstrapVersion",))
    assert f'"{OLDEST - 1}"' in rule
    assert f'"{OLDEST}"' not in rule
