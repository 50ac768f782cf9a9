"""An environment may belong to one account and region, and its tags are on whatever takes tags."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acta.infra.environments import DEV, LOCAL, PROD, VARIABLE, UnusableValue, every_environment
from tests.infra.conftest import Synthesised, synthesised
from tests.infra.test_options import EDGE, ORIGIN

ACCOUNT, REGION = "123456789012", "eu-west-1"
TAGS = {"team": "agents", "cost center": "4711"}
TAKE_NO_TAGS = {
    "AWS::ApiGatewayV2::ApiMapping",
    "AWS::ApiGatewayV2::Authorizer",
    "AWS::ApiGatewayV2::Integration",
    "AWS::ApiGatewayV2::Route",
    "AWS::CloudWatch::Dashboard",
    "AWS::Cognito::UserPoolClient",
    "AWS::Cognito::UserPoolDomain",
    "AWS::Cognito::UserPoolGroup",
    "AWS::IAM::Policy",
    "AWS::Lambda::Alias",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::Permission",
    "AWS::Lambda::Version",
    "AWS::Logs::MetricFilter",
    "AWS::Logs::QueryDefinition",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueuePolicy",
    "AWS::SecretsManager::ResourcePolicy",
    "AWS::WAFv2::LoggingConfiguration",
    "AWS::CloudFront::Function",
    "Custom::ActaPrompts",
}
"""Source: CloudFormation's template reference, the types without a property `Tags`."""


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Synthesised, Path]:
    folder = tmp_path_factory.mktemp("pinned")
    environment = replace(PROD, account=ACCOUNT, region=REGION, tags=TAGS, domain=ORIGIN, edge=EDGE)
    return synthesised(environment, folder), folder


def test_plain_cdk_deploys_a_pinned_environment_nowhere_else(pinned: tuple[Synthesised, Path]) -> None:
    manifest = json.loads((pinned[1] / "manifest.json").read_text())
    places = {
        name: each["environment"]
        for name, each in manifest["artifacts"].items()
        if each["type"] == "aws:cloudformation:stack"
    }
    here = f"aws://{ACCOUNT}/{REGION}"
    assert places == {
        "Acta-prod-Stateful": here,
        "Acta-prod-Sessions": here,
        "Acta-prod-Stateless": here,
        "Acta-prod-Edge": f"aws://{ACCOUNT}/us-east-1",
    }


def test_whatever_takes_tags_has_those_of_the_environment(pinned: tuple[Synthesised, Path]) -> None:
    made = pinned[0]
    assert made.edge is not None
    lacks = set()
    for template in (made.stateful, made.sessions, made.stateless, made.edge):
        for resource in template.body["Resources"].values():
            tags = tags_of(resource.get("Properties", {}))
            if not (TAGS | {"service": "acta", "environment": "prod"}).items() <= tags.items():
                lacks.add(resource["Type"])
    assert lacks <= TAKE_NO_TAGS


def tags_of(properties: Mapping[str, Any]) -> dict[str, str]:
    found = properties.get("Tags") or properties.get("UserPoolTags") or {}
    return dict(found) if isinstance(found, dict) else {each["Key"]: each["Value"] for each in found}


@pytest.mark.parametrize(
    ("account", "region"),
    [(ACCOUNT, None), (None, REGION), ("1234", REGION), (ACCOUNT, "ireland"), ("12345678901x", REGION)],
)
def test_an_account_and_a_region_go_together_and_look_like_them(
    account: str | None, region: str | None
) -> None:
    with pytest.raises(ValueError, match=r"(account|region) is"):
        replace(DEV, account=account, region=region)


@pytest.mark.parametrize(
    "tags",
    [
        {"environment": "mine"},
        {"aws:team": "agents"},
        {"AWS:team": "agents"},
        {"": "agents"},
        {"team": "a" * 257},
        {"te*m": "agents"},
        {"team": "agents;"},
        {f"tag {number}": "" for number in range(49)},
    ],
    ids=str,
)
def test_a_tag_that_some_resource_would_refuse_stops_the_synthesis(tags: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="tags is"):
        replace(DEV, tags=tags)


def test_the_local_environment_belongs_to_no_account() -> None:
    with pytest.raises(ValueError, match="or account"):
        replace(LOCAL, account=ACCOUNT, region=REGION)


@pytest.mark.parametrize("name", ["Prod", "a--b", "-a", "a_b", "my-tool", "tool", "a" * 33, ""])
def test_a_name_that_others_could_have_too_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="environment's name"):
        replace(DEV, name=name)


def in_file(path: Path, text: str) -> dict[str, str]:
    path.write_text(text)
    return {VARIABLE: str(path)}


def named(*names: str) -> str:
    """A file with environments of these names."""
    each = ", ".join(f"replace(DEV, name={name!r})" for name in names)
    return (
        f"from dataclasses import replace\nfrom acta.infra.environments import DEV\nENVIRONMENTS = [{each}]"
    )


def test_names_may_begin_alike_where_nothing_of_one_is_another_s(tmp_path: Path) -> None:
    assert "acme2" in every_environment(in_file(tmp_path / "ours.py", named("acme", "acme2")))


def test_a_file_of_the_operators_adds_environments_and_replaces_acta_s(tmp_path: Path) -> None:
    environ = in_file(
        tmp_path / "ours.py",
        "from dataclasses import replace\n"
        "from acta.infra.environments import DEV, PROD\n"
        'ENVIRONMENTS = [replace(DEV, name="dev-ann"), replace(PROD, rate_limit=7)]\n',
    )
    found = every_environment(environ)
    assert [*found] == ["local", "dev", "staging", "prod", "dev-ann"]
    assert found["prod"].rate_limit == 7
    assert [*every_environment({})] == ["local", "dev", "staging", "prod"]


def test_an_operator_s_file_finds_issuers_and_machines_beside_the_environments(tmp_path: Path) -> None:
    environ = in_file(
        tmp_path / "ours.py",
        "from dataclasses import replace\n"
        "from acta.infra.environments import DEV, ExternalIssuer, Machine, OwnPool\n"
        'ENVIRONMENTS = [replace(DEV, name="nightly", auth=OwnPool(machines={"nightly": Machine(tenant="acme")}))]\n',
    )
    assert "nightly" in every_environment(environ)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\nraise ValueError('no')", "ours.py, line 2: ValueError: no"),
        (
            "from dataclasses import replace\nfrom acta.infra.environments import DEV\n"
            "ENVIRONMENTS = [replace(DEV, name='ann', snap_start=True, python=(3, 11))]",
            "line 3: ValueError: environment ann: snap_start",
        ),
        ("ENVIRONMENTS = 3", "has to bind ENVIRONMENTS"),
        ("", "has to bind ENVIRONMENTS"),
        ("import acta.infra.environments as e\nENVIRONMENTS = [e.LOCAL]", "local is the environment"),
        (named("acme-prod", "acme"), "acme-prod begins like acme, so"),
        (named("customer-production-eu", "customer-production-us"), "begins like"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(UnusableValue, match=reason):
        every_environment(in_file(tmp_path / "ours.py", text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnusableValue, match="FileNotFoundError"):
        every_environment({VARIABLE: str(tmp_path / "none.py")})


def test_cdk_nag_has_nothing_to_say_of_a_pinned_environment(pinned: tuple[Synthesised, Path]) -> None:
    assert pinned[0].findings == ()
