"""Deploys the app to a local stack with the real `cdk bootstrap` and `cdk deploy`. The CDK command line runs as a child
process that can be stopped at any moment. The synthesised app is stored under a digest of its sources, so synth runs
once for each change.

The local AWS can go back to a former release, too. In AWS a deployment publishes versions. Locally its template
publishes none, because each alias names `$LATEST`. So the deployed code is published before the next deployment, and
afterwards the aliases name the newest code again.
"""

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from acta.engine.aws.clients import Service
from acta.infra.deployed.releases import LATEST, NotPossible, forget_old, look
from acta.infra.environments import VARIABLE, operators_file
from acta.infra.local.issuer import AUDIENCE
from acta.infra.local.state_directory import LocalDeployment
from acta.infra.names import ALIAS, function_name, stateless_stack
from acta.infra.release import digest_of_sources
from acta.infra.toolchain import CDK, MADE, ROOT, SetupFailed, make_missing
from acta.local_aws.credentials import Credentials
from acta.local_aws.emulator_process import ACCOUNT, REGION


class DeployProgress(Protocol):
    def begin(self, phase: str) -> None: ...

    def note(self, phase: str, text: str) -> None:
        """Says how far the phase is, in a few words that replace the previous ones."""

    def end(self, phase: str, text: str = "") -> None: ...


class Silent:
    """Reports nothing."""

    def begin(self, phase: str) -> None:
        pass

    def note(self, phase: str, text: str) -> None:
        pass

    def end(self, phase: str, text: str = "") -> None:
        pass


TAIL_LINES = 12
STOP_SECONDS = 5

OnLine = Callable[[str], None]


class ToolMissing(RuntimeError):
    """The message is one line for a person: what is missing and where to get it."""


class CommandFailed(RuntimeError):
    """cdk ended with an error; the message carries the end of its output."""


def require_tools() -> None:
    """Makes what is missing of the toolchain. Raises ToolMissing. Call it before anything is started or created."""
    try:
        make_missing()
    except SetupFailed as failed:
        raise ToolMissing(str(failed)) from None


def app_of(output: Path) -> tuple[str, ...]:
    """Options of cdk for a synthesis of Acta's app into `output`. It runs in a folder of ours, so that no `cdk.json` of
    the user's is read.
    """
    return (
        "--app", shlex.join([sys.executable, "-P", "-m", "acta.infra.app"]), "--output", str(output),
        "--no-version-reporting", "--no-path-metadata", "--no-asset-metadata",
    )  # fmt: skip


class Commands:
    """Runs cdk. `environ` is its whole environment; `log` is a file that collects what it prints."""

    def __init__(self, environ: Mapping[str, str], log: Path) -> None:
        self.environ = dict(environ)
        self.log = log
        self.lock = threading.Lock()
        self.running: set[subprocess.Popen[str]] = set()
        self.stopped = False

    def cdk(self, *arguments: str, cwd: Path, on_line: OnLine | None = None) -> None:
        """Raises CommandFailed."""
        command = [str(CDK), *arguments, "--no-notices", "--no-color", "--ci"]
        self.run(command, f"cdk {arguments[0]}", cwd=cwd, on_line=on_line)

    def run(self, command: list[str], name: str, *, cwd: Path, on_line: OnLine | None = None) -> None:
        """`name`: what an error calls it. Raises CommandFailed."""
        tail: deque[str] = deque(maxlen=TAIL_LINES)
        self.log.touch(mode=0o600)
        with self.log.open("a", encoding="utf-8") as log:
            child = self.start(command, cwd)
            try:
                assert child.stdout is not None
                for line in child.stdout:
                    log.write(line)
                    if line.strip():
                        tail.append(line.rstrip())
                    if on_line:
                        on_line(line.rstrip())
                code = child.wait()
            finally:
                # An interruption may leave the child running; then it stays in the list, and stop() ends it.
                with self.lock:
                    if child.poll() is not None:
                        self.running.discard(child)
        if code:
            raise CommandFailed("\n".join([f"{name} failed with exit code {code}:", *tail]))

    def start(self, command: list[str], cwd: Path) -> "subprocess.Popen[str]":
        """Starts it in its own process group, so that Ctrl-C reaches it only through stop()."""
        with self.lock:
            if self.stopped:
                raise CommandFailed("stopped")
            try:
                child = subprocess.Popen(
                    command,
                    cwd=cwd,
                    env=self.environ,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=True,
                )
            except OSError as error:
                raise CommandFailed(f"{command[0]}: {error.strerror}") from None
            self.running.add(child)
            return child

    def stop(self) -> None:
        """Ends every running command. No command can start afterwards."""
        with self.lock:
            self.stopped = True
            children = list(self.running)
        for child in children:
            signal_group(child, signal.SIGTERM)
        for child in children:
            try:
                child.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                signal_group(child, signal.SIGKILL)
                child.wait()


