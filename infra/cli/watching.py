"""Following a session to its end on this terminal, asking the person when it waits for one."""

import sys
from collections.abc import Mapping
from typing import Any

from infra.cli.ask import NoDecision, decide, question_lines
from infra.cli.client import Client, session_path
from infra.cli.errors import ApiRefusal
from infra.cli.figures import usage_line
from infra.cli.follow import Update, follow
from infra.cli.hints import Invocation, deciding_lines
from infra.cli.terminal import edit_lines, forget_typed_ahead
from infra.cli.text import encodable, one_line, visible
from infra.cli.view import View, view_for
from infra.cli.whole_input import with_whole_input


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

    def watch(self, session_id: str) -> dict[str, Any]:
        """The session as it ended, or as it waits for a person with `no_wait`."""
        session: dict[str, Any] = {}
        try:
            for update in follow(self.client, session_id):
                session = update.session
                self.view.show(update)
                self.attend(session_id, update)
                if self.no_wait and update.waits_for_a_person:
                    break
        finally:
            self.view.close()
        return session

    def attend(self, session_id: str, update: Update) -> None:
        for intervention in update.open_interventions:
            identity = str(intervention.get("intervention_id"))
            if identity in self.seen:
                continue
            self.seen.add(identity)
            with self.view.aside():
                self.put_question(session_id, identity, intervention)

    def put_question(self, session_id: str, identity: str, intervention: Mapping[str, Any]) -> None:
        if self.interactive:
            forget_typed_ahead()
        for line in question_lines(with_whole_input(self.client, session_id, intervention)):
            say(line)
        if not self.interactive:
            self.say_how("decide with one of:", session_id, intervention)
            return
        try:
            decision = decide(intervention, input, say)
        except NoDecision:
            self.say_how("left open; decide with one of:", session_id, intervention)
            return
        try:
            path = session_path(session_id, "interventions", identity, "resolve")
            self.client.post(path, decision.to_body())
        except ApiRefusal as error:
            if error.status not in (400, 403, 409):
                raise
            say(f"not taken: {error}")
            if error.status == 400:
                self.seen.discard(identity)

    def say_how(self, title: str, session_id: str, intervention: Mapping[str, Any]) -> None:
        say(title)
        for line in deciding_lines(self.invocation, session_id, intervention):
            say(f"  {line}")


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
