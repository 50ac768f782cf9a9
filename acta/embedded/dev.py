"""`acta dev` as one object: the process with all of Acta, its front on 127.0.0.1 and its sign-in page."""

import json
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from acta.embedded.gateway import EmbeddedApi
from acta.embedded.process import NOTIFY, TRACES, Process
from acta.embedded.python_tools import ToolFolders
from acta.engine.api.operation import Function
from acta.engine.settings import Settings
from acta.infra.engine.retries import FIRST_PAUSE, LONGEST_PAUSE
from acta.infra.engine.workflow import definition
from acta.infra.environments import Environment, every_environment, select
from acta.infra.lambdas.variables import EMPTY, as_variables, of_environment
from acta.infra.local.config import LocalConfig
from acta.infra.local.issuer import AUDIENCE, LocalIssuer, SignInPage
from acta.infra.local.state_directory import RunningStack, StateDir
from acta.infra.packaging.bundle import ROOT, made_for
from acta.infra.tool_folders import tools_directory
from acta.local_aws.reverse_proxy import Front

Say = Callable[[str], None]


class Dev:
    """`start()` returns when the page and the API answer. `stop()` may be called at any time and twice."""

    def __init__(
        self,
        state: Path,
        *,
        port: int | None = None,
        preferred_port: int | None = None,
        environ: Mapping[str, str] = os.environ,
        say: Say,
        tool_log: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """`say`: prints a line for a person. `tool_log`: gets the fields of each line that a Python tool prints. Raises
        SettingsError.
        """
        self.config = LocalConfig.from_environ(environ)
        self.state = StateDir(state)
        self.moved_from: int | None = None
        """The previous port, if another program has it now. Old tokens name it in their issuer, so they are void."""
        self._ports = port, preferred_port
        self._environ = environ
        self._say, self._tool_log = say, tool_log
        self._front: Front | None = None
        self._process: Process | None = None

    @property
    def url(self) -> str:
        assert self._front is not None
        return self._front.url

    @property
    def issuer(self) -> LocalIssuer:
        return LocalIssuer.from_state(self.state.path, self.url)

    @property
    def tools(self) -> ToolFolders:
        assert self._process is not None
        return self._process.tools

    def start(self) -> None:
        """Raises PortTaken, StateInUse, OSError. Nothing is left running then."""
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        if self.state.is_served():
            raise self.state.in_use()
        self._front, self.moved_from = self.state.open_front(*self._ports)
        self.state.claim()
        environment = self._environment()
        settings = settings_of(environment, self.config, self._environ, self.url)
        tools = ToolFolders(
            tools_directory(self._environ),
            every_environment(self._environ),
            self._environ,
            settings.longest_tool_seconds,
            self._say,
            self._tell_of_call,
        )
        tools.begin()
        base = environment.retry_base_seconds
        self._process = process = Process(
            self.state.path,
            settings,
            tools,
            made,
            definition(environment),
            park_after_seconds=environment.park_after_seconds,
            pause_seconds=lambda pauses: pause_seconds(pauses, base),
        )
        issuer = self.issuer
        self._front.publish(issuer.documents(), SignInPage(issuer, self.state.path))
        self._front.forward_to(EmbeddedApi(issuer, process.api, process.telemetry("gateway").failure))
        process.start()
        self.state.write(RunningStack(os.getpid(), self._front.port, self.url, "", self.config.provider))

    def _tell_of_call(self, folder: str, line: str) -> None:
        """A line that a tool prints: JSON (`acta/tools/log.py`), or whatever its libraries write."""
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict) or "message" not in fields:
            fields = {"message": line}
        if self._process is not None:
            self._process.telemetry(f"tool-{folder}").write(fields)
        self._tool_log(fields)

    def _environment(self) -> Environment:
        """The local one, with what variables of `acta up` change in it."""
        environment = select("local")
        for name in ("retry_base_seconds", "park_after_seconds", "provider_limits"):
            if name in self.config.context:
                environment = environment.with_context(name, self.config.context[name])
        return environment

    def stop(self) -> None:
        if self._process is not None:  # first, so that nothing that is cut off counts as done
            self._process.stop()
        if self._front is not None:
            self._front.stop()
            self._front = None
        if self._process is not None:
            self._process.table.database.hold()
            self._process = None
        self.state.release()


def settings_of(
    environment: Environment, config: LocalConfig, environ: Mapping[str, str], url: str
) -> Settings:
    """What the functions of `acta up` have together. Raises SettingsError."""
    decided = {
        **of_environment(environment),
        "env": environment.name,
        "table": "sessions",
        "bucket": "files",
        "session_bucket": "texts",
        "audit_table": "audit",
        "tool_function": "tool",
        "recover_function": "recover",
        "notify_queue_url": NOTIFY,
        "traces_queue_url": TRACES if "traces" in config.context else "",
        "notify_api_url": url,
        "token_issuer": url,
        "public_url": url,
        "console_issuer": url,
        "console_client": AUDIENCE,
    }
    values = {name: value for name, value in decided.items() if value not in EMPTY}
    given = {name: environ[name] for name in config.lambda_env}
    return Settings.from_environ({**as_variables(values), **given})


def pause_seconds(pauses: int, retry_base_seconds: int) -> float:
    """As `pause_in_asl` has it."""
    longest, first = LONGEST_PAUSE * retry_base_seconds, FIRST_PAUSE * retry_base_seconds
    return min(longest, first * 2.0 ** (min(pauses, 20) - 1)) * (1 - random.random() / 2)  # noqa: S311, jitter


def made(function: Function) -> Path:
    """The folder with the page for people, or with the document of the API. From a clone it is made once."""
    return next(path for path, _ in made_for(function, ROOT)).parent
