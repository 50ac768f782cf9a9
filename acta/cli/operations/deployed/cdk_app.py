"""The app of an environment, synthesised once: what is shown of it is what is deployed."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from acta.cli.exit_codes import CliError
from acta.cli.operations.target import Target
from acta.cli.terminal.text import echo, one_line
from infra.deployed.changes import Changes, changes
from infra.deployed.stacks import CloudFormation, StacksUnknown, names_of
from infra.local.assembly import Assembly
from infra.local.cdk import CommandFailed, Commands, ToolMissing, cdk_environ, require_cdk
from infra.local.toolchain import CDK, ROOT

QUIET = ("--no-notices",)


class CdkFailed(Exception):
    """cdk ended with an error, and its own words are on the terminal. The message says which command."""


class SynthesisedApp(NamedTuple):
    """`folder`: the cloud assembly."""

    target: Target
    folder: Path

    def template(self, stack: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads((self.folder / f"{stack}.template.json").read_text())
        return found

    def changes(self, client: Any = None) -> dict[str, Changes]:
        """By stack, in the order in which they are deployed. `client`: as `CloudFormation`'s. Raises CliError."""
        cloudformation = CloudFormation(self.target.caller.region, client)
        try:
            there = {each.name: each for each in cloudformation.deployed(self.target.environment)}
            return {
                name: changes(
                    self.template(name), cloudformation.template(there[name]) if name in there else None
                )
                for name in names_of(self.target.environment)
            }
        except StacksUnknown as error:
            raise CliError(f"what is deployed could not be read: {one_line(str(error), 300)}") from None

    def show(self, found: Mapping[str, Changes]) -> None:
        """On standard output: a new stack by the number of its resources, a changed one as `cdk diff` shows it.

        Raises CdkFailed.
        """
        for name, each in found.items():
            if each.state == "new":
                echo(f"{name}: new, {len(each.added)} resources")
            elif each.state == "same":
                echo(f"{name}: no change")
        changed = [name for name, each in found.items() if each.state == "changed"]
        if changed:
            self._cdk("diff", *changed, "--exclusively", "--method", "template", "--ci")

    def deploy(self) -> None:
        """Raises CdkFailed. Nobody is asked: who deploys has seen the changes.

        Where data outlives the stack, secrets and logs of an earlier stack are taken over: their names are fixed.
        """
        kept = ("--import-existing-resources",) if self.target.environment.retain else ()
        self._cdk("deploy", "--all", "--require-approval", "never", *kept)

    def _cdk(self, *arguments: str) -> None:
        run_cdk(self.target, *arguments, "--app", str(self.folder))


def synthesised(target: Target, context: Mapping[str, str]) -> SynthesisedApp:
    """`context`: given to the app as `-c name=value`, beside the environment. What was synthesised from the same
    sources before is taken again. Raises CliError.
    """
    check_tools()
    given = {"env": target.environment.name, **context}
    assembly = Assembly.of_sources(given, environment=repr(target.environment))
    if not assembly.is_synthesised:
        print("synthesising: the first time takes some minutes …", file=sys.stderr, flush=True)
    assembly.folder.parent.mkdir(parents=True, exist_ok=True)
    commands = Commands(cdk_environ(target.environ), assembly.folder.parent / "synth.log")
    try:
        assembly.synthesise(commands)
    except CommandFailed as error:
        raise CliError(str(error)) from None
    finally:
        commands.stop()
    return SynthesisedApp(target, assembly.folder)


def run_cdk(target: Target, *arguments: str) -> None:
    """Its output goes straight to the terminal. Raises CdkFailed."""
    environ = cdk_environ(target.environ)
    code = subprocess.call([str(CDK), *arguments, *QUIET], cwd=ROOT, env=environ)
    if code:
        raise CdkFailed(f"cdk {arguments[0]} failed with exit code {code}; its own words are above")


def check_tools() -> None:
    """Raises CliError where Node.js or the CDK command line is missing."""
    try:
        require_cdk(os.environ)
    except ToolMissing as error:
        raise CliError(str(error)) from None
