"""`acta up` runs a local stack until it is stopped; an error of the stack becomes the command's. `acta demo` runs a
goal on a stack of its own, shows it live and keeps the files that it made.
"""

import os
import shlex
import shutil
import sys
import time
import webbrowser
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn, TextIO

from acta.cli import exit_codes
from acta.cli.connection import Invocation
from acta.cli.exit_codes import CliError
from acta.cli.files import put_directory, save
from acta.cli.local.ready import (
    DEFAULT_PORT,
    SAMPLES,
    announce,
    model_line,
    page_link,
    put_samples,
    say_of_tools,
    tell_of_missing_tools,
)
from acta.cli.operations.logs import first_line, further_lines, is_of_a_tool
from acta.cli.sessions.listings import trace_lines
from acta.cli.sessions.run import Watcher, print_outcome
from acta.cli.terminal.prompt import stopped_by_signals
from acta.cli.terminal.text import cli_error, echo, elapsed, encodable, note, one_line
from acta.client.api import Client
from acta.client.deployment import Deployment
from acta.engine.settings import SettingsError
from acta.infra.deployed.session_logs import LogsUnreadable, read_lines
from acta.infra.environments import LOCAL
from acta.infra.local.deploy import CommandFailed, DeployProgress, ToolMissing
from acta.infra.local.stack import LocalStack, StackFailed, lost_since
from acta.infra.local.state_directory import DEFAULT_STATE_DIR, StateDir, StateInUse
from acta.infra.local.tool_watch import SECONDS_BETWEEN_LOOKS, ToolWatch
from acta.infra.toolchain import MADE
from acta.local_aws.emulator_process import REGION, EmulatorFailed
from acta.local_aws.reverse_proxy import PortTaken

Opens = Callable[[str], bool]


def up(arguments: Namespace) -> int:
    """Serves until Ctrl-C or SIGTERM, then stops everything it started."""
    try:
        with (
            stopped_by_signals(),
            started_stack(
                Path(arguments.state or DEFAULT_STATE_DIR),
                arguments.port,
                # for the default directory: tokens name the URL as their issuer, so it has to be the same each time
                preferred=DEFAULT_PORT if arguments.state is None else None,
            ) as stack,
        ):
            if arguments.samples:
                put_samples(stack)
            serve(stack, as_json=arguments.json, opens=webbrowser.open if arguments.open else None)
    except KeyboardInterrupt:
        note("stopped")
        return exit_codes.OK


def serve(stack: LocalStack, *, as_json: bool, opens: Opens | None = None) -> NoReturn:
    """`opens`: shows the page to the person. Raises KeyboardInterrupt at a signal, and CliError if the local AWS ended
    by itself.
    """
    try:
        tools = ToolWatch(stack, stack.state.path / "tools.json", say_of_tools)
        tools.begin()
        aws = {
            "aws_endpoint_url": stack.aws_endpoint_url,
            "aws_credentials_file": str(stack.state.credentials),
        }
        variables = (
            f"AWS    AWS_ENDPOINT_URL={stack.aws_endpoint_url} AWS_DEFAULT_REGION={REGION} "
            f"AWS_SHARED_CREDENTIALS_FILE={shlex.quote(str(stack.state.credentials))}"
        )
        announce(stack, tools.names, variables, aws if as_json else None)
        if opens is not None:
            opens(page_link(stack))
        lines, missing = ToolLines(stack.logs(), say_of_tools), set[str]()
        tell_of_missing_tools(stack, missing)
        while stack.is_alive:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            if tools.look():
                tell_of_missing_tools(stack, missing)
            lines.look(tools.folders)
    except KeyboardInterrupt:
        note("stopping, saving the sessions ...")
        raise
    log = stack.emulator.log_path if stack.emulator is not None else stack.state.aws
    raise CliError(f"the local AWS ended by itself: {stack.loss}; its log: {log}")


OVERLAP = timedelta(seconds=5)
"""A line may become visible this long after its own time."""


class ToolLines:
    """Prints what Python tools log from now on. `client`: of the stack's CloudWatch Logs. `say`: prints."""

    def __init__(self, client: Any, say: Callable[[str], None]) -> None:
        self._client = client
        self._say = say
        self._since = datetime.now(UTC)
        self._known: frozenset[tuple[str, ...]] = frozenset()

    def look(self, folders: Sequence[str]) -> None:
        """Prints what these folders' functions have logged since the last look."""
        began = datetime.now(UTC)
        try:
            functions = [f"tool-{folder}" for folder in folders]
            lines = read_lines(self._client, LOCAL.name, functions, "", self._since)
        except LogsUnreadable:
            return  # for example because the local AWS has ended, which `acta up` reports
        for line in lines:
            if line.key not in self._known and is_of_a_tool(line.fields):
                self._say("\n".join([f"tools: {first_line(line.fields)}", *further_lines(line.fields)]))
        self._known = frozenset(line.key for line in lines)
        self._since = max(self._since, began - OVERLAP)


