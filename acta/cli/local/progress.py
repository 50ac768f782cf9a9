"""The phases of a long operation: on a terminal a spinner and a clock for each, elsewhere a line at its end."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from acta.cli.terminal.text import elapsed, encodable, one_line
from infra.local.progress import Progress


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
    from rich.progress import ProgressColumn, SpinnerColumn, TextColumn
    from rich.text import Text

    class Clock(ProgressColumn):
        def render(self, task: object) -> Text:
            return Text(elapsed(getattr(task, "elapsed", None) or 0), "dim")

    columns = (
        SpinnerColumn(finished_text=Text("✔", "green") if "utf" in (stream.encoding or "").lower() else "x"),
        TextColumn("{task.description}", markup=False),
        Clock(),
        TextColumn("{task.fields[note]}", style="dim", markup=False),
    )
    with Bars(*columns, console=Console(file=stream, highlight=False), redirect_stdout=False) as bars:
        yield LiveProgress(bars)


class LiveProgress:
    """Draws on a rich progress display."""

    def __init__(self, bars: "object") -> None:
        from rich.progress import Progress as Bars

        assert isinstance(bars, Bars)
        self.bars = bars
        self.tasks: dict[str, int] = {}

    def begin(self, phase: str) -> None:
        self.tasks[phase] = int(self.bars.add_task(phase, total=1, note=""))

    def note(self, phase: str, text: str) -> None:
        self.bars.update(self._task(phase), note=one_line(text, 60))

    def end(self, phase: str, text: str = "") -> None:
        self.bars.update(self._task(phase), completed=1, note=text)

    def _task(self, phase: str):  # type: ignore[no-untyped-def]
        return self.tasks[phase]
