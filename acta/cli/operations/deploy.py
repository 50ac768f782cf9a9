"""`acta deploy`, `acta diff` and `acta destroy` put an environment into an AWS account with the CDK, or take it out
again, after they have said what that changes. `acta outputs`: where its API, issuer, table and other things are.

The app of an environment is synthesised once, so what is deployed is what was shown.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.operations.costs import check_tools, write_policies
from acta.cli.operations.posture import decide, show_posture
from acta.cli.operations.target import (
    OperatorTarget,
    aws_errors,
    environment_named,
    not_deployed,
    require_credentials,
    target,
    warn_unpinned,
)
from acta.cli.terminal.prompt import says_yes, stopped_by_signals
from acta.cli.terminal.text import cli_error, echo, note, one_line, show_table
from acta.infra.api.issuers import OwnPool
from acta.infra.deployed.account import client_in, regions_of
from acta.infra.deployed.preflight import Preflight
from acta.infra.deployed.releases import (
    NOT_ASKED,
    LiveRelease,
    NotPossible,
    ReleaseHistory,
    ReleaseTooFar,
    WriteVersion,
    forget_old,
    look,
    look_before,
    version_to_write,
)
from acta.infra.deployed.stacks import (
    CREATION_FAILED,
    UNDER_WAY,
    Changes,
    CloudFormation,
    DeployedStack,
    Fate,
    NewRelease,
    StacksUnknown,
    StillProtected,
    Template,
    Thing,
    changes,
    empty_bucket,
    fate_of,
    names_of,
    without_release,
)
from acta.infra.environments import Environment, UnusableValue, every_environment
from acta.infra.local.deploy import (
    Assembly,
    CommandFailed,
    Commands,
    app_of,
    cdk_environ,
    keep_release,
    take_newest,
)
from acta.infra.names import usual_key_secret
from acta.infra.options import USUAL_QUALIFIER
from acta.infra.packaging.tool_catalogue import build_all
from acta.infra.tool_folders import DEFAULT_DIR, BadFolder, digest_of, require_known
from acta.infra.toolchain import CDK

QUIET = ("--no-notices",)


class CdkFailed(Exception):
    """cdk ended with an error, which it has printed itself. The message says which command it was."""


class SynthesisedApp(NamedTuple):
    """A synthesised app. `folder`: its cloud assembly."""

    target: OperatorTarget
    folder: Path

    def template(self, stack: str) -> Template:
        found: Template = json.loads((self.folder / f"{stack}.template.json").read_text())
        return found

    def resources(self, stack: str, logical_ids: Iterable[str]) -> Mapping[str, Any]:
        resources = self.template(stack)["Resources"] if logical_ids else {}
        return {each: resources[each] for each in logical_ids}

    def deployed(self, client: Any = None) -> dict[str, Template]:
        """The deployed stacks' templates, by the stack's name. `client`: as `CloudFormation`'s. Raises CliError."""
        cloudformation = CloudFormation(self.target.caller.region, client)
        with cli_error(StacksUnknown, words="what is deployed could not be read: {}", cut=300):
            return {
                each.name: cloudformation.template(each)
                for each in cloudformation.deployed(self.target.environment)
            }

    def changes(self, deployed: Mapping[str, Template]) -> dict[str, Changes]:
        """The changes of each stack, in the order in which the stacks are deployed."""
        return {
            name: changes(self.template(name), deployed.get(name))
            for name in names_of(self.target.environment)
        }

    def show(self, found: Mapping[str, Changes], deployed: Mapping[str, Template]) -> None:
        """Prints a new stack as the number of its resources and a changed one as `cdk diff` shows it. The new release
        and code, which all functions get, take one line. Raises CdkFailed.
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
        """Deploys without a question: whoever deploys has seen the changes. Raises CdkFailed.

        If data outlives the stack, logs of an earlier stack are taken over, because their names are fixed. Secrets
        cannot be: `Preflight` finds them.
        """
        kept = ("--import-existing-resources",) if self.target.environment.retain else ()
        run_cdk(self.target, "deploy", "--all", "--require-approval", "never", *kept, app=self.folder)


def said(release: NewRelease) -> str:
    code = {0: "the code stays", release.functions: "the code of all is new"}.get(
        release.with_new_code, f"the code of {release.with_new_code} is new"
    )
    return f"release {release.before} becomes {release.after} in {release.functions} functions; {code}"


def synthesised(target: OperatorTarget, context: Mapping[str, str]) -> SynthesisedApp:
    """`context`: given to the app as `-c name=value`, in addition to the environment. If the same sources were
    synthesised before, that assembly is used again. Raises CliError.
    """
    check_tools()
    environment = target.environment
    with cli_error(BadFolder, UnusableValue):
        folders = environment.tool_folders
        require_known(folders, every_environment(os.environ))
        tools = digest_of(folders)
    # Without folders of tools the app does not depend on the directory that the command was called from.
    place = {"tools_dir": environment.tools_dir} if tools else {}
    given = {"env": environment.name, **place, **context}
    usual = replace(environment, tools_dir=DEFAULT_DIR)
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


def run_cdk(target: OperatorTarget, *arguments: str, app: Path | Literal["none", "synthesised"]) -> None:
    """Runs cdk, which writes to the terminal. `app`: a cloud assembly, or cdk synthesises one, or needs none.

    Raises CdkFailed.
    """
    with tempfile.TemporaryDirectory(prefix="acta-cdk-") as scratch:
        given: tuple[str, ...] = () if app == "none" else ("--app", str(app))
        if app == "synthesised":
            given = app_of(Path(scratch) / "app")
        command = [str(CDK), *arguments, *given, *QUIET]
        code = subprocess.call(command, cwd=scratch, env=cdk_environ(target.environ))
    if code:
        raise CdkFailed(f"cdk {arguments[0]} failed with exit code {code}; its own words are above")


def bootstrap(arguments: Namespace) -> int:
    """Returns exit code 1 if cdk fails. Raises CliError."""
    environment_named(arguments.env)
    check_tools()
    chosen = target(arguments.env)
    qualifier = chosen.environment.bootstrap_qualifier
    given = ["--qualifier", qualifier]
    if qualifier != USUAL_QUALIFIER:  # beside the bootstrap of the account's other applications
        given += ["--toolkit-stack-name", f"CDKToolkit-{qualifier}"]
    for name in ("cloudformation_execution_policies", "custom_permissions_boundary"):
        if value := getattr(arguments, name):
            given += [f"--{name.replace('_', '-')}", value]
    places = [
        f"aws://{chosen.caller.account}/{each}"
        for each in regions_of(chosen.environment, chosen.caller.region)
    ]
    try:
        run_cdk(chosen, "bootstrap", *places, *given, app="none")
    except CdkFailed as error:
        return _failed(error)
    return exit_codes.OK


NOBODY_TO_ASK = "nobody can be asked here: add --yes, once `acta diff` has shown what will change"


def deploy(arguments: Namespace) -> int:
    """Returns exit code 1 if cdk fails or the person says no. Raises CliError."""
    if arguments.policies is not None:
        return write_policies(arguments)
    environment_named(arguments.env)
    check_tools()
    require_credentials()
    if not arguments.yes and not sys.stdin.isatty():
        raise CliError(NOBODY_TO_ASK)
    chosen = target(arguments.env)
    warn_unpinned(chosen)
    chosen, decided = decide(chosen, arguments.decide, None if arguments.yes else input)
    show_posture(chosen)
    lambdas = client_in(chosen.caller.region, "lambda")
    live = look_before(chosen.environment.name, lambdas)
    choice, app = chosen_app(chosen, live, decided)
    there = app.deployed()
    found = app.changes(there)
    require_ready(chosen, {name: app.resources(name, each.added) for name, each in found.items()})
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
        unprotect_failed(chosen)
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
    """Returns exit code 1 if something differs and `--exit-code` is given, or if cdk fails. Raises CliError."""
    environment_named(arguments.env)
    check_tools()
    chosen, decided = decide(target(arguments.env), arguments.decide, None)
    if not arguments.json:
        show_posture(chosen)
    live = look_before(chosen.environment.name, client_in(chosen.caller.region, "lambda"))
    _, app = chosen_app(chosen, live, decided)
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


def as_json(chosen: OperatorTarget, found: Mapping[str, Changes]) -> dict[str, Any]:
    return {
        "environment": chosen.environment.name,
        "account": chosen.caller.account,
        "region": chosen.caller.region,
        "differs": differs(found),
        "stacks": {name: each._asdict() for name, each in found.items()},
    }


def chosen_app(
    chosen: OperatorTarget, live: LiveRelease, decided: Mapping[str, str]
) -> tuple[WriteVersion, SynthesisedApp]:
    """The schema version to write, and the app synthesised with it for the release that is live. `decided`: the app's
    context with what the operator has answered. Raises CliError."""
    cloudformation = client_in(chosen.caller.region, "cloudformation")
    choice = choose_write_version(chosen.environment, cloudformation, live)
    return choice, synthesised(chosen, {"write_version": str(choice.version), **roll_out(live), **decided})


def roll_out(live: LiveRelease) -> Mapping[str, str]:
    """What the app is told about the way into use. If aliases were moved back, or nobody knows which release is live,
    all functions change at once: CloudFormation would begin a gradual shift at a version that is not live.
    """
    if not live.has_gone_back and not live.unknown:
        return {}
    why = "an earlier release is live here"
    if live.unknown:
        why = f"which release is live here is unknown ({one_line(live.unknown, 300)})"
    note(f"{why}, so all functions go to the new one at once")
    return {"roll_out": "at_once"}


def next_commands(chosen: OperatorTarget, *, is_first: bool) -> Iterator[str]:
    """The commands to paste after a deployment. `is_first`: nothing was deployed before."""
    environment, region = chosen.environment, chosen.caller.region
    yield "Next:"
    if is_first and not environment.is_local:  # the local AWS needs no key: its model follows rules
        secret = usual_key_secret(environment.name)
        yield f"  aws secretsmanager put-secret-value --region {region} \\"
        yield f"      --secret-id {secret} --secret-string file://key.txt"
    if isinstance(environment.auth, OwnPool):
        yield f"  acta users add YOU@EXAMPLE.COM --env {environment.name} --tenant YOURS --role admin"
    yield f"  acta login --env {environment.name}"
    yield f'  acta run --env {environment.name} "List my files"'


def look_after(environment: str, lambdas: Any) -> None:
    """After a deployment: says if the new release is not live, and deletes the versions that one cannot go back to any
    more. If the caller may not delete them, they stay, and a note says so. `lambdas`: a botocore Lambda client.
    """
    try:
        with aws_errors(), suppress(NotPossible):
            deployed = look(environment, lambdas)
            warn_gone_back(deployed)
            forget_old(deployed, lambdas)
    except CliError as error:
        note(f"acta: versions of old releases were not deleted: {error}")


def warn_gone_back(deployed: ReleaseHistory) -> None:
    """After a rollback, deploying the newest release once more moves no alias, so the older release stays live."""
    if deployed.has_gone_back and not deployed.shifting:
        newest = one_line(deployed.releases[0].name)
        echo(
            f"The newest release, {newest}, is not live: it was gone back from, and a deployment of the same one moves "
            f"no alias. To take it into use: acta rollback --env {deployed.environment} --to {newest}"
        )


def choose_write_version(
    environment: Environment, cloudformation: Any, live: LiveRelease = NOT_ASKED
) -> WriteVersion:
    """Chooses the schema version that the release writes, and prints it. `cloudformation`: a botocore client.

    Raises CliError if the deployed release and this one cannot work on the same sessions.
    """
    with cli_error(ReleaseTooFar):
        choice = version_to_write(environment, cloudformation, live)
    note(f"writes schema version {choice.version}: {one_line(choice.reason, 300)}")
    return choice


def require_ready(
    chosen: OperatorTarget,
    added: Mapping[str, Mapping[str, Any]],
    clients: Callable[[str, str], Any] = client_in,
) -> None:
    """Prints all that would stop the deployment, each with the commands that solve it, and then raises CliError. What
    does not stop it is a note. `added`, `clients`: as those of `Preflight`.
    """
    stopping = []
    for problem in Preflight(chosen.environment, chosen.caller, added, clients).problems():
        if problem.stops:
            stopping.append(problem)
            continue
        note("\n  ".join((f"acta: {one_line(problem.words, 900)}", *problem.commands)))
    for number, problem in enumerate(stopping, start=1):
        echo("\n   ".join((f"{number}. {one_line(problem.words, 900)}", *problem.commands)))
    if stopping:
        count = "1 problem" if len(stopping) == 1 else f"{len(stopping)} problems"
        raise CliError(
            f"{count} would stop the deployment, so nothing was deployed: see above for what solves it"
        )


def unprotect_failed(chosen: OperatorTarget, client: Any = None) -> None:
    """`client`: as `CloudFormation`'s. Raises CliError with the command that the operator has to run."""
    with cli_error(StacksUnknown, StillProtected, cut=600):
        for name in CloudFormation(chosen.caller.region, client).unprotect_failed(chosen.environment):
            echo(
                f"{name}: its creation failed earlier. What is left of the stack is no longer protected from deletion."
            )


