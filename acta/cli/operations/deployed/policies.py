"""`acta deploy --policies DIR`: writes the IAM policies that a deployment needs, and says what to do with them."""

import json
import os
import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.operations.deployed.cdk_app import check_tools
from acta.cli.operations.target import environment_named, target
from acta.cli.terminal.prompt import stopped_by_signals
from acta.cli.terminal.text import cli_error, echo, one_line
from acta_infra.deployed.permissions import Place, UnknownResource, deployer_policy, execution_policies
from acta_infra.environments import Environment
from acta_infra.local.deploy import CommandFailed, Commands, cdk_environ
from acta_infra.local.toolchain import ROOT

DEPLOYER = "deployer.json"
ALARM = "AWS::CloudWatch::Alarm"


def write_policies(arguments: Namespace) -> int:
    """AWS is asked for the account alone, and only where the environment names none. Raises CliError."""
    check_tools()
    environment = environment_named(arguments.env)
    place = _place(environment)
    folder = Path(arguments.policies)
    with cli_error(UnknownResource):
        documents = execution_policies(environment, place, resources_in_templates(environment))
    named = {DEPLOYER: deployer_policy(environment, place)}
    named |= {f"execution-{number}.json": each for number, each in enumerate(documents, start=1)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, each in named.items():
            (folder / name).write_text(json.dumps(each, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise CliError(f"{one_line(str(folder))}: {error.strerror}") from None
    for line in what_to_do(environment, place, folder, [*named]):
        echo(line)
    return exit_codes.OK


def resources_in_templates(environment: Environment) -> Counter[str]:
    """How many of each type; of alarms, how many metrics they look at, which is what AWS bills. Synthesised without the
    functions' code. Raises CliError.
    """
    with tempfile.TemporaryDirectory(prefix="acta-policies-") as scratch:
        commands = Commands(cdk_environ(os.environ), Path(scratch) / "synth.log")
        app = Path(scratch) / "app"
        try:
            with cli_error(CommandFailed), stopped_by_signals():
                commands.cdk("list", "--output", str(app), "-c", f"env={environment.name}", cwd=ROOT)
        finally:
            commands.stop()
        templates = [json.loads(path.read_text(encoding="utf-8")) for path in app.glob("*.template.json")]
    return counted_in(templates)


def counted_in(templates: Iterable[Mapping[str, Any]]) -> Counter[str]:
    found = Counter[str]()
    for each in (resource for template in templates for resource in template["Resources"].values()):
        compared = each.get("Properties", {}).get("Metrics", ()) if each["Type"] == ALARM else ()
        found[each["Type"]] += sum("MetricStat" in metric for metric in compared) or 1
    return found


def what_to_do(environment: Environment, place: Place, folder: Path, files: list[str]) -> Iterator[str]:
    """Commands to paste, by somebody who may make policies."""
    shown, name = one_line(str(folder), 200), environment.name
    yield f"Written to {shown}: {', '.join(files)}."
    yield "Once, by an administrator of the account:"
    arns = []
    for file in files:
        policy = f"acta-{name}-{file.removesuffix('.json')}"
        yield f"  aws iam create-policy --policy-name {policy} --policy-document file://{shown}/{file}"
        if file != DEPLOYER:
            arns.append(f"arn:aws:iam::{place.account}:policy/{policy}")
    yield f"  npx cdk bootstrap aws://{place.account}/{place.region} -c env={name} \\"
    yield f"      --cloudformation-execution-policies {','.join(arns)}"
    yield f"Then attach acta-{name}-{DEPLOYER.removesuffix('.json')} to whoever deploys: docs/deploy.md."


def _place(environment: Environment) -> Place:
    if environment.account is not None and environment.region is not None:
        return Place(environment.account, environment.region)
    found = target(environment.name).caller
    return Place(found.account, found.region)
