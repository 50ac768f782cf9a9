"""How a followed session is shown: drawn live on a terminal, line by line anywhere else."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TextIO

from acta.cli.terminal.session_lines import (
    begun_wait,
    event_line,
    line_words,
    marks_for,
    plan_lines,
    try_now_line,
)
from acta.cli.terminal.text import encodable
from acta.client.following import Update


class View(Protocol):
    def show(self, update: Update) -> None: ...

    def tell(self, text: str) -> None:
        """A line of Acta's own. From any thread."""

    def suspended(self) -> AbstractContextManager[None]:
        """Inside, the view draws nothing, so that others may print."""

    def close(self) -> None: ...


class PlainView:
    """A line for each event and for each changed step of the plan, without control sequences.

    `resume`: the command that has a waiting session try now. It is shown once.
    """

    def __init__(self, stream: TextIO, resume: str) -> None:
        self.stream = stream
        self.resume: str | None = resume
        self.marks = marks_for(stream.encoding)
        self.plan: list[str] = []

    def show(self, update: Update) -> None:
        for event in update.events:
            line = event_line(event)
            if line:
                self.print(f"{event.get('seq', 0):>4}  {line}")
            wait = begun_wait(event)
            for words in line_words(update.session) if wait is not None else ():
                self.print(f"      {words}")
            if self.resume is not None and wait is not None and wait.may_be_tried:
                self.print(f"      {try_now_line(self.resume)}")
                self.resume = None
        plan = [str(line) for line in plan_lines(update.session.get("plan"), self.marks)]
        for number, line in enumerate(plan):
            if number >= len(self.plan) or line != self.plan[number]:
                self.print(f"      {line}")
        self.plan = plan

    def tell(self, text: str) -> None:
        self.print(f"      {text}")

    def print(self, text: str) -> None:
        print(encodable(text, self.stream.encoding), file=self.stream, flush=True)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        yield

    def close(self) -> None:
        pass


def view_for(stream: TextIO, resume: str) -> View:
    """`resume`: the command that has a waiting session try now."""
    if stream.isatty():
        from acta.cli.terminal.live import LiveView  # imported only now: it loads rich

        return LiveView(stream, resume)
    return PlainView(stream, resume)
