"""The CDK command line: what it needs, its environment, and a child process that can be stopped at any moment."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

from acta_infra.local.toolchain import CDK
from local_aws.credentials import Credentials
from local_aws.emulator_process import REGION

TAIL_LINES = 12
STOP_SECONDS = 5

OnLine = Callable[[str], None]


class ToolMissing(RuntimeError):
    """The message is one line for a person: what is missing and where to get it."""


class CommandFailed(RuntimeError):
    """cdk ended with an error; the message carries the end of its output."""


def require_cdk(environ: Mapping[str, str], cdk: Path = CDK) -> None:
    """Raises ToolMissing. Called before anything is started or made. `environ`: of whoever starts the command."""
    if shutil.which("node", path=cdk_environ(environ)["PATH"]) is None:
        raise ToolMissing(
            "Node.js 20 or newer is needed and was not found: install it from https://nodejs.org/"
        )
    if not cdk.exists():
        raise ToolMissing("the CDK command line is missing: run make setup")


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
                # Whoever is interrupted leaves a child that runs, which stop() ends.
                with self.lock:
                    if child.poll() is not None:
                        self.running.discard(child)
        if code:
            raise CommandFailed("\n".join([f"{name} failed with exit code {code}:", *tail]))

    def start(self, command: list[str], cwd: Path) -> "subprocess.Popen[str]":
        """In a process group of its own: Ctrl-C reaches it through stop() only."""
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
                raise CommandFailed(f"{command[0]}: {error.strerror}; run make setup") from None
            self.running.add(child)
            return child

    def stop(self) -> None:
        """End what runs. Nothing new can start afterwards."""
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
    """For every cdk call: this interpreter first on PATH, no telemetry, no version check, no lines about the version of
    Node.js: `require_cdk` and `acta doctor` are there for that.
    """
    return {
        **{name: value for name, value in environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
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
    """For calls to the local AWS: the person's own AWS profile and credentials are out of reach."""
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
