"""Others' validators read what is deployed, without the network: cfn-lint knows the schemas of CloudFormation's
registry, and asl-validator the Amazon States Language.
"""

import json
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from acta.infra.engine.workflow import PLACEHOLDERS, definition
from acta.infra.environments import ENVIRONMENTS, LOCAL, PROD, Environment
from acta.infra.options import EDGE_REGION
from acta.infra.packaging.bundle import ROOT
from tests.infra.conftest import Synthesised, Template

IGNORED: Mapping[str, str] = {
    "E3601": "it reads a state machine as JSONPath and takes no expression as a number; asl-validator reads it here",
    "W3005": "the CDK repeats in DependsOn what a reference says already",
    "W6001": "an output that is imported from another stack is how the CDK passes it on",
}


def found_in(template: Template, region: str) -> list[str]:
    from cfnlint.api import lint
    from cfnlint.config import ManualArgs

    options = ManualArgs(ignore_checks=[*IGNORED])
    found = lint(json.dumps(template.body), regions=[region], config=options)
    return [f"{each.rule.id} at {'/'.join(map(str, each.path))}: {each.message}" for each in found]


def problems_of(made: Synthesised, region: str) -> list[str]:
    here = [(made.stateful, region), (made.sessions, region), (made.stateless, region)]
    edge = [] if made.edge is None else [(made.edge, EDGE_REGION)]
    return [one for template, where in (*here, *edge) for one in found_in(template, where)]


@pytest.mark.parametrize(
    ("name", "region"),
    [
        ("prod", "eu-west-1"),
        *(
            pytest.param(name, region, marks=pytest.mark.thorough)
            for name in ENVIRONMENTS
            for region in ("us-east-1", "ap-southeast-2")
        ),
    ],
)
def test_the_registry_s_schemas_allow_what_an_environment_deploys(
    name: str, region: str, synthesise: Callable[[str], Synthesised]
) -> None:
    assert problems_of(synthesise(name), region) == []


@pytest.mark.thorough
def test_the_registry_s_schemas_allow_what_all_options_together_bring(
    everything: Callable[[str], Synthesised],
) -> None:
    assert problems_of(everything("prod"), "eu-west-1") == []


def test_every_commercial_region_knows_what_an_environment_without_options_brings(prod: Synthesised) -> None:
    """What an option brings may be unknown in some, as a budget is: `acta deploy` asks the region before it begins."""
    from cfnlint.helpers import REGIONS
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

    stacks = (prod.stateful, prod.sessions, prod.stateless)
    kinds = {each["Type"] for one in stacks for each in one.body["Resources"].values()} - {
        "Custom::ActaPrompts"
    }
    commercial = [
        each for each in REGIONS if not each.startswith(("cn-", "us-gov-", "us-iso", "eu-iso", "eusc-"))
    ]
    assert len(commercial) > 30
    known = {region: set(PROVIDER_SCHEMA_MANAGER.get_resource_types(region)) for region in commercial}
    assert {region: lacking for region in commercial if (lacking := kinds - known[region])} == {}
    assert "AWS::Budgets::Budget" not in known["eu-north-1"]


def test_what_the_registry_does_not_allow_is_found(prod: Synthesised) -> None:
    """The templates are not read as something else, and the schemas are there."""
    function = next(
        name
        for name, each in prod.stateless.body["Resources"].items()
        if each["Type"] == "AWS::Lambda::Function"
    )
    changed = json.loads(json.dumps(prod.stateless.body["Resources"][function]))
    changed["Properties"] |= {"Timeout": 901, "FunctionName": "a" * 65}
    changed.pop("DependsOn", None)
    found = found_in(Template({"Resources": {function: changed}}), "eu-west-1")
    assert {"E3031", "E3717"} <= {each.split()[0] for each in found}


VALIDATOR = """
const validate = require('asl-validator');
const { errors } = validate(JSON.parse(require('fs').readFileSync(0)));
console.log(JSON.stringify(errors.map((each) => `${each['Error code']}: ${each.Message}`)));
"""


def problems(machine: Mapping[str, Any]) -> list[str]:
    text = json.dumps(machine)
    for placeholder, function in PLACEHOLDERS.items():
        arn = f"arn:aws:lambda:eu-west-1:123456789012:function:acta-prod-{function}:live"
        text = text.replace("${" + placeholder + "}", arn)
    done = subprocess.run(
        ["node", "-e", VALIDATOR], input=text, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("environment", [LOCAL, PROD], ids=lambda each: each.name)
def test_the_state_machine_is_amazon_states_language(environment: Environment) -> None:
    assert problems(definition(environment)) == []


@pytest.mark.parametrize(
    ("state", "field", "value"),
    [
        ("Think", "TimeoutSecond", 60),
        ("Wait", "SecondsPath", "$.wait"),
        ("Think", "Output", "{% $states.( %}"),
    ],
)
def test_a_field_that_the_language_does_not_have_is_found(state: str, field: str, value: Any) -> None:
    machine = definition(PROD)
    machine["States"][state][field] = value
    assert problems(machine)
