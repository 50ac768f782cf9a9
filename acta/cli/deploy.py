"""`acta deploy`: the CDK into a real AWS account, at this terminal."""

import os
import subprocess
import sys
from argparse import Namespace

from acta.cli import exits
from acta.cli.errors import CliError
from acta.cli.text import one_line
from infra.local.assembly import ROOT
from infra.local.commands import CDK, cdk_environ
from infra.local.needs import ToolMissing, require_cdk

NO_CREDENTIALS = (
    "no AWS credentials were found: sign in with `aws sso login` or `aws configure`, or set AWS_PROFILE or "
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
)


def deploy(arguments: Namespace) -> int:
    """Credentials, account and region are those of the AWS environment of the caller. cdk's output goes
    straight to the terminal, where it may ask; what went wrong stands there."""
    try:
        require_cdk(os.environ)
    except ToolMissing as error:
        raise CliError(str(error)) from None
    require_credentials()
    command = [str(CDK), "deploy", "--all", "-c", f"env={arguments.env}", "--no-notices"]
    if arguments.yes:
        command += ["--require-approval", "never"]
    code = subprocess.call(command, cwd=ROOT, env=cdk_environ(os.environ))
    if code:
        print(f"acta: cdk deploy failed with exit code {code}; its own words are above", file=sys.stderr)
        return exits.SESSION_FAILED
    return exits.OK


def require_credentials() -> None:
    """Before minutes go into bundling. Raises CliError."""
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        found = Session().get_credentials()
    except BotoCoreError as error:
        raise CliError(f"the AWS credentials cannot be used: {one_line(str(error), 300)}") from None
    if found is None:
        raise CliError(NO_CREDENTIALS)
