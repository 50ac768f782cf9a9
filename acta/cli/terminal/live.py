"""The live display of a followed session. Text that is not Acta's is put in as `Text`: markup has no meaning there."""

import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from acta.cli.terminal.session_lines import (
    EventLines,
    TreeLines,
    awaited,
    has_own_plan,
    is_goal_missed,
    marks_for,
    outcome_mark,
    plan_lines,
    state_words,
    usage_line,
    waiting_lines,
)
from acta.cli.terminal.text import elapsed
from acta.client.following import Update

LAST_EVENTS = 6
MOST_OF_TREE = 8
"""Lines of the tree of agents, or half of the screen if that is more."""
STATUS_STYLES = {"in_progress": "bold cyan", "completed": "green", "failed": "red", "skipped": "dim"}
STATE_STYLES = {
    "completed": "bold green",
    "failed": "bold red",
    "cancelled": "yellow",
    "waiting_for_user": "bold yellow",
}


class Display:
    """What is drawn. rich renders it several times a second, so that the clock runs between updates.

    `resume`: the command that has a waiting session try now.
    """

    def __init__(self, encoding: str | None, resume: str, tree: TreeLines = lambda marks, most: ()) -> None:
        self.resume = resume
        self.tree = tree
        self.marks = marks_for(encoding)
        self.update: Update | None = None
        self.has_own_plan = False
        self.events = EventLines()
        self.lines: deque[str] = deque(maxlen=LAST_EVENTS)
        self.started = time.monotonic()
        self.spinner = Spinner("dots" if self.marks["pending"] != "." else "line")

    def update_with(self, update: Update) -> None:
        self.update = update
        self.has_own_plan = has_own_plan(update.events, self.has_own_plan)
        self.lines.extend(line for line in map(self.events.line, update.events) if line)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.update is None:
            return
        session = self.update.session
        yield self.header(session)
        style = "yellow"
        for words in waiting_lines(session, self.resume, self.update.below):
            yield Padding(Text(words, style), (0, 0, 0, 2))
            style = "dim"
        plan = Table.grid(padding=(0, 1))
        for line in plan_lines(session.get("plan") if self.has_own_plan else None, self.marks):
            style = STATUS_STYLES.get(line.status, "")
            plan.add_row(
                Text(f"  {line.mark} {line.number:>2}.", style),
                Text(line.description, style, overflow="ellipsis"),
            )
        yield plan
        for words in self.tree(self.marks, max(MOST_OF_TREE, console.height // 2)):
            yield Text(f"  {words}", no_wrap=True, overflow="ellipsis")
        yield Group(*(Text(f"     {line}", "dim", no_wrap=True, overflow="ellipsis") for line in self.lines))

    def header(self, session: Mapping[str, object]) -> Table:
        state = str(session.get("state", ""))
        words = Text.assemble(
            (
                state.replace("_", " ") if awaited(session) else state_words(session),
                "bold yellow" if is_goal_missed(session) else STATE_STYLES.get(state, "bold"),
            ),
            (f"  {elapsed(time.monotonic() - self.started)}  {usage_line(session)}", "dim"),
        )
        header = Table.grid(padding=(0, 1))
        ended = self.update is not None and self.update.has_ended
        header.add_row(Text(outcome_mark(session, self.marks)) if ended else self.spinner, words)
        return header


class LiveView:
    def __init__(self, stream: TextIO, resume: str, tree: TreeLines = lambda marks, most: ()) -> None:
        self.console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self.display = Display(stream.encoding, resume, tree)
        self.live = self.new_live()
        self.live.start()

    def new_live(self) -> Live:
        return Live(
            self.display,
            console=self.console,
            refresh_per_second=8,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def show(self, update: Update) -> None:
        self.display.update_with(update)
        self.live.refresh()

    def tell(self, text: str) -> None:
        self.display.lines.append(text)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        self.live.stop()
        try:
            yield
        finally:
            self.live = self.new_live()
            self.live.start()

    def close(self) -> None:
        self.live.stop()
