"""What the templates of an environment tell before it is deployed. `acta costs`: what a given number of sessions costs
a month, part by part. `acta deploy --policies DIR`: the IAM policies that a deployment needs.
"""

import json
import os
import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from acta.cli import exit_codes
from acta.cli.operations.target import environment_named, target
from acta.cli.terminal.prompt import stopped_by_signals
from acta.cli.terminal.text import cli_error, dollars, echo, one_line, show_table
from acta.infra.costs import Costs, UnknownPrice, costs
from acta.infra.deployed.permissions import (
    AccountRegion,
    UnknownResource,
    deployer_policy,
    execution_policies,
    planner_policy,
)
from acta.infra.environments import Environment
from acta.infra.local.deploy import CommandFailed, Commands, ToolMissing, app_of, cdk_environ, require_tools


def show_costs(arguments: Namespace) -> int:
    """Calls nothing in AWS. Raises CliError."""
    environment = environment_named(arguments.env) if arguments.env else None
    resources = resources_in_templates(environment) if environment is not None else None
    with cli_error(UnknownPrice):
        found = costs(
            arguments.turns,
            arguments.model,
            environment=environment,
            resources=resources,
            seconds=arguments.model_seconds,
        )
    if arguments.json:
        print(json.dumps(as_json(found, arguments.sessions)))
        return exit_codes.OK
    echo(
        f"{arguments.sessions} sessions a month, of {found.turns} turns with {arguments.model}, an estimate:"
    )
    rows = [(part, dollars(usd), dollars(usd * arguments.sessions)) for part, usd in found.session.items()]
    rows += [(part, "", dollars(usd)) for part, usd in found.idle.items()]
    rows.append(("together", dollars(found.of_session), dollars(found.month(arguments.sessions))))
    show_table(("PART", "A SESSION", "A MONTH"), rows, always_named=True)
    echo(
        f"A session that waits for a person costs {dollars(found.parked)} a month at most, for what it stores."
    )
    if environment is None:
        echo("With --env, what the deployment costs without a session is counted too.")
    return exit_codes.OK


def as_json(found: Costs, sessions: int) -> dict[str, Any]:
    return {
        "is_estimate": True,
        "sessions": sessions,
        "turns": found.turns,
        "session_usd": {**found.session},
        "parked_month_usd": found.parked,
        "idle_month_usd": {**found.idle},
        "month_usd": found.month(sessions),
    }


def check_tools() -> None:
    """Makes what is missing of the toolchain. Raises CliError where that fails."""
    with cli_error(ToolMissing):
        require_tools()


DEPLOYER, PLANNER = "deployer.json", "planner.json"
ALARM = "AWS::CloudWatch::Alarm"


def write_policies(arguments: Namespace) -> int:
    """Calls AWS only for the account and region, and only if the environment does not name them. Raises CliError."""
    environment = environment_named(arguments.env)
    check_tools()
    if environment.account is not None and environment.region is not None:
        place = AccountRegion(environment.account, environment.region)
    else:
        found = target(environment.name).caller
        place = AccountRegion(found.account, found.region)
    folder = Path(arguments.policies)
    with cli_error(UnknownResource):
        documents = execution_policies(environment, place, resources_in_templates(environment))
    named = {DEPLOYER: deployer_policy(environment, place), PLANNER: planner_policy(environment, place)}
    named |= {f"execution-{number}.json": each for number, each in enumerate(documents, start=1)}
    with cli_error(OSError, words=f"{one_line(str(folder))}: {{}}"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, each in named.items():
            (folder / name).write_text(json.dumps(each, indent=2) + "\n", encoding="utf-8")
    for line in what_to_do(environment, place, folder, [*named]):
        echo(line)
    return exit_codes.OK


def resources_in_templates(environment: Environment) -> Counter[str]:
    """The number of resources of each type. For alarms it is the number of metrics that they look at, which AWS bills.
    The templates are synthesised without the functions' code. Raises CliError.
    """
    with tempfile.TemporaryDirectory(prefix="acta-policies-") as scratch:
        commands = Commands(cdk_environ(os.environ), Path(scratch) / "synth.log")
        app = Path(scratch) / "app"
        try:
            with cli_error(CommandFailed), stopped_by_signals():
                commands.cdk("list", *app_of(app), "-c", f"env={environment.name}", cwd=Path(scratch))
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


def what_to_do(
    environment: Environment, place: AccountRegion, folder: Path, files: list[str]
) -> Iterator[str]:
    """Commands to paste, for somebody who may create policies."""
    shown, name = one_line(str(folder), 200), environment.name
    yield f"Written to {shown}: {', '.join(files)}."
    yield "Once, by an administrator of the account:"
    arns = []
    for file in files:
        policy = f"acta-{name}-{file.removesuffix('.json')}"
        yield f"  aws iam create-policy --policy-name {policy} --policy-document file://{shown}/{file}"
        if file not in (DEPLOYER, PLANNER):
            arns.append(f"arn:aws:iam::{place.account}:policy/{policy}")
    yield f"  acta bootstrap --env {name} \\"
    yield f"      --cloudformation-execution-policies {','.join(arns)}"
    yield f"Then attach acta-{name}-deployer to whoever deploys, acta-{name}-planner to whoever runs only acta diff."
