"""`acta releases` and `acta rollback`: what a deployment can go back to, and the way there."""

import sys
from argparse import Namespace
from contextlib import nullcontext
from typing import Any, NamedTuple

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.operations.repair import World
from acta.cli.operations.target import account_of, aws_errors
from acta.cli.terminal.prompt import asks_at_terminal
from acta.cli.terminal.text import cli_error, echo, minute, note, one_line, show
from acta.infra.deployed.account import Account
from acta.infra.deployed.operator_trail import OperatorTrail, trail_of
from acta.infra.deployed.releases import (
    MovedByAnother,
    NotPossible,
    Release,
    ReleaseHistory,
    choose,
    look,
    move,
    require_rest,
    tools_gone,
)
from acta.infra.sizing import FunctionName

WHAT_STAYS = (
    "This takes back the functions and their settings. What stays: the state machine, the API's routes, rights, "
    "alarms, the product's prompts, and everything that was stored."
)


class Clients(NamedTuple):
    """botocore clients of a deployment's account. `environment`: its name."""

    environment: str
    lambdas: Any
    cloudformation: Any


def releases(arguments: Namespace) -> int:
    """Raises CliError."""
    return list_releases(clients_of(account_of(arguments)), as_json=arguments.json)


def rollback(arguments: Namespace) -> int:
    """Returns exit code `WAITING` if nobody said yes. Raises CliError."""
    account, world = account_of(arguments), World(asks_at_terminal())
    with aws_errors():
        trail = trail_of(account)
    return roll_back(
        clients_of(account), arguments.to, yes=arguments.yes, as_json=arguments.json, world=world, trail=trail
    )


def list_releases(clients: Clients, *, as_json: bool) -> int:
    deployed = looked_at(clients)
    lines = [line_of(deployed, each) for each in deployed.releases]
    if deployed.shifting:
        lines.append(f"being taken into use: {', '.join(deployed.shifting)} have two versions")
    if not deployed.releases:
        lines.append("no release is kept here: the functions were deployed by one that does not say its name")
    return show([in_json(deployed, each) for each in deployed.releases], lines, as_json=as_json)


def roll_back(
    clients: Clients,
    to: str | None,
    *,
    yes: bool,
    as_json: bool,
    world: World,
    trail: OperatorTrail | None = None,
) -> int:
    """`to`: the release's name; None: the release before the live one. `trail`: records the move. Raises CliError."""
    deployed = looked_at(clients)
    with aws_errors(), cli_error(NotPossible, cut=400):
        require_rest(clients.environment, clients.cloudformation)
        target = choose(deployed, to)
    moved: list[FunctionName] = []
    done = {"release": target.name, "moved": moved}
    if deployed.is_live(target):
        return show(done, [f"{target.name} is live already"], as_json=as_json)
    with aws_errors():
        gone = tools_gone(deployed, target, clients.lambdas)
    if gone:
        note(
            f"acta: {one_line(target.name)} has Python tools that were taken out since ({', '.join(gone)}): calls of "
            "them fail there. To have them again, deploy with their folders instead"
        )
    if not yes:
        out = sys.stderr if as_json else sys.stdout  # with --json, standard output has only the result
        where = f"{one_line(clients.environment)} to {one_line(target.name)}"
        print(WHAT_STAYS, file=out)
        if world.asks is None or not world.asks(f"Move {where}? [y/N] "):
            hint = f": --yes moves {where}" if world.asks is None else ""
            print(f"nothing was moved{hint}", file=out)
            if as_json:
                show(done, (), as_json=True)
            return exit_codes.WAITING
    recorded = nullcontext() if trail is None else trail.recorded("deployment.rollback", release=target.name)
    with aws_errors(), recorded:
        try:
            for name in move(deployed, target, clients.lambdas):
                moved.append(name)
                if not as_json:
                    echo(f"{name}: version {target.versions[name]}")
        except MovedByAnother:
            raise CliError(
                f"somebody else moves aliases just now; {len(moved)} were moved: look with `acta releases`, then run "
                "the same command again"
            ) from None
    said = f"{target.name} is live; sessions go on with it from their next call on"
    return show(done, [said], as_json=as_json)


def looked_at(clients: Clients) -> ReleaseHistory:
    with aws_errors(), cli_error(NotPossible, cut=400):
        return look(clients.environment, clients.lambdas)


def line_of(deployed: ReleaseHistory, release: Release) -> str:
    live = "live" if deployed.is_live(release) else "partly live" if release in deployed.live_releases else ""
    schema = f"writes schema {release.writes}, knows {release.reads}"
    return f"{release.name}  {minute(release.made_at)}  {schema}  {live}".rstrip()


def in_json(deployed: ReleaseHistory, release: Release) -> dict[str, Any]:
    return {
        "release": release.name,
        "made_at": release.made_at,
        "writes": release.writes,
        "reads": release.reads,
        "live": deployed.is_live(release),
        "versions": dict(release.versions),
    }


def clients_of(account: Account) -> Clients:
    return Clients(account.environment, account.client("lambda"), account.client("cloudformation"))