@contextmanager
def started_stack(state_dir: Path, port: int | None, *, preferred: int | None = None) -> Iterator[LocalStack]:
    """A running stack, stopped at the end whatever happens. Progress goes to standard error.

    `port`: the API's. If None: the last one used, else `preferred`, else a free one. Raises CliError if the stack does
    not start.
    """
    with cli_error(SettingsError, cut=400):
        stack = LocalStack(state_dir, port=port, preferred_port=preferred, environ=os.environ)
    for name in stack.config.unknown:
        note(f"acta: nothing reads {name}; is it misspelt?")
    output = f"(the whole output: {stack.state.log})"
    with (
        cli_error(OSError, words=f"{state_dir}: {{}}"),
        cli_error(CommandFailed, EmulatorFailed, words=f"the local stack did not start: {{}}\n{output}"),
        cli_error(ToolMissing, PortTaken, StateInUse, StackFailed),
        progress_on(sys.stderr) as progress,
    ):
        stack.progress = progress
        stack.start()
    if stack.restored_from is not None:
        note(f"acta: the local AWS did not end in order last time: {lost_since(stack.restored_from)}")
    try:
        yield stack
    finally:
        stack.stop()


class PlainProgress:
    """A line when a phase ends; phases may overlap."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.started: dict[str, float] = {}

    def begin(self, phase: str) -> None:
        self.started[phase] = time.monotonic()
        self.line(f"  {phase} ...")

    def note(self, phase: str, text: str) -> None:
        pass

    def end(self, phase: str, text: str = "") -> None:
        seconds = time.monotonic() - self.started.pop(phase)
        self.line(f"  {phase}: done in {seconds:.0f} s" + (f" ({text})" if text else ""))

    def line(self, text: str) -> None:
        # one write, because phases overlap and their lines must not
        self.stream.write(encodable(f"{text}\n", self.stream.encoding))
        self.stream.flush()


@contextmanager
def progress_on(stream: TextIO = sys.stderr) -> Iterator[DeployProgress]:
    if not stream.isatty():
        yield PlainProgress(stream)
        return
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import ProgressColumn, SpinnerColumn, TaskID, TextColumn
    from rich.text import Text

    class Clock(ProgressColumn):
        def render(self, task: object) -> Text:
            return Text(elapsed(getattr(task, "elapsed", None) or 0), "dim")

    class LiveProgress:
        """Draws on a rich progress display."""

        def __init__(self, bars: Bars) -> None:
            self.bars = bars
            self.tasks: dict[str, TaskID] = {}

        def begin(self, phase: str) -> None:
            self.tasks[phase] = self.bars.add_task(phase, total=1, note="")

        def note(self, phase: str, text: str) -> None:
            self.bars.update(self.tasks[phase], note=one_line(text, 60))

        def end(self, phase: str, text: str = "") -> None:
            self.bars.update(self.tasks[phase], completed=1, note=text)

    columns = (
        SpinnerColumn(finished_text=Text("✔", "green") if "utf" in (stream.encoding or "").lower() else "x"),
        TextColumn("{task.description}", markup=False),
        Clock(),
        TextColumn("{task.fields[note]}", style="dim", markup=False),
    )
    with Bars(*columns, console=Console(file=stream, highlight=False), redirect_stdout=False) as bars:
        yield LiveProgress(bars)


FOLDER = MADE / "build" / "demo"
TENANT, USER = "demo", "demo"
GOAL = "List all files in my storage, summarize each, and write the summary to summary.md"
RESULT = "summary.md"
TOKEN_BUDGET = 400_000
MAX_STEPS = 60
"""Enough for a thorough real model; the default limit is meant for smaller goals."""


def demo(arguments: Namespace) -> int:
    """Exit code 0 when the agent met the goal. The stack is stopped in any case."""
    state_dir = fresh_folder()
    with stopped_by_signals():
        echo("Acta on a local AWS")
        with started_stack(state_dir, None) as stack:
            session = run_goal(stack)
    return exit_codes.of_session(session)


def fresh_folder() -> Path:
    """Makes an empty state directory and deletes what the last demo left. Raises CliError while another demo runs."""
    state = StateDir(FOLDER / "state")
    if state.is_served():
        raise CliError(f"another demo is running in {state.path}")
    shutil.rmtree(FOLDER, ignore_errors=True)
    return state.path


def run_goal(stack: LocalStack) -> Mapping[str, Any]:
    """Runs the goal, shows all of it and returns the session as it ended."""
    client = Client(Deployment(stack.url, stack.issuer.issue_token(TENANT, USER, "member")))
    samples = put_directory(client, str(SAMPLES))
    echo("")
    echo(f"files  {', '.join(samples)}")
    echo(f"model  {model_line(stack)}")
    echo(f"goal   {GOAL}")
    echo("")
    session_id = client.start(GOAL, token_budget=TOKEN_BUDGET, max_steps=MAX_STEPS)["session_id"]
    here = Invocation.from_arguments(Namespace(state=str(stack.state.path)))
    session = Watcher(client, session_id, here).watch().session
    echo("")
    echo("What it thought and did")
    for item in client.trace(session_id):
        planned = item.get("action") == "update_plan"  # the plan was on the screen all the time
        row: Mapping[str, Any] = (
            {name: item.get(name) for name in ("step_number", "thought")} if planned else item
        )
        for line in trace_lines(row):
            echo(line)
    print_outcome(session)
    if exit_codes.of_session(session) == exit_codes.OK:
        echo(f"the summary is in {download(client)}")
    else:
        note(f"acta: the session ended {session.get('state')}, the goal was not met")
    return session


def download(client: Client) -> Path:
    """Copies the agent's file to this machine and returns its new path."""
    target = FOLDER / RESULT
    save(target, client.files.read(RESULT))
    try:
        return target.relative_to(Path.cwd())
    except ValueError:
        return target
