"""`acta deploy`: the CDK into a real AWS account, at this terminal."""

import os
import subprocess
import sys
from argparse import Namespace

from infra.cli import exits
from infra.cli.errors import CliError
from infra.local.assembly import ROOT
from infra.local.commands import CDK, cdk_environ


def deploy(arguments: Namespace) -> int:
    """cdk's own exit code; credentials, account and region are those of the AWS environment of the caller."""
    if not CDK.exists():
        raise CliError("the CDK command line is missing: run make setup")
    command = [str(CDK), "deploy", "--all", "-c", f"env={arguments.env}", "--no-notices"]
    if arguments.yes:
        command += ["--require-approval", "never"]
    code = subprocess.call(command, cwd=ROOT, env=cdk_environ(os.environ))
    if code:
        print("acta: cdk deploy failed; a new account and region need `cdk bootstrap` once", file=sys.stderr)
        return exits.SESSION_FAILED
    return exits.OK
