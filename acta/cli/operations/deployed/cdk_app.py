"""The app of an environment, synthesised once: what is shown of it is what is deployed."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from acta.cli.operations.target import Target
from acta.cli.terminal.prompt import stopped_by_signals
from acta.cli.terminal.text import cli_error, echo, note
from acta_infra.deployed.stacks import (
    Changes,
    CloudFormation,
    NewRelease,
    StacksUnknown,
    Template,
    changes,
    names_of,
    without_release,
)
from acta_infra.environments import UnusableValue
from acta_infra.local.deploy import Assembly, CommandFailed, Commands, ToolMissing, cdk_environ, require_cdk
from acta_infra.local.toolchain import CDK, ROOT
from acta_infra.own_environments import every_environment
from acta_infra.packaging.tool_folders import build_all
from acta_infra.tool_folders import DEFAULT_DIR, BadFolder, digest_of, require_known

QUIET = ("--no-notices",)


class CdkFailed(Exception):
    """cdk ended with an error, and its own words are on the terminal. The message says which command."""


class SynthesisedApp(NamedTuple):
    """`folder`: the cloud assembly."""

    target: Target
    folder: Path

    def template(self, stack: str) -> Template:
        found: Template = json.loads((self.folder / f"{stack}.template.json").read_text())
        return found

    def deployed(self, client: Any = None) -> dict[str, Template]:
        """The templates of the stacks that are there, by name. `client`: as `CloudFormation`'s. Raises CliError."""
        cloudformation = CloudFormation(self.target.caller.region, client)
        with cli_error(StacksUnknown, words="what is deployed could not be read: {}", cut=300):
            return {
                each.name: cloudformation.template(each)
                for each in cloudformation.deployed(self.target.environment)
            }

    def changes(self, deployed: Mapping[str, Template]) -> dict[str, Changes]:
        """By stack, in the order in which they are deployed."""
        return {
            name: changes(self.template(name), deployed.get(name))
            for name in names_of(self.target.environment)
        }

    def show(self, found: Mapping[str, Changes], deployed: Mapping[str, Template]) -> None:
        """On standard output: a new stack by the number of its resources, a changed one as `cdk diff` shows it. That
        every function gets the release, and its code, is one line. Raises CdkFailed.
        """
        for name, each in found.items():
            if each.state == "new":
                echo(f"{name}: new, {len(each.added)} resources")
            elif each.state == "same":
                echo(f"{name}: no change")
        changed = [name for name, each in found.items() if each.state == "changed"]
        with tempfile.TemporaryDirectory(prefix="acta-diff-") as scratch:
            app, left = Path(scratch) / "app", list[str]()
            shutil.copytree(self.folder, app, ignore=shutil.ignore_patterns("asset.*"))
            for name in changed:
                template, release = without_release(self.template(name), deployed[name])
                if release is not None:
                    echo(f"{name}: {said(release)}")
                if template != deployed[name]:
                    (app / f"{name}.template.json").write_text(json.dumps(template), encoding="utf-8")
                    left.append(name)
            if left:
                run_cdk(self.target, "diff", *left, "--exclusively", "--method", "template", "--ci", app=app)

    def deploy(self) -> None:
        """Raises CdkFailed. Nobody is asked: who deploys has seen the changes.

        Where data outlives the stack, secrets and logs of an earlier stack are taken over: their names are fixed.
        """
        kept = ("--import-existing-resources",) if self.target.environment.retain else ()
        run_cdk(self.target, "deploy", "--all", "--require-approval", "never", *kept, app=self.folder)


def said(release: NewRelease) -> str:
    code = {0: "the code stays", release.functions: "the code of all is new"}.get(
        release.with_new_code, f"the code of {release.with_new_code} is new"
    )
    return f"release {release.before} becomes {release.after} in {release.functions} functions; {code}"


def synthesised(target: Target, context: Mapping[str, str]) -> SynthesisedApp:
    """`context`: given to the app as `-c name=value`, beside the environment. What was synthesised from the same
    sources before is taken again. Raises CliError.
    """
    check_tools()
    environment = target.environment
    with cli_error(BadFolder, UnusableValue):
        folders = environment.tool_folders
        require_known(folders, every_environment(os.environ))
        tools = digest_of(folders)
    # Without folders it is the same app wherever the command is given.
    place = {"tools_dir": environment.tools_dir} if tools else {}
    given = {"env": environment.name, **place, **context}
    usual = environment.with_tools_dir(DEFAULT_DIR)
    assembly = Assembly.of_sources(given, environment=f"{usual!r}{tools}")
    if not assembly.is_synthesised:
        with cli_error(BadFolder):
            build_all(folders, environment)
        note("synthesising: the first time takes some minutes …")
    assembly.folder.parent.mkdir(parents=True, exist_ok=True)
    commands = Commands(cdk_environ(target.environ), assembly.folder.parent / "synth.log")
    try:
        with cli_error(CommandFailed), stopped_by_signals():
            assembly.synthesise(commands)
    finally:
        commands.stop()
    return SynthesisedApp(target, assembly.folder)


def run_cdk(target: Target, *arguments: str, app: Path | None = None) -> None:
    """Its output goes straight to the terminal. `app`: a cloud assembly; None: it is synthesised. Raises CdkFailed."""
    environ = cdk_environ(target.environ)
    given = () if app is None else ("--app", str(app))
    code = subprocess.call([str(CDK), *arguments, *given, *QUIET], cwd=ROOT, env=environ)
    if code:
        raise CdkFailed(f"cdk {arguments[0]} failed with exit code {code}; its own words are above")


def check_tools() -> None:
    """Raises CliError where Node.js or the CDK command line is missing."""
    with cli_error(ToolMissing):
        require_cdk(os.environ)