def tell_what_is_left(chosen: OperatorTarget, client: Any = None) -> int:
    """Says what is there after a deployment that failed. `client`: as `CloudFormation`'s."""
    try:
        stacks = CloudFormation(chosen.caller.region, client).deployed(chosen.environment, failed=True)
        state = state_of(chosen, stacks)
    except StacksUnknown as error:
        state = f"what is there could not be read: {one_line(str(error), 300)}"
    if state:
        note(f"acta: {state}")
    return exit_codes.SESSION_FAILED


def _failed(error: CdkFailed) -> int:
    note(f"acta: {error}")
    return exit_codes.SESSION_FAILED


def destroy(arguments: Namespace) -> int:
    """Returns exit code 1 if something could not be deleted, or if the name was not typed. Raises CliError."""
    environment_named(arguments.env)
    if arguments.yes not in (None, arguments.env):
        raise CliError(f"--yes names the environment that goes: --yes {one_line(arguments.env)}")
    if arguments.yes is None and not sys.stdin.isatty():
        raise CliError("nobody can be asked here: add --yes and the environment's name")
    check_tools()
    chosen = target(arguments.env)
    cloudformation = CloudFormation(chosen.caller.region)
    with cli_error(StacksUnknown, words="what is deployed could not be read: {}", cut=300):
        stacks = cloudformation.deployed(chosen.environment, failed=True)
        if not stacks:
            where = f"account {chosen.caller.account}, {chosen.caller.region}"
            raise CliError(
                f"environment {chosen.environment.name} is not deployed in {where}: there is nothing to delete"
            )
        fate = fate_of(stacks, cloudformation)
    name = chosen.environment.name
    require_unprotected(chosen, fate)
    for stack in stacks:
        if stack.status in CREATION_FAILED:
            echo(f"The creation of {stack.name} failed ({stack.status}): what is left of it goes.")
    for line in as_lines(chosen, fate):
        echo(line)
    if arguments.yes is None:
        try:
            typed = input(f"Type {name} to delete it: ").strip()
        except EOFError:
            typed = ""
        if typed != name:
            echo("Nothing was deleted.")
            return exit_codes.SESSION_FAILED
    unprotect_failed(chosen)
    for bucket in fate.buckets:
        empty(bucket, chosen.caller.region)
    try:
        run_cdk(chosen, "destroy", "--all", "--force", "-c", f"env={name}", app="synthesised")
    except CdkFailed as error:
        note(f"acta: {error}; what is left goes with the same command")
        return exit_codes.SESSION_FAILED
    echo(f"Environment {name} is gone.")
    if fate.kept:
        echo(
            "What stays costs on, until you delete it: docs/deploy.md says how, and how to take it into use again."
        )
    return exit_codes.OK


