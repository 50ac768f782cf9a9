"""`acta deploy`: deploys into an AWS account with the CDK, at this terminal."""

import os
import subprocess
import sys
from argparse import Namespace
from typing import Any

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import one_line
from infra.deployed.reserved_concurrency import QuotaUnknown, TooMuchReserved, check_reserved
from infra.deployed.write_version import Choice, ReleaseTooFar, choose
from infra.environments import Environment, select
from infra.local.cdk import ToolMissing, cdk_environ, require_cdk
from infra.local.toolchain import CDK, ROOT

NO_CREDENTIALS = (
    "no AWS credentials were found: sign in with `aws sso login` or `aws configure`, or set AWS_PROFILE or "
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
)


def deploy(arguments: Namespace) -> int:
    """Credentials, account and region are those of the caller's AWS environment.

    The output of cdk goes straight to the terminal, where it may ask, and where it says what went wrong.
    """
    try:
        require_cdk(os.environ)
    except ToolMissing as error:
        raise CliError(str(error)) from None
    require_credentials()
    environment = select(arguments.env)
    require_concurrency(environment)
    choice = choose_write_version(environment)
    command = [str(CDK), "deploy", "--all", "-c", f"env={environment.name}", "--no-notices"]
    command += ["-c", f"write_version={choice.version}"]
    if arguments.yes:
        command += ["--require-approval", "never"]
    code = subprocess.call(command, cwd=ROOT, env=cdk_environ(os.environ))
    if code:
        print(f"acta: cdk deploy failed with exit code {code}; its own words are above", file=sys.stderr)
        return exit_codes.SESSION_FAILED
    if choice.next_step:
        print(choice.next_step)
    return exit_codes.OK


def choose_write_version(environment: Environment, client: Any = None) -> Choice:
    """Chooses the version and says so. `client`: a botocore CloudFormation client; None: of the caller's account.

    Raises CliError where the deployed release and this one cannot work on the same sessions.
    """
    try:
        choice = choose(environment, client)
    except ReleaseTooFar as error:
        raise CliError(str(error)) from None
    print(f"writes schema version {choice.version}: {one_line(choice.reason, 300)}", flush=True)
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


def require_credentials() -> None:
    """Raises CliError. Checked first, because bundling takes minutes."""
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        found = Session().get_credentials()
    except BotoCoreError as error:
        raise CliError(f"the AWS credentials cannot be used: {one_line(str(error), 300)}") from None
    if found is None:
        raise CliError(NO_CREDENTIALS)
