"""`acta doctor`: what this machine has and what is missing, one line each; or `acta doctor --repair`.

`acta setup` makes what pip cannot bring.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import httpx2

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import cli_error, echo
from acta.engine.settings import SettingsError
from acta.infra.local.config import LocalConfig
from acta.infra.local.state_directory import DEFAULT_STATE_DIR, StateDir
from acta.infra.toolchain import (
    CDK,
    EMULATOR_PYTHON,
    MADE,
    RUNTIME_PYTHON,
    SetupFailed,
    make_missing,
    require_node,
    require_npm,
)
from acta.local_aws.emulator_process import left_running
from acta.local_aws.loopback import free_port


class Finding(NamedTuple):
    """`fine`: nothing has to be done. `remedy`: what to do otherwise."""

    fine: bool
    what: str
    remedy: str = ""


def doctor(arguments: Namespace) -> int:
    """Exit code 1 where something is missing. Raises CliError."""
    if arguments.repair:
        from acta.cli.operations.repair import repair  # imported only now: it loads the AWS client

        return repair(arguments)
    if any((arguments.env, arguments.session, arguments.tenant, arguments.failed_since, arguments.yes)):
        raise CliError("--env, --session, --tenant, --failed-since and --yes go with --repair")
    findings = list(findings_of(Path(arguments.state or DEFAULT_STATE_DIR)))
    for finding in findings:
        remedy = f": {finding.remedy}" if finding.remedy and not finding.fine else ""
        print(f"{'ok     ' if finding.fine else 'MISSING'}  {finding.what}{remedy}")
    return exit_codes.OK if all(finding.fine for finding in findings) else exit_codes.SESSION_FAILED


def setup(arguments: Namespace) -> int:
    """Makes what is missing or out of date. Raises CliError."""
    with cli_error(SetupFailed):
        make_missing()
    echo(f"Everything is there, in {MADE}.")
    return exit_codes.OK


def findings_of(state_dir: Path) -> Iterator[Finding]:
    """What this machine needs for a deployment, and for a local stack in `state_dir`."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding(sys.version_info >= (3, 11), f"Python {version}", "install Python 3.11 or newer")
    try:
        yield Finding(True, f"Node.js {require_node()}")
        require_npm()
        yield Finding(True, "npm")
    except SetupFailed as failed:
        yield Finding(False, "Node.js and npm", str(failed))
    for extra, commands, libraries in (
        ("dev", "acta dev", ("anthropic", "openai", "aws_lambda_powertools")),
        ("deploy", "acta up and acta deploy", ("aws_cdk", "botocore", "cdk_nag", "uv")),
    ):
        there = all(map(find_spec, libraries))
        yield Finding(there, f"libraries of {commands}", f"pip install 'acta-agents[{extra}]'")
    for program, what in (
        (CDK, "CDK command line"),
        (EMULATOR_PYTHON, "Python environment of the local AWS"),
        (RUNTIME_PYTHON, "Python environment of the Lambdas' runtime"),
    ):
        yield Finding(program.exists(), what, "run acta setup")
    try:
        config = LocalConfig.from_environ(os.environ)
        yield Finding(True, f"settings, provider {config.provider}")
    except SettingsError as error:
        yield Finding(False, "settings", str(error))
    try:
        free_port()
        yield Finding(True, "free ports on 127.0.0.1")
    except OSError as error:
        yield Finding(False, "free ports on 127.0.0.1", str(error.strerror))
    yield stack(state_dir)


def stack(state_dir: Path) -> Finding:
    state = StateDir(state_dir)
    running = state.read()
    if not state.is_served() and (remedy := left_running(state.aws)) is not None:
        return Finding(False, f"a local AWS without its acta up in {state.path}", remedy)
    if running is None or not state.is_served():
        return Finding(True, f"no local stack runs in {state.path} (acta up starts one)")
    try:
        status = httpx2.get(f"{running.api_url}/healthz", timeout=10, trust_env=False).status_code
    except httpx2.HTTPError:
        status = 0
    remedy = "it does not answer: stop it and start it again"
    if status == 503:  # what its port answers until everything behind it is there
        remedy = "it is starting, or has no answer just now: ask again in a moment"
    return Finding(status == 200, f"local stack at {running.api_url}", remedy)