def require_unprotected(chosen: OperatorTarget, fate: Fate) -> None:
    """Raises CliError, before anything is deleted, if something is protected from deletion."""
    if fate.protected:
        name = chosen.environment.name
        raise CliError(
            f"environment {name} is protected from deletion ({', '.join(map(_named, fate.protected))}): set "
            f"deletion_protection=False of {name} in environments.py, run acta deploy --env {name}, "
            "and then this again"
        )


def as_lines(chosen: OperatorTarget, fate: Fate) -> Iterator[str]:
    yield f"Environment {chosen.environment.name} in account {chosen.caller.account}, {chosen.caller.region}."
    yield "What stays:" if fate.kept else "Nothing stays."
    yield from _listed(fate.kept)
    yield (
        f"What goes, for good, beside {fate.others} resources without data:"
        if fate.gone
        else (f"What goes: {fate.others} resources without data.")
    )
    yield from _listed(fate.gone)


def empty(bucket: str, region: str) -> None:
    """Deletes all objects of the bucket. Raises CliError."""
    from botocore.exceptions import BotoCoreError, ClientError

    with cli_error(BotoCoreError, ClientError, words=f"bucket {bucket} could not be emptied: {{}}", cut=300):
        deleted = empty_bucket(bucket, region)
    if deleted:
        echo(f"bucket {bucket}: {deleted} objects deleted")


