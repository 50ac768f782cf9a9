"""How a followed session is shown: drawn live on a terminal, line by line anywhere else."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TextIO

from acta.cli.events import describe
from acta.cli.follow import Update
from acta.cli.plan_lines import marks_for, plan_lines
from acta.cli.text import encodable


class View(Protocol):
    def show(self, update: Update) -> None: ...

    def aside(self) -> AbstractContextManager[None]:
        """For asking or telling something in between: nothing is drawn meanwhile."""

    def close(self) -> None: ...


class PlainView:
    """A line per event and per change of the plan, no control sequence."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.marks = marks_for(stream.encoding)
        self.plan: list[str] = []

    def show(self, update: Update) -> None:
        for event in update.events:
            line = describe(event)
            if line:
                self.line(f"{event.get('seq', 0):>4}  {line}")
        plan = [str(line) for line in plan_lines(update.session.get("plan"), self.marks)]
        for number, line in enumerate(plan):
            if number >= len(self.plan) or line != self.plan[number]:
                self.line(f"      {line}")
        self.plan = plan

    def line(self, text: str) -> None:
        print(encodable(text, self.stream.encoding), file=self.stream, flush=True)

    @contextmanager
    def aside(self) -> Iterator[None]:
        yield

    def close(self) -> None:
        pass


def view_for(stream: TextIO = sys.stdout) -> View:
    if stream.isatty():
        from acta.cli.live import LiveView

        return LiveView(stream)
    return PlainView(stream)
