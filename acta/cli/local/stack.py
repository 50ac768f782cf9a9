"""A local stack for as long as a command runs; its errors become the command's."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import cli_error, elapsed, encodable, note, one_line
from acta_engine.models.providers import PROVIDERS, WITH_KEY
from acta_engine.settings import SettingsError
from acta_infra.local.deploy import CommandFailed, Progress, ToolMissing
from acta_infra.local.stack import LocalStack, StackFailed, lost_since
from acta_infra.local.state_directory import StateInUse
from local_aws.emulator_process import EmulatorFailed
from local_aws.reverse_proxy import PortTaken


@contextmanager
def started_stack(state_dir: Path, port: int | None, *, preferred: int | None = None) -> Iterator[LocalStack]:
    """A running stack, stopped at the end whatever happens. Progress goes to standard error.

    `port`: of the API; None: that of last time, else `preferred`, else a free one. Raises CliError where the stack
    does not start.
    """
    with cli_error(SettingsError, cut=400):
        stack = LocalStack(state_dir, port=port, preferred_port=preferred, environ=os.environ)
    for name in stack.config.unknown:
        note(f"acta: nothing reads {name}; is it misspelt?")
    try:
        with progress_on(sys.stderr) as progress:
            stack.progress = progress
            stack.start()
    except (ToolMissing, PortTaken, StateInUse, StackFailed) as error:
        raise CliError(str(error)) from None
    except OSError as error:
        raise CliError(f"{state_dir}: {error.strerror or error}") from None
    except (CommandFailed, EmulatorFailed) as error:
        raise CliError(
            f"the local stack did not start: {error}\n(the whole output: {stack.state.log})"
        ) from None
    if stack.moved_from is not None:
        note(
            f"acta: port {stack.moved_from} of last time is taken, so the API moved to {stack.url}; "
            "tokens issued before are void: get new ones with acta token"
        )
    if stack.restored_from is not None:
        note(f"acta: the local AWS did not end in order last time: {lost_since(stack.restored_from)}")
    try:
        yield stack
    finally:
        stack.stop()


def model_line(stack: LocalStack) -> str:
    """The provider and the model that answer."""
    if stack.config.provider == "offline":
        keys = " or ".join(each.key_variable for each in WITH_KEY)
        return f"offline: no LLM is used, rules play the model (set {keys} for one)"
    return f"{stack.config.provider}, {stack.config.model or PROVIDERS[stack.config.provider].default_model}"


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
        # in one write: phases overlap, and their lines must not
        self.stream.write(encodable(f"{text}\n", self.stream.encoding))
        self.stream.flush()


@contextmanager
def progress_on(stream: TextIO = sys.stderr) -> Iterator[Progress]:
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
