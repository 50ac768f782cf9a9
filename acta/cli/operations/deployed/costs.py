"""`acta costs`: what so many sessions cost a month, by part, before there is one."""

import json
from argparse import Namespace
from typing import Any

from acta.cli import exit_codes
from acta.cli.operations.deployed.deploy import resources_in_templates
from acta.cli.operations.target import environment_named
from acta.cli.terminal.tables import show_table
from acta.cli.terminal.text import cli_error, dollars, echo
from acta_infra.costs import Costs, UnknownPrice, costs


def show_costs(arguments: Namespace) -> int:
    """Asks AWS for nothing. Raises CliError."""
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
