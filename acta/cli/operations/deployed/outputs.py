"""`acta outputs`: where a deployed environment's API, issuer, table and other things are."""

import json
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import Any

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.operations.target import Target, target
from acta.cli.terminal.tables import show_table
from acta.cli.terminal.text import cli_error, note
from acta_infra.deployed.stacks import CloudFormation, DeployedStack, StacksUnknown, names_of

FAILED = ("ROLLBACK", "FAILED")
UNDER_WAY = "_IN_PROGRESS"
"""In CloudFormation's states. Source: CloudFormation User Guide, "Stack status codes"."""


def outputs(arguments: Namespace) -> int:
    """Exit code 1 where a stack is missing. Raises CliError where nothing is deployed."""
    return show_outputs(target(arguments.env), as_json=arguments.json)


def show_outputs(chosen: Target, *, as_json: bool, client: Any = None) -> int:
    """`client`: as `CloudFormation`'s."""
    with cli_error(StacksUnknown, words="the stacks could not be read: {}", cut=300):
        stacks = CloudFormation(chosen.caller.region, client).deployed(chosen.environment)
    if not stacks:
        raise not_deployed(chosen)
    found = of_stacks(stacks)
    if as_json:
        where = {"account": chosen.caller.account, "region": chosen.caller.region}
        print(json.dumps({"environment": chosen.environment.name, **where, "outputs": found}))
    elif found:
        show_table(("OUTPUT", "VALUE"), sorted(found.items()))
    if state := state_of(chosen, stacks):
        note(f"acta: {state}")
    return exit_codes.SESSION_FAILED if missing(chosen, stacks) else exit_codes.OK


def not_deployed(chosen: Target) -> CliError:
    name, found = chosen.environment.name, chosen.caller
    return CliError(
        f"environment {name} is not deployed in account {found.account}, {found.region}: acta deploy --env {name}"
    )


def missing(chosen: Target, stacks: Iterable[DeployedStack]) -> list[str]:
    there = {each.name for each in stacks}
    return [name for name in names_of(chosen.environment) if name not in there]


def state_of(chosen: Target, stacks: Sequence[DeployedStack]) -> str:
    """What is there where the last deployment failed or is under way, and what to do. Empty: all is well."""
    name, absent = chosen.environment.name, missing(chosen, stacks)
    there = ", ".join(f"{each.name} ({each.status})" for each in stacks) or "nothing"
    if any(each.status.endswith(UNDER_WAY) for each in stacks):
        return f"environment {name} is being changed just now: there is {there}"
    if not absent and not any(word in each.status for each in stacks for word in FAILED):
        return ""
    said = f"the last deployment of {name} failed: there is {there}"
    if absent and stacks:
        said += f"; missing is {', '.join(absent)}"
    said += f". Mend the cause and run acta deploy --env {name} again"
    return f"{said}, or remove what is there: acta destroy --env {name}" if stacks else said


def of_stacks(stacks: Iterable[DeployedStack]) -> dict[str, Any]:
    return {name: value for stack in stacks for name, value in stack.outputs.items()}
