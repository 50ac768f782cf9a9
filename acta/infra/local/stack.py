"""One local Acta: the emulator, the deployed app and the front, started and stopped together."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

from acta.engine.settings import SettingsError
from acta.infra.deployed.account import Account
from acta.infra.deployed.invoke_recovery import ALL_SESSIONS, RecoveryFailed, lambda_client, run_recovery
from acta.infra.deployed.session_logs import logs_client
from acta.infra.environments import LOCAL, UnusableValue, every_environment
from acta.infra.local.config import ONLY_FOR, LocalConfig
from acta.infra.local.deploy import (
    Assembly,
    CommandFailed,
    Commands,
    DeployProgress,
    Silent,
    cdk_environ,
    deploy,
    keep_release,
    local_aws_environ,
    require_tools,
    take_newest,
)
from acta.infra.local.issuer import LocalIssuer, SignInPage
from acta.infra.local.state_directory import LocalDeployment, RunningStack, StateDir
from acta.infra.local.tool_watch import DeployFailed
from acta.infra.packaging.tool_catalogue import build_all
from acta.infra.tool_folders import (
    BadFolder,
    ToolFolder,
    digest_of,
    folders_in,
    require_known,
    tools_directory,
)
from acta.infra.toolchain import EMULATOR_PYTHON, MADE, RUNTIME_PYTHON
from acta.local_aws.credentials import Credentials
from acta.local_aws.emulator_process import NEVER, EmulatorProcess
from acta.local_aws.loopback import HOST
from acta.local_aws.reverse_proxy import DeployedApi, Front

READY_SECONDS = 90.0


def lost_since(saved: str) -> str:
    """`saved`: ISO 8601, or NEVER."""
    if saved == NEVER:
        return "nothing had been saved: the sessions, definitions and files made until then are lost"
    return f"sessions and definitions are as of {saved}, the last orderly stop; files are as they were"


class StackFailed(RuntimeError):
    """The stack did not become, or did not stay, usable; the message is for a person."""


class LocalStack:
    """`start()` returns when /healthz answers 200. `stop()` may be called at any time, twice, and on a partly
    started stack; it leaves no process behind."""

    def __init__(
        self,
        state_dir: Path,
        *,
        port: int | None = None,
        preferred_port: int | None = None,
        environ: Mapping[str, str] = os.environ,
        progress: DeployProgress | None = None,
    ) -> None:
        """Reads the settings only; raises acta.engine.settings.SettingsError."""
        self.config = LocalConfig.from_environ(environ)
        self.state = StateDir(state_dir)
        self.port = port
        self.preferred_port = preferred_port
        self.environ = environ
        self.progress: DeployProgress = progress or Silent()
        self.front: Front | None = None
        self.emulator: EmulatorProcess | None = None
        self.commands: list[Commands] = []
        self.moved_from: int | None = None
        """The previous port, if another program has it now. Old tokens name it in their issuer, so they are void."""
        self.restored_from: str | None = None
        """When the state that this stack began with was saved (ISO 8601 or NEVER), if the last local AWS did not end
        in order."""

    @property
    def url(self) -> str:
        assert self.front is not None
        return self.front.url

    @property
    def account(self) -> Account:
        return Account.local(self.aws_endpoint_url, self.credentials.as_arguments())

    @property
    def aws_endpoint_url(self) -> str:
        assert self.emulator is not None
        return self.emulator.url

    @property
    def credentials(self) -> Credentials:
        """The credentials for calling the local AWS of this run."""
        assert self.emulator is not None
        return self.emulator.credentials

    @property
    def issuer(self) -> LocalIssuer:
        return LocalIssuer.from_state(self.state.path, self.url)

    def start(self) -> RunningStack:
        """Raises ToolMissing, PortTaken, StateInUse, CommandFailed, EmulatorFailed or StackFailed. Nothing is left
        running then."""
        try:
            return self.start_all()
        except BaseException:
            self.stop()
            raise

    def start_all(self) -> RunningStack:
        require_tools()
        if self.state.is_served():
            raise self.state.in_use()
        # before the directory is touched: a taken port leaves nothing behind
        self.front, self.moved_from = self.state.open_front(self.port, self.preferred_port)
        self.state.claim()
        self.front.publish(self.issuer.documents(), SignInPage(self.issuer, self.state.path))
        self.start_emulator()
        has_a_past = self.state.deployment.exists()
        self.reach_api()
        if has_a_past:
            self.resume_sessions()
        running = RunningStack(
            pid=os.getpid(),
            port=self.front.port,
            api_url=self.url,
            aws_endpoint_url=self.aws_endpoint_url,
            provider=self.config.provider,
        )
        self.state.write(running)
        return running

    def start_emulator(self) -> None:
        phase = "start the local AWS"
        self.progress.begin(phase)
        self.emulator = emulator(
            state_dir=self.state.aws,
            port=self.config.aws_port,
            lambda_endpoint=self.config.lambda_endpoint,
            options=self.config.emulator_options,
            function_environments=self.config.for_functions(self.environ, self.url),
        )
        self.emulator.start()
        self.restored_from = self.emulator.restored_from
        self.progress.end(phase)

    def reach_api(self) -> None:
        try:
            folders = digest_of(self.tool_folders())
        except BadFolder as bad:
            raise StackFailed(str(bad)) from None
        assembly = Assembly.of_sources(self.config.context, environment=folders)
        last = LocalDeployment.from_file(self.state.deployment)
        unchanged = last is not None and (last.assembly_key, last.issuer_url) == (assembly.key, self.url)
        if unchanged and last is not None and self.answers(last):
            return
        self.build_tools()
        environ = {name: value for name, value in self.environ.items() if name not in ONLY_FOR}
        synthesis = Commands(cdk_environ(environ), self.state.log)
        aws = Commands(local_aws_environ(environ, self.aws_endpoint_url, self.credentials), self.state.log)
        self.commands = [synthesis, aws]
        lambdas = self.lambdas()
        if last is not None:
            keep_release("local", lambdas)
        deployed = deploy(assembly, synthesis, aws, self.state.path, self.url, self.progress)
        deployed.to_file(self.state.deployment)
        if last is not None:
            take_newest("local", lambdas)
        phase = "wait for the API"
        self.progress.begin(phase)
        deadline = time.monotonic() + READY_SECONDS
        while not self.answers(deployed):
            if time.monotonic() > deadline:
                raise StackFailed(f"the deployed API did not become healthy; see {self.state.path}")
            time.sleep(0.2)
        self.progress.end(phase)

    def build_tools(self) -> None:
        """Raises StackFailed."""
        try:
            build_all(self.tool_folders(), LOCAL)
        except BadFolder as bad:
            raise StackFailed(str(bad)) from None

    @property
    def tools_dir(self) -> Path | None:
        path = tools_directory(self.environ)
        return path if path.is_dir() else None

    def tool_folders(self) -> tuple[ToolFolder, ...]:
        """The folders as they are now. Raises BadFolder."""
        folders = folders_in(self.tools_dir, LOCAL.name)
        try:
            require_known(folders, every_environment(self.environ))
        except UnusableValue as unusable:
            raise BadFolder(str(unusable)) from None
        return folders

    def lambdas(self) -> Any:
        return lambda_client(self.account)

    def logs(self) -> Any:
        return logs_client(self.account)

    def deploy_again(self) -> None:
        self.progress = Silent()
        try:
            self.config = LocalConfig.from_environ(self.environ)
            self.reach_api()
        except (SettingsError, StackFailed, CommandFailed) as failed:
            raise DeployFailed(str(failed)) from None

    def resume_sessions(self) -> None:
        """Lets recovery start new executions, because the old ones ended with the last emulator."""
        with suppress(RecoveryFailed):  # it also runs on a schedule, every minute
            run_recovery(self.lambdas(), "local", ALL_SESSIONS, wait=False)

    def answers(self, deployment: LocalDeployment) -> bool:
        """Point the front at the deployed API and ask that for its health."""
        assert self.front is not None
        assert self.emulator is not None
        self.front.forward_to(DeployedApi(HOST, self.emulator.port, deployment.api_id))
        try:
            return httpx2.get(f"{self.url}/healthz", timeout=60, trust_env=False).status_code == 200
        except httpx2.HTTPError:
            return False

    @property
    def is_alive(self) -> bool:
        """False when the emulator has ended by itself."""
        return self.emulator is not None and self.emulator.running

    @property
    def loss(self) -> str:
        """What a crash of the emulator loses: it writes files at once, but all else only when it ends in order."""
        assert self.emulator is not None
        return lost_since(self.emulator.last_saved)

    def stop(self) -> None:
        for commands in self.commands:
            commands.stop()
        if self.front is not None:
            self.front.stop()
            self.front = None
        if self.emulator is not None:
            self.emulator.stop()
            self.emulator = None
        self.state.release()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


UNPACKED_CODE = MADE / "build" / "lambda-code"
"""A folder that all emulators of this tree share, so that functions are unpacked once and not by every run."""


def emulator(**options: Any) -> EmulatorProcess:
    """`options`: further arguments of `EmulatorProcess`."""
    return EmulatorProcess(
        emulator_python=EMULATOR_PYTHON, runtime_python=RUNTIME_PYTHON, code_dir=UNPACKED_CODE, **options
    )
