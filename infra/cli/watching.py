"""Following a session to its end on this terminal, asking the person when it waits for one."""

import sys
from collections.abc import Mapping
from typing import Any

from infra.cli.ask import NoDecision, decide, question_lines
from infra.cli.client import Client, session_path
from infra.cli.errors import ApiRefusal
from infra.cli.figures import usage_line
from infra.cli.follow import Update, follow
from infra.cli.text import encodable, one_line, visible
from infra.cli.view import View, view_for
from infra.cli.whole_input import with_whole_input


def say(text: str) -> None:
    print(encodable(text, sys.stdout.encoding), flush=True)


class Watcher:
    """`interactive`: a person can be asked. Otherwise a waiting session is announced once and goes on being
    followed: somebody may decide elsewhere."""

    def __init__(self, client: Client, view: View, *, interactive: bool) -> None:
        self.client = client
        self.view = view
        self.interactive = interactive
        self.seen: set[str] = set()

    def watch(self, session_id: str) -> dict[str, Any]:
        """The session as it ended."""
        session: dict[str, Any] = {}
        try:
            for update in follow(self.client, session_id):
                session = update.session
                self.view.show(update)
                self.attend(session_id, update)
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
        for line in question_lines(with_whole_input(self.client, session_id, intervention)):
            say(line)
        if not self.interactive:
            say(f"decide with: {commands(session_id, identity, intervention)}")
            return
        try:
            decision = decide(intervention, input, say)
        except NoDecision:
            say(f"left open; decide with: {commands(session_id, identity, intervention)}")
            return
        try:
            path = session_path(session_id, "interventions", identity, "resolve")
            self.client.post(path, decision.to_body())
        except ApiRefusal as error:
            if error.status not in (400, 409):
                raise
            say(f"not taken: {error}")
            if error.status == 400:
                self.seen.discard(identity)


def commands(session_id: str, identity: str, intervention: Mapping[str, Any]) -> str:
    options = intervention.get("options") or []
    if "approve" in options:
        return f"acta approve {session_id} {identity}, or acta reject {session_id} {identity}"
    if "answer" in options:
        return f"acta answer {session_id} TEXT"
    return f"acta resume {session_id}, or acta cancel {session_id}"


def watch(client: Client, session_id: str) -> dict[str, Any]:
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    return Watcher(client, view_for(sys.stdout), interactive=interactive).watch(session_id)


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
