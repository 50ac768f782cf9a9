"""Every environment is synthesised once per session, without bundling; the AWS ones under cdk-nag."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from infra.app import add_stacks
from infra.environments import ENVIRONMENTS, Environment

Resource = Mapping[str, Any]


@dataclass(frozen=True)
class Template:
    body: Mapping[str, Any]

    def resources(self, kind: str) -> dict[str, Resource]:
        """Logical id -> resource, of one CloudFormation type."""
        return {name: each for name, each in self.body["Resources"].items() if each["Type"] == kind}

    def properties(self, kind: str) -> list[Mapping[str, Any]]:
        return [each["Properties"] for each in self.resources(kind).values()]

    def function(self, name: str) -> Mapping[str, Any]:
        """The properties of the Lambda of that name."""
        handler = f"functions.{name}.handler.handler"
        return next(each for each in self.properties("AWS::Lambda::Function") if each["Handler"] == handler)

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


@dataclass(frozen=True)
class Synthesised:
    environment: Environment
    stateful: Template
    stateless: Template
    findings: tuple[str, ...]
    """What cdk-nag says, as `rule: construct`; empty locally, where it is not asked."""


@pytest.fixture(scope="session")
def synthesise(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Synthesised]:
    @cache
    def of(name: str) -> Synthesised:
        return synthesised(ENVIRONMENTS[name], tmp_path_factory.mktemp(f"cdk-{name}"))

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
    add_stacks(app, environment)
    if not environment.is_local:
        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    try:
        app.synth()
    except RuntimeError as error:
        if "Validation failed" not in str(error):
            raise
    stateful, stateless = (
        Template(json.loads((folder / f"Acta-{environment.name}-{kind}.template.json").read_text()))
        for kind in ("Stateful", "Stateless")
    )
    return Synthesised(environment, stateful, stateless, tuple(_findings(folder / "validation-report.json")))


def _findings(report: Path) -> Iterator[str]:
    for plugin in json.loads(report.read_text())["pluginReports"] if report.exists() else ():
        for violation in plugin["violations"]:
            for construct in violation["violatingConstructs"]:
                yield f"{violation['ruleName']}: {construct['constructPath']}"