def _listed(things: Iterable[Thing]) -> Iterator[str]:
    return (f"  {_named(each)}" for each in things)


def _named(thing: Thing) -> str:
    return f"{thing.what} {one_line(thing.name, 200)}"


FAILED = ("ROLLBACK", "FAILED")


def outputs(arguments: Namespace) -> int:
    """Returns exit code 1 if a stack is missing. Raises CliError if nothing is deployed."""
    return show_outputs(target(arguments.env), as_json=arguments.json)


def show_outputs(chosen: OperatorTarget, *, as_json: bool, client: Any = None) -> int:
    """`client`: as `CloudFormation`'s."""
    with cli_error(StacksUnknown, words="the stacks could not be read: {}", cut=300):
        stacks = CloudFormation(chosen.caller.region, client).deployed(chosen.environment)
    if not stacks:
        raise not_deployed(chosen)
    found = {name: value for stack in stacks for name, value in stack.outputs.items()}
    if as_json:
        where = {"account": chosen.caller.account, "region": chosen.caller.region}
        print(json.dumps({"environment": chosen.environment.name, **where, "outputs": found}))
    elif found:
        show_table(("OUTPUT", "VALUE"), sorted(found.items()))
    if state := state_of(chosen, stacks):
        note(f"acta: {state}")
    return exit_codes.SESSION_FAILED if missing(chosen, stacks) else exit_codes.OK


def missing(chosen: OperatorTarget, stacks: Iterable[DeployedStack]) -> list[str]:
    there = {each.name for each in stacks}
    return [name for name in names_of(chosen.environment) if name not in there]


def state_of(chosen: OperatorTarget, stacks: Sequence[DeployedStack]) -> str:
    """If the last deployment failed or is under way: what is there and what to do. Empty if all is well."""
    name, absent = chosen.environment.name, missing(chosen, stacks)
    there = ", ".join(f"{each.name} ({each.status})" for each in stacks) or "nothing"
    if any(each.status.endswith(UNDER_WAY) for each in stacks):
        return f"environment {name} is being changed just now: there is {there}"
    if not absent and not any(word in each.status for each in stacks for word in FAILED):
        return ""
    said = f"the last deployment of {name} failed: there is {there}"
    if absent and stacks:
        said += f"; missing is {', '.join(absent)}"
    said += f". Mend the cause and run acta deploy --env {name} again"
    return f"{said}, or remove what is there: acta destroy --env {name}" if stacks else said
