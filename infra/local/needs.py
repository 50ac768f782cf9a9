"""What the CDK command line needs on this machine, looked for before anything is started or made."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from infra.local.commands import CDK, cdk_environ


class ToolMissing(RuntimeError):
    """The message is one line for a person: what is missing and where it comes from."""


def require_cdk(environ: Mapping[str, str], cdk: Path = CDK) -> None:
    """Raises ToolMissing. `environ`: of whoever starts the command."""
    if shutil.which("node", path=cdk_environ(environ)["PATH"]) is None:
        raise ToolMissing(
            "Node.js 20 or newer is needed and was not found: install it from https://nodejs.org/"
        )
    if not cdk.exists():
        raise ToolMissing("the CDK command line is missing: run make setup")
