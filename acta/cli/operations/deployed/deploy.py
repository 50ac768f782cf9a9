"""`acta deploy` and `acta diff`: deploys into an AWS account with the CDK, and says before what would change."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from acta.cli import exit_codes
from acta.cli.aws_errors import aws_errors
from acta.cli.exit_codes import CliError
from acta.cli.operations.deployed.cdk_app import CdkFailed, SynthesisedApp, check_tools, synthesised
from acta.cli.operations.deployed.outputs import state_of
from acta.cli.operations.deployed.policies import write_policies
from acta.cli.operations.target import Target, require_credentials, target, warn_unpinned
from acta.cli.terminal.questions import says_yes
from acta.cli.terminal.text import cli_error, echo, note, one_line
from acta_infra.deployed.account import (
    NotBootstrapped,
    QuotaUnknown,
    TooMuchReserved,
    check_bootstrap,
    check_reserved,
    client_in,
)
from acta_infra.deployed.releases import Deployed, Live, NotPossible, forget_old, look, look_before
from acta_infra.deployed.stacks import Changes, CloudFormation, StacksUnknown
from acta_infra.deployed.write_version import NOT_ASKED, Choice, ReleaseTooFar, choose
from acta_infra.environments import Environment
from acta_infra.issuers import OwnPool
from acta_infra.local.deploy import keep_release, take_newest
from acta_infra.names import usual_key_secret

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
    require_bootstrap(chosen)
    lambdas = client_in(chosen.caller.region, "lambda")
    require_concurrency(chosen.environment, lambdas)
    live = look_before(chosen.environment.name, lambdas)
    choice, app = chosen_app(chosen, live)
    there = app.deployed()
    found = app.changes(there)
    try:
        app.show(found, there)
        if not differs(found):
            echo("Nothing to deploy: the account has all of it.")
            if live.deployed is not None:
                warn_gone_back(live.deployed)
            return exit_codes.OK
        where = f"{chosen.environment.name} to account {chosen.caller.account}, {chosen.caller.region}"
        if not arguments.yes and not says_yes(f"Deploy {where}? [y/N] "):
            echo("Nothing was deployed.")
            return exit_codes.SESSION_FAILED
        if chosen.environment.is_local:
            keep_release(chosen.environment.name, lambdas)
        app.deploy()
        if chosen.environment.is_local:
            take_newest(chosen.environment.name, lambdas)
        look_after(chosen.environment.name, lambdas)
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
    live = look_before(chosen.environment.name, client_in(chosen.caller.region, "lambda"))
    _, app = chosen_app(chosen, live)
    there = app.deployed()
    found = app.changes(there)
    if arguments.json:
        print(json.dumps(as_json(chosen, found)))
    else:
        try:
            app.show(found, there)
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


def chosen_app(chosen: Target, live: Live) -> tuple[Choice, SynthesisedApp]:
    """Synthesised for what is live. Raises CliError."""
    cloudformation = client_in(chosen.caller.region, "cloudformation")
    choice = choose_write_version(chosen.environment, cloudformation, live)
    return choice, synthesised(chosen, {"write_version": str(choice.version), **roll_out(live)})


def roll_out(live: Live) -> Mapping[str, str]:
    """What the synthesis is told of how the release is taken into use. CloudFormation and CodeDeploy do not know that
    aliases were moved back, and would begin a shift at a version that is not live: then it goes at once.
    """
    if not live.has_gone_back and not live.unknown:
        return {}
    why = "an earlier release is live here"
    if live.unknown:
        why = f"which release is live here is unknown ({one_line(live.unknown, 300)})"
    note(f"{why}, so all functions go to the new one at once")
    return {"roll_out": "at_once"}


def next_commands(chosen: Target, *, is_first: bool) -> Iterator[str]:
    """What to do once it is deployed, to be pasted. `is_first`: nothing was deployed before."""
    environment, region = chosen.environment, chosen.caller.region
    yield "Next:"
    if is_first and not environment.is_local:  # the local AWS needs no key: rules play the model
        secret = usual_key_secret(environment.name)
        yield f"  aws secretsmanager put-secret-value --region {region} \\"
        yield f"      --secret-id {secret} --secret-string file://key.txt"
    if isinstance(environment.auth, OwnPool):
        yield f"  acta users add YOU@EXAMPLE.COM --env {environment.name} --tenant YOURS --role admin"
    yield f"  acta login --env {environment.name}"
    yield f'  acta run --env {environment.name} "List my files"'


def look_after(environment: str, lambdas: Any) -> None:
    """Once it is deployed: says whether that release is live, and deletes all but those that can be gone back to. Where
    it may not, they stay, until somebody may, and it is said. `lambdas`: a botocore Lambda client.
    """
    try:
        with aws_errors(), suppress(NotPossible):
            deployed = look(environment, lambdas)
            warn_gone_back(deployed)
            forget_old(deployed, lambdas)
    except CliError as error:
        note(f"acta: versions of old releases were not deleted: {error}")


def warn_gone_back(deployed: Deployed) -> None:
    """CloudFormation moves no alias where it deploys the very release that was gone back from."""
    if deployed.has_gone_back and not deployed.shifting:
        newest = one_line(deployed.releases[0].name)
        echo(
            f"The newest release, {newest}, is not live: it was gone back from, and a deployment of the same one moves "
            f"no alias. To take it into use: acta rollback --env {deployed.environment} --to {newest}"
        )


def choose_write_version(environment: Environment, cloudformation: Any, live: Live = NOT_ASKED) -> Choice:
    """Chooses the version and says so. `cloudformation`: a botocore client.

    Raises CliError where the deployed release and this one cannot work on the same sessions.
    """
    with cli_error(ReleaseTooFar):
        choice = choose(environment, cloudformation, live)
    note(f"writes schema version {choice.version}: {one_line(choice.reason, 300)}")
    return choice


def require_bootstrap(chosen: Target, client: Any = None) -> None:
    """Raises CliError. `client`: as `check_bootstrap`'s."""
    with cli_error(NotBootstrapped):
        check_bootstrap(chosen.environment, chosen.caller.account, chosen.caller.region, client)


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
        note(
            f"acta: whether the account has the reserved concurrency was not checked: {one_line(str(error), 300)}"
        )


def tell_what_is_left(chosen: Target, client: Any = None) -> int:
    """After a deployment that failed. `client`: as `CloudFormation`'s."""
    try:
        stacks = CloudFormation(chosen.caller.region, client).deployed(chosen.environment)
        state = state_of(chosen, stacks)
    except StacksUnknown as error:
        state = f"what is there could not be read: {one_line(str(error), 300)}"
    if state:
        note(f"acta: {state}")
    return exit_codes.SESSION_FAILED


def _failed(error: CdkFailed) -> int:
    note(f"acta: {error}")
    return exit_codes.SESSION_FAILED
