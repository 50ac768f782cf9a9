"""`acta destroy`: deletes the stacks of an environment, after it has said what goes and what stays."""

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.operations.deployed.cdk_app import CdkFailed, check_tools, run_cdk
from acta.cli.operations.target import Target, target
from acta.cli.terminal.text import cli_error, echo, note, one_line
from acta_infra.deployed.stacks import CloudFormation, Fate, StacksUnknown, Thing, empty_bucket, fate_of


def destroy(arguments: Namespace) -> int:
    """Exit code 1 where something could not be deleted, or the name was not typed. Raises CliError."""
    if arguments.yes not in (None, arguments.env):
        raise CliError(f"--yes names the environment that goes: --yes {one_line(arguments.env)}")
    if arguments.yes is None and not sys.stdin.isatty():
        raise CliError("nobody can be asked here: add --yes and the environment's name")
    check_tools()
    chosen = target(arguments.env)
    fate = fate_in(chosen)
    require_unprotected(chosen, fate)
    for line in as_lines(chosen, fate):
        echo(line)
    if arguments.yes is None and not confirmed(chosen.environment.name):
        echo("Nothing was deleted.")
        return exit_codes.SESSION_FAILED
    for bucket in fate.buckets:
        empty(bucket, chosen.caller.region)
    try:
        run_cdk(chosen, "destroy", "--all", "--force", "-c", f"env={chosen.environment.name}")
    except CdkFailed as error:
        note(f"acta: {error}; what is left goes with the same command")
        return exit_codes.SESSION_FAILED
    echo(f"Environment {chosen.environment.name} is gone.")
    if fate.kept:
        echo(
            "What stays costs on, until you delete it: docs/deploy.md says how, and how to take it into use again."
        )
    return exit_codes.OK


def fate_in(chosen: Target) -> Fate:
    """Raises CliError where nothing is deployed, or it cannot be read."""
    name, where = chosen.environment.name, f"account {chosen.caller.account}, {chosen.caller.region}"
    cloudformation = CloudFormation(chosen.caller.region)
    with cli_error(StacksUnknown, words="what is deployed could not be read: {}", cut=300):
        stacks = cloudformation.deployed(chosen.environment)
        if not stacks:
            raise CliError(f"environment {name} is not deployed in {where}: there is nothing to delete")
        return fate_of(stacks, cloudformation)


def require_unprotected(chosen: Target, fate: Fate) -> None:
    """Raises CliError before anything is deleted."""
    if fate.protected:
        name = chosen.environment.name
        raise CliError(
            f"environment {name} is protected from deletion ({', '.join(map(_named, fate.protected))}): set "
            f"deletion_protection=False of {name} in infra/acta_infra/environments.py, run "
            f"acta deploy --env {name}, and then "
            "this again"
        )


def as_lines(chosen: Target, fate: Fate) -> Iterator[str]:
    yield f"Environment {chosen.environment.name} in account {chosen.caller.account}, {chosen.caller.region}."
    yield "What stays:" if fate.kept else "Nothing stays."
    yield from _listed(fate.kept)
    yield (
        f"What goes, for good, beside {fate.others} resources without data:"
        if fate.gone
        else (f"What goes: {fate.others} resources without data.")
    )
    yield from _listed(fate.gone)


def confirmed(name: str) -> bool:
    try:
        return input(f"Type {name} to delete it: ").strip() == name
    except EOFError:
        return False


def empty(bucket: str, region: str) -> None:
    """Raises CliError."""
    from botocore.exceptions import BotoCoreError, ClientError

    with cli_error(BotoCoreError, ClientError, words=f"bucket {bucket} could not be emptied: {{}}", cut=300):
        deleted = empty_bucket(bucket, region)
    if deleted:
        echo(f"bucket {bucket}: {deleted} objects deleted")


def _listed(things: Iterable[Thing]) -> Iterator[str]:
    return (f"  {_named(each)}" for each in things)


def _named(thing: Thing) -> str:
    return f"{thing.what} {one_line(thing.name, 200)}"