def signal_group(child: "subprocess.Popen[str]", number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)


def cdk_environ(environ: Mapping[str, str], **more: str) -> dict[str, str]:
    """The environment for every cdk call: this interpreter first on PATH, no telemetry, no version check, and no
    messages about the version of Node.js, which `make_missing` and `acta doctor` check.
    """
    operators = operators_file(environ)  # cdk runs in another folder, where it would not be found
    return {
        **{name: value for name, value in environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        **({VARIABLE: os.path.abspath(operators)} if operators else {}),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), environ.get("PATH", os.defpath)]),
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_DISABLE_VERSION_CHECK": "1",
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1",
        "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1",
        "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION": "1",
        "AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED": "true",
        **more,
    }


def local_aws_environ(
    environ: Mapping[str, str], endpoint_url: str, credentials: Credentials
) -> dict[str, str]:
    """The environment for calls to the local AWS, without the person's own AWS profile and credentials."""
    plain = {name: value for name, value in environ.items() if not name.startswith("AWS_")}
    return cdk_environ(
        plain,
        **credentials.as_variables(),
        AWS_ENDPOINT_URL=endpoint_url,
        AWS_REGION=REGION,
        AWS_DEFAULT_REGION=REGION,
        AWS_CONFIG_FILE=os.devnull,
        AWS_SHARED_CREDENTIALS_FILE=os.devnull,
        AWS_EC2_METADATA_DISABLED="true",
        NO_PROXY="127.0.0.1,localhost",
        no_proxy="127.0.0.1,localhost",
    )


CACHE = MADE / "build" / "cdk"
NOT_SOURCE = ("acta/infra/local",)
SYNTHESISED_BY = ("aws-cdk-lib", "cdk-nag", "pydantic")
"""Libraries that templates depend on. In a clone they are pinned, elsewhere a user may upgrade them."""
KEPT = 4


