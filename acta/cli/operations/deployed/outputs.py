"""`acta outputs`: where a deployed environment's API, issuer, table and other things are."""

import json
from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.operations.target import target
from acta.cli.terminal.tables import show_table
from acta.cli.terminal.text import one_line
from infra.deployed.stacks import CloudFormation, DeployedStack, StacksUnknown


def outputs(arguments: Namespace) -> int:
    """Raises CliError where nothing is deployed."""
    chosen = target(arguments.env)
    try:
        stacks = CloudFormation(chosen.caller.region).deployed(chosen.environment)
    except StacksUnknown as error:
        raise CliError(f"the stacks could not be read: {one_line(str(error), 300)}") from None
    if not stacks:
        raise CliError(
            f"environment {chosen.environment.name} is not deployed in account {chosen.caller.account}, "
            f"{chosen.caller.region}: acta deploy --env {chosen.environment.name}"
        )
    found = of_stacks(stacks)
    if arguments.json:
        where = {"account": chosen.caller.account, "region": chosen.caller.region}
        print(json.dumps({"environment": chosen.environment.name, **where, "outputs": found}))
    else:
        show_table(("OUTPUT", "VALUE"), sorted(found.items()))
    return exit_codes.OK


def of_stacks(stacks: Iterable[DeployedStack]) -> dict[str, Any]:
    return {name: value for stack in stacks for name, value in stack.outputs.items()}
