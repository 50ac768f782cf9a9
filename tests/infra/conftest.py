"""Every environment is synthesised once per session, without bundling; the AWS ones under cdk-nag."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from acta.infra.api.issuers import Machine, OwnPool
from acta.infra.app import add_stacks
from acta.infra.environments import ENVIRONMENTS, Environment
from acta.infra.packaging.bundle import ROOT
from acta.infra.posture import settled, undecided, with_value

Resource = Mapping[str, Any]
HASH = re.compile(r"[0-9A-F]{8}$")
DECIDED: Mapping[str, object] = {
    "default_visibility": "tenant",
    "retention.ended_sessions": 0,
    "watch.emails": (),
    "tool_network": False,
}
"""What the operator of a strict environment has decided in these tests, by the option."""
EXPORT = re.compile(r"[\w-]+:ExportsOutput(Ref|FnGetAtt)(\w+?)[0-9A-F]{8}(\w*?)[0-9A-F]{8}")


@dataclass(frozen=True)
class Template:
    body: Mapping[str, Any]

    def resources(self, kind: str) -> dict[str, Resource]:
        """Logical id -> resource, of one CloudFormation type."""
        return {name: each for name, each in self.body["Resources"].items() if each["Type"] == kind}

    def resources_named(self, name: str, kind: str) -> list[str]:
        """Logical ids that are this name and the hash that CDK adds."""
        return [each for each in self.resources(kind) if HASH.sub("", each) == name]

    def properties(self, kind: str) -> list[Mapping[str, Any]]:
        return [each["Properties"] for each in self.resources(kind).values()]

    def function(self, name: str) -> Mapping[str, Any]:
        """The properties of the Lambda of that name."""
        handler = f"acta.functions.{name}.handler.handler"
        return next(each for each in self.properties("AWS::Lambda::Function") if each["Handler"] == handler)

    @property
    def aliases(self) -> dict[str, str]:
        """Logical id of an alias -> the function that is called by it."""
        functions = {
            name: each["Properties"]["Handler"].split(".")[2]
            for name, each in self.resources("AWS::Lambda::Function").items()
        }
        return {
            name: functions[each["Properties"]["FunctionName"]["Ref"]]
            for name, each in self.resources("AWS::Lambda::Alias").items()
        }

    def called_by(self, name: Any) -> str:
        """The function that an event source calls; `name` is made from its alias's ARN."""
        function, alias = name["Fn::Join"][1]
        assert alias == ":live"
        return self.aliases[function["Fn::Select"][1]["Fn::Split"][1]["Ref"]]

    def statements(self, role: str) -> list[Mapping[str, Any]]:
        """Every statement of the role whose logical id begins like this, attached policies included."""
        found = []
        for name, each in self.body["Resources"].items():
            if not name.startswith(role):
                continue
            documents = [policy["PolicyDocument"] for policy in each["Properties"].get("Policies", ())]
            if each["Type"] == "AWS::IAM::Policy":
                documents.append(each["Properties"]["PolicyDocument"])
            found += [statement for document in documents for statement in document["Statement"]]
        return found

    def granted(self, role: str) -> dict[str, set[str]]:
        """What that role may act on -> its actions there.

        A thing is the text of its ARN, `Table.Arn` where it is a resource of this or the other stack, and ends with
        the condition it is granted under: `Files.Arn if {"StringLike": …}`. What is denied is there as
        `Audit.Arn never`.
        """
        found: dict[str, set[str]] = {}
        for statement in self.statements(role):
            condition = f" if {json.dumps(statement['Condition'])}" if "Condition" in statement else ""
            if statement["Effect"] == "Deny":
                assert not condition
                condition = " never"
            for resource in listed(statement["Resource"]):
                found.setdefault(text_of(resource) + condition, set()).update(listed(statement["Action"]))
        return found


def listed(value: Any) -> list[Any]:
    """CloudFormation writes a list of one as its only member."""
    return value if isinstance(value, list) else [value]


def text_of(value: Any) -> str:
    """A CloudFormation value as text, without the hashes that CDK adds to logical ids."""
    match value:
        case str():
            return value
        case {"Ref": str() as name}:
            return {"AWS::Partition": "aws", "AWS::Region": "region", "AWS::AccountId": "account"}.get(
                name, HASH.sub("", name)
            )
        case {"Fn::GetAtt": [name, attribute]}:
            return f"{HASH.sub('', name)}.{attribute}"
        case {"Fn::ImportValue": str() as export}:
            way, name, attribute = EXPORT.fullmatch(export).groups()  # type: ignore[union-attr]
            return name if way == "Ref" else f"{name}.{attribute}"
        case {"Fn::Join": ["", parts]}:
            return "".join(map(text_of, parts))
    raise AssertionError(f"no text for {value}")


@dataclass(frozen=True)
class Synthesised:
    environment: Environment
    stateful: Template
    sessions: Template
    stateless: Template
    edge: Template | None
    """Where CloudFront stands in front of the API."""
    findings: tuple[str, ...]
    """What cdk-nag says, as `rule: construct`; empty locally, where it is not asked."""


@pytest.fixture(scope="session")
def synthesise(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Synthesised]:
    @cache
    def of(name: str) -> Synthesised:
        return synthesised(ENVIRONMENTS[name], tmp_path_factory.mktemp(f"cdk-{name}"))

    return of


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Synthesised]:
    """An environment of this name with all options together that can be."""
    from tests.infra.test_hardening import EVERYTHING

    @cache
    def of(name: str) -> Synthesised:
        environment = replace(
            EVERYTHING,
            name=name,
            auth=OwnPool(mfa="required", machines={"nightly": Machine("acme")}),
            tools_dir=str(ROOT / "examples" / "tools"),
        )
        return synthesised(environment, tmp_path_factory.mktemp("cdk-everything"))

    return of


@pytest.fixture(params=tuple(ENVIRONMENTS))
def each(request: pytest.FixtureRequest, synthesise: Callable[[str], Synthesised]) -> Synthesised:
    """One environment after the other."""
    return synthesise(request.param)


@pytest.fixture
def prod(synthesise: Callable[[str], Synthesised]) -> Synthesised:
    return synthesise("prod")


@pytest.fixture
def local(synthesise: Callable[[str], Synthesised]) -> Synthesised:
    return synthesise("local")


def synthesised(environment: Environment, folder: Path) -> Synthesised:
    app = App(outdir=str(folder), context={"aws:cdk:bundling-stacks": []})
    for point in undecided(environment):
        environment = with_value(environment, point.option, DECIDED[point.option])
    environment = settled(environment)
    add_stacks(app, environment)
    if not environment.is_local:
        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    try:
        app.synth()
    except RuntimeError as error:
        if "Validation failed" not in str(error):
            raise
    stateful, sessions, stateless = (
        Template(json.loads((folder / f"Acta-{environment.name}-{kind}.template.json").read_text()))
        for kind in ("Stateful", "Sessions", "Stateless")
    )
    edge = folder / f"Acta-{environment.name}-Edge.template.json"
    return Synthesised(
        environment,
        stateful,
        sessions,
        stateless,
        Template(json.loads(edge.read_text())) if edge.exists() else None,
        findings=tuple(_findings(folder / "validation-report.json")),
    )


def _findings(report: Path) -> Iterator[str]:
    for plugin in json.loads(report.read_text())["pluginReports"] if report.exists() else ():
        for violation in plugin["violations"]:
            for construct in violation["violatingConstructs"]:
                yield f"{violation['ruleName']}: {construct['constructPath']}"
