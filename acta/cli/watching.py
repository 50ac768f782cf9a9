"""Following a session to its end on this terminal, asking the person when it waits for one."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from acta.cli.ask import question_lines
from acta.cli.client import Client
from acta.cli.feed import Feed
from acta.cli.figures import usage_line
from acta.cli.follow import Update, follow
from acta.cli.hints import Invocation
from acta.cli.question import Question
from acta.cli.rows import Screen
from acta.cli.terminal import edit_lines, forget_typed_ahead
from acta.cli.text import encodable, one_line, visible
from acta.cli.view import View, view_for
from acta.cli.whole_input import with_whole_input


def say(text: str) -> None:
    print(encodable(text, sys.stdout.encoding), flush=True)


class Watcher:
    """`interactive`: a person can be asked. Otherwise a waiting session is announced once and, unless `no_wait`,
    goes on being followed: somebody may decide elsewhere."""

    def __init__(
        self, client: Client, view: View, invocation: Invocation, *, interactive: bool, no_wait: bool = False
    ) -> None:
        self.client = client
        self.view = view
        self.invocation = invocation
        self.no_wait = no_wait
        self.interactive = interactive
        self.seen: set[str] = set()
        self.feed: Feed | None = None

    def watch(self, session_id: str) -> dict[str, Any]:
        """The session as it ended, or as it waits for a person with `no_wait`."""
        session: dict[str, Any] = {}
        try:
            for update in self.updates(session_id):
                session = update.session
                self.view.show(update)
                self.attend(session_id, update)
                if self.no_wait and update.waits_for_a_person:
                    break
        finally:
            self.view.close()
        return session

    def updates(self, session_id: str) -> Iterable[Update]:
        """Where a person can be asked, they go on coming while a prompt stands."""
        updates = follow(self.client, session_id)
        if not self.interactive:
            return updates
        self.feed = Feed(updates)
        return self.feed

    def attend(self, session_id: str, update: Update) -> None:
        for intervention in update.open_interventions:
            identity = str(intervention.get("intervention_id"))
            if identity in self.seen:
                continue
            self.seen.add(identity)
            if self.feed is not None and not self.feed.is_open(identity):
                continue  # decided while another question stood
            with self.view.aside():
                self.put_question(session_id, intervention)

    def put_question(self, session_id: str, intervention: Mapping[str, Any]) -> None:
        if self.interactive:
            forget_typed_ahead()
        whole = with_whole_input(self.client, session_id, intervention)
        for line in question_lines(whole, Screen.of(sys.stdout)):
            say(line)
        question = Question(self.client, self.invocation, session_id, intervention, say)
        if self.feed is None:
            question.say_how("decide with one of:")
        else:
            question.put(self.feed)


def watch(
    client: Client, session_id: str, invocation: Invocation, *, no_wait: bool = False
) -> dict[str, Any]:
    interactive = not no_wait and sys.stdin.isatty() and sys.stdout.isatty()
    if interactive:
        edit_lines()
    watcher = Watcher(client, view_for(sys.stdout), invocation, interactive=interactive, no_wait=no_wait)
    return watcher.watch(session_id)


def print_outcome(session: Mapping[str, Any]) -> None:
    state = str(session.get("state"))
    result = session.get("result") or {}
    error = session.get("error") or {}
    say("")
    if result.get("answer"):
        say(visible(str(result["answer"])))
        say("")
    if error:
        say(f"{one_line(str(error.get('message', '')), 300)} ({one_line(str(error.get('code', '')), 60)})")
    if state == "completed" and not result.get("goal_met"):
        reason = one_line(str(result.get("reason") or "the step limit was reached"), 200)
        say(f"The goal was not met: {reason}")
    say(f"{state.replace('_', ' ')} · {usage_line(session)}")