@dataclass(frozen=True)
class Assembly:
    """`key`: digest of the sources; `folder`: where the cloud assembly is or will be."""

    key: str
    folder: Path
    context: Mapping[str, str]

    @classmethod
    def of_sources(
        cls, context: Mapping[str, str], root: Path = ROOT, cache: Path = CACHE, environment: str = ""
    ) -> "Assembly":
        """`environment`: its whole definition as text, if it is not in the sources alone."""
        libraries = [metadata.version(name) for name in SYNTHESISED_BY]
        here = f"{sys.version_info[:2]} {sys.platform} {libraries} {sorted(context.items())}{environment}"
        made_from = f"{here}\n{digest_of_sources(root, NOT_SOURCE)}"
        key = hashlib.sha256(made_from.encode()).hexdigest()[:20]
        return cls(key=key, folder=cache / key, context=context)

    @property
    def is_synthesised(self) -> bool:
        return (self.folder / "manifest.json").is_file()

    def synthesise(self, commands: Commands) -> None:
        """Writes into a temporary folder first: a stop half-way or a second synthesis leaves no broken assembly."""
        if self.is_synthesised:
            os.utime(self.folder)
            return
        draft = self.folder.with_name(f"{self.key}.{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        context = {"env": "local", **self.context}
        options = [part for key, value in context.items() for part in ("-c", f"{key}={value}")]
        try:
            commands.cdk("synth", "--all", "--quiet", *app_of(draft), *options, cwd=draft.parent)
            try:
                draft.rename(self.folder)
            except OSError:
                if not self.is_synthesised:
                    raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        forget_old_assemblies(self.folder.parent)


def forget_old_assemblies(cache: Path) -> None:
    folders = [
        path for path in cache.iterdir() if (path / "manifest.json").is_file() and "." not in path.name
    ]
    for old in sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


KEPT_LOCALLY = 4
"""How many releases are kept. Each takes some 50 MB in the state directory."""


def keep_release(environment: str, lambdas: Any) -> None:
    """Publishes the deployed code. Does nothing if nothing is deployed, or only a release without aliases."""
    try:
        deployed = look(environment, lambdas)
    except NotPossible:
        return
    for name in deployed.live:
        Service("lambda", lambdas).call("publish_version", FunctionName=function_name(environment, name))


def take_newest(environment: str, lambdas: Any) -> None:
    """Points every alias at the newest code, and keeps the newest few of the former releases."""
    deployed = look(environment, lambdas)
    for name, version in deployed.live.items():
        if version != LATEST:
            Service("lambda", lambdas).call(
                "update_alias",
                FunctionName=function_name(environment, name),
                Name=ALIAS,
                FunctionVersion=LATEST,
            )
    forget_old(look(environment, lambdas), lambdas, KEPT_LOCALLY)


STATELESS = stateless_stack("local")
STACK_EVENT = re.compile(r"^(Acta-local-\w+) \|\s*(\d+)/(\d+) \|")


def deploy(
    assembly: Assembly,
    synthesis: Commands,
    aws: Commands,
    state_dir: Path,
    issuer_url: str,
    progress: DeployProgress,
) -> LocalDeployment:
    """Synth and bootstrap at the same time, then deploy. Raises CommandFailed with the end of cdk's output."""

    def synthesise() -> None:
        phase = "synthesise the stacks"
        progress.begin(phase)
        cached = assembly.is_synthesised
        assembly.synthesise(synthesis)
        progress.end(phase, "unchanged since last time" if cached else "")

    def bootstrap() -> None:
        phase = "cdk bootstrap"
        progress.begin(phase)
        aws.cdk("bootstrap", f"aws://{ACCOUNT}/{REGION}", cwd=state_dir)
        progress.end(phase)

    with ThreadPoolExecutor(max_workers=2) as pool:
        for each in [pool.submit(synthesise), pool.submit(bootstrap)]:
            each.result()

    phase = "cdk deploy"
    progress.begin(phase)

    def on_line(line: str) -> None:
        event = STACK_EVENT.match(line)
        if event:
            stack, done, total = event.groups()
            progress.note(phase, f"{stack} {done} of {total}")

    outputs_file = state_dir / "outputs.json"
    outputs_file.touch(mode=0o600)  # cdk writes into what is there
    aws.cdk(
        "deploy", "--all", "--app", str(assembly.folder), "--require-approval", "never", "--progress", "events",
        "--parameters", f"{STATELESS}:IssuerUrl={issuer_url}", "--parameters", f"{STATELESS}:Audience={AUDIENCE}",
        "--outputs-file", str(outputs_file),
        cwd=state_dir, on_line=on_line,
    )  # fmt: skip
    progress.end(phase)
    try:
        api_id = json.loads(outputs_file.read_text())[STATELESS]["ApiId"]
    except (OSError, ValueError, KeyError):
        raise CommandFailed(f"cdk deploy left no output ApiId of {STATELESS}") from None
    return LocalDeployment(assembly_key=assembly.key, issuer_url=issuer_url, api_id=api_id)
