"""An account that is not prepared for deployments is found out first, with the command that prepares it."""

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.infra.deployed.account import (
    CDK_JSON,
    OLDEST,
    NotBootstrapped,
    check_bootstrap,
    qualifier,
    regions_of,
)
from acta.infra.deployed.permissions import QUALIFIER
from acta.infra.environments import DEV
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
    with pytest.raises(NotBootstrapped, match="npx cdk bootstrap aws://123456789012/eu-west-1 -c env=dev "):
        check_bootstrap(DEV, *WHERE, Parameters(version))


@pytest.mark.parametrize("parameters", [Parameters(OLDEST), Parameters(refuses="AccessDeniedException")])
def test_one_that_is_prepared_or_keeps_it_to_itself_is_not(parameters: Parameters) -> None:
    check_bootstrap(DEV, *WHERE, parameters)
    assert parameters.asked == [f"/cdk-bootstrap/{QUALIFIER}/version"]


def test_every_region_with_a_stack_is_looked_at() -> None:
    assert regions_of(DEV, "eu-west-1") == ("eu-west-1",)
    assert regions_of(EVERYTHING, "eu-west-1") == ("eu-west-1", "us-east-1")
    assert regions_of(EVERYTHING, "us-east-1") == ("us-east-1",)


def test_another_qualifier_is_that_of_cdk_json(tmp_path: Path) -> None:
    assert qualifier() == QUALIFIER
    context = {"context": {"@aws-cdk/core:bootstrapQualifier": "ours"}}
    (tmp_path / "cdk.json").write_text(json.dumps({**json.loads(CDK_JSON.read_text()), **context}))
    assert qualifier(tmp_path / "cdk.json") == "ours"


def test_the_templates_ask_for_that_version(each: Synthesised) -> None:
    (rule,) = (json.dumps(each.stateless.body["Rules"][name]) for name in ("CheckBootstrapVersion",))
    assert f'"{OLDEST - 1}"' in rule
    assert f'"{OLDEST}"' not in rule
