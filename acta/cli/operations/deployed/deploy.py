"""`acta deploy` and `acta diff`: deploys into an AWS account with the CDK, and says before what would change."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from acta.cli import exit_codes
from acta.cli.aws_errors import aws_errors
from acta.cli.exit_codes import CliError
from acta.cli.operations.deployed.cdk_app import CdkFailed, check_tools, synthesised
from acta.cli.operations.deployed.next_commands import next_commands
from acta.cli.operations.deployed.outputs import state_of
from acta.cli.operations.deployed.policies import write_policies
from acta.cli.operations.target import Target, require_credentials, target, warn_unpinned
from acta.cli.terminal.text import echo, one_line
from infra.deployed.account import client_in
from infra.deployed.changes import Changes
from infra.deployed.releases import LiveUnknown, NotPossible, forget_old, goes_at_once, look
from infra.deployed.reserved_concurrency import QuotaUnknown, TooMuchReserved, check_reserved
from infra.deployed.stacks import CloudFormation, StacksUnknown
from infra.deployed.write_version import Choice, ReleaseTooFar, choose
from infra.environments import Environment

NOBODY_TO_ASK = "nobody can be asked here: add --yes, once `acta diff` has shown what will change"


def deploy(arguments: Namespace) -> int:
    """Exit code 1 where cdk fails or the answer is no. Raises CliError."""
    if arguments.policies is not None:
        return write_policies(arguments)
    check_tools()
    require_credentials()
    if not arguments.yes and not sys.stdin.isatty():
        raise CliError(NOBODY_TO_ASK)
    chosen = target(arguments.env)
    warn_unpinned(chosen)
    require_concurrency(chosen.environment, client_in(chosen.caller.region, "lambda"))
    choice = chosen_version(chosen)
    app = synthesised(chosen, {"write_version": str(choice.version), **roll_out(chosen)})
    found = app.changes()
    try:
        app.show(found)
        if not differs(found):
            echo("Nothing to deploy: the account has all of it.")
            warn_gone_back(chosen)
            return exit_codes.OK
        if not arguments.yes and not confirmed(chosen):
            echo("Nothing was deployed.")
            return exit_codes.SESSION_FAILED
        app.deploy()
        warn_gone_back(chosen)
        forget_former_releases(chosen)
    except CdkFailed as error:
        _failed(error)
        return tell_what_is_left(chosen)
    if choice.next_step:
        echo(choice.next_step)
    for line in next_commands(chosen, is_first=all(each.state == "new" for each in found.values())):
        echo(line)
    return exit_codes.OK


def diff(arguments: Namespace) -> int:
    """Exit code 1 where something differs and `--exit-code` is given, or where cdk fails. Raises CliError."""
    check_tools()
    chosen = target(arguments.env)
    choice = chosen_version(chosen)
    app = synthesised(chosen, {"write_version": str(choice.version), **roll_out(chosen)})
    found = app.changes()
    if arguments.json:
        print(json.dumps(as_json(chosen, found)))
    else:
        try:
            app.show(found)
        except CdkFailed as error:
            return _failed(error)
    return exit_codes.SESSION_FAILED if arguments.exit_code and differs(found) else exit_codes.OK


def differs(found: Mapping[str, Changes]) -> bool:
    return any(each.state != "same" for each in found.values())


def as_json(chosen: Target, found: Mapping[str, Changes]) -> dict[str, Any]:
    return {
        "environment": chosen.environment.name,
        "account": chosen.caller.account,
        "region": chosen.caller.region,
        "differs": differs(found),
        "stacks": {name: each._asdict() for name, each in found.items()},
    }


def confirmed(chosen: Target) -> bool:
    question = (
        f"Deploy {chosen.environment.name} to account {chosen.caller.account}, {chosen.caller.region}? [y/N] "
    )
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False


def roll_out(chosen: Target, lambdas: Any = None) -> Mapping[str, str]:
    """What the synthesis is told of how the release is taken into use. `lambdas`: a botocore Lambda client; None: of
    the caller's account. Where AWS does not say what is live, a shift could begin at what is not: it goes at once.
    """
    lambdas = lambdas or client_in(chosen.caller.region, "lambda")
    try:
        if not goes_at_once(chosen.environment.name, lambdas):
            return {}
        why = "an earlier release is live here"
    except LiveUnknown as error:
        why = f"which release is live here is unknown ({one_line(str(error), 300)})"
    print(f"{why}, so all functions go to the new one at once", file=sys.stderr)
    return {"roll_out": "at_once"}


def warn_gone_back(chosen: Target, lambdas: Any = None) -> None:
    """CloudFormation moves no alias where it deploys the very release that was gone back from. `lambdas`: as above."""
    lambdas = lambdas or client_in(chosen.caller.region, "lambda")
    name = chosen.environment.name
    with suppress(CliError), aws_errors(), suppress(NotPossible):
        deployed = look(name, lambdas)
        if deployed.has_gone_back and not deployed.shifting:
            newest = one_line(deployed.releases[0].name)
            echo(
                f"The newest release, {newest}, is not live: it was gone back from, and a deployment of the same "
                f"one moves no alias. To take it into use: acta rollback --env {name} --to {newest}"
            )


def forget_former_releases(chosen: Target, lambdas: Any = None) -> None:
    """All but those that can be gone back to. Where it may not, they stay, until somebody may, and it is said.
    `lambdas`: as above.
    """
    lambdas = lambdas or client_in(chosen.caller.region, "lambda")
    try:
        with aws_errors(), suppress(NotPossible):
            forget_old(look(chosen.environment.name, lambdas), lambdas)
    except CliError as error:
        print(f"acta: versions of old releases were not deleted: {error}", file=sys.stderr)


def chosen_version(chosen: Target) -> Choice:
    region = chosen.caller.region
    return choose_write_version(
        chosen.environment, client_in(region, "cloudformation"), client_in(region, "lambda")
    )


def choose_write_version(environment: Environment, client: Any = None, lambdas: Any = None) -> Choice:
    """Chooses the version and says so. `client`: a botocore CloudFormation client; None: of the caller's account.
    `lambdas`: one of Lambda, or None.

    Raises CliError where the deployed release and this one cannot work on the same sessions.
    """
    try:
        choice = choose(environment, client, lambdas)
    except ReleaseTooFar as error:
        raise CliError(str(error)) from None
    print(
        f"writes schema version {choice.version}: {one_line(choice.reason, 300)}", file=sys.stderr, flush=True
    )
    return choice


def require_concurrency(environment: Environment, client: Any = None) -> None:
    """Raises CliError where the account does not have what the environment reserves.

    `client`: a botocore Lambda client; None: of the caller's account. Who deploys may not be allowed to read the
    quota; then Lambda itself refuses what goes too far.
    """
    try:
        check_reserved(environment, client)
    except TooMuchReserved as error:
        raise CliError(str(error)) from None
    except QuotaUnknown as error:
        print(
            f"acta: whether the account has the reserved concurrency was not checked: {one_line(str(error), 300)}",
            file=sys.stderr,
        )


def tell_what_is_left(chosen: Target, client: Any = None) -> int:
    """After a deployment that failed. `client`: as `CloudFormation`'s."""
    try:
        stacks = CloudFormation(chosen.caller.region, client).deployed(chosen.environment)
        state = state_of(chosen, stacks)
    except StacksUnknown as error:
        state = f"what is there could not be read: {one_line(str(error), 300)}"
    if state:
        print(f"acta: {state}", file=sys.stderr)
    return exit_codes.SESSION_FAILED


def _failed(error: CdkFailed) -> int:
    print(f"acta: {error}", file=sys.stderr)
    return exit_codes.SESSION_FAILED
