"""An open intervention before the person at the terminal, while the session goes on being followed."""

from collections.abc import Mapping
from typing import Any

from acta.cli.ask import NoDecision, Say, decide
from acta.cli.client import Client, session_path
from acta.cli.deciders import lacks_role, role_lines
from acta.cli.errors import ApiRefusal
from acta.cli.events import describe
from acta.cli.feed import Feed
from acta.cli.follow import Update
from acta.cli.hints import Invocation, deciding_lines
from acta.cli.terminal import CalledOff, Prompt


class Question:
    def __init__(
        self,
        client: Client,
        invocation: Invocation,
        session_id: str,
        intervention: Mapping[str, Any],
        say: Say,
    ) -> None:
        self.client = client
        self.invocation = invocation
        self.session_id = session_id
        self.intervention = intervention
        self.identity = str(intervention.get("intervention_id"))
        self.say = say
        self.prompt = Prompt(say)
        self.fate = ""

    def put(self, feed: Feed) -> None:
        """Asks until it is decided, here or elsewhere, or left open."""
        if lacks_role(self.client, self.intervention):
            self.say_who()
            return
        with self.prompt.reachable():
            feed.hear(self.heard)
            try:
                while not self.is_decided():
                    pass
            except CalledOff:
                if self.fate:
                    self.say(self.fate)
            except NoDecision:
                self.say_how("left open; decide with one of:")
            finally:
                feed.hear(None)

    def heard(self, update: Update | None) -> None:
        if self.prompt.over.is_set():
            return
        if update is None or not update.is_open(self.identity):
            self.fate = self.fate_in(update) if update is not None else ""
            self.prompt.call_off()
        elif self.events(update, "intervention.warned"):
            default = str(self.intervention.get("default_action"))
            until = self.intervention.get("timeout_at")
            self.prompt.tell(f"this is due soon: {default} without an answer until {until}")

    def fate_in(self, update: Update) -> str:
        for event in self.events(update, "intervention.resolved", "intervention.expired"):
            return f"no longer open: {describe(event)}"
        if update.has_ended:
            return f"no longer open: the session is {update.session.get('state')}"
        return "no longer open: it was decided elsewhere"

    def events(self, update: Update, *types: str) -> list[dict[str, Any]]:
        return [
            event
            for event in update.events
            if event.get("type") in types
            and (event.get("data") or {}).get("intervention_id") == self.identity
        ]

    def is_decided(self) -> bool:
        """One decision taken to the deployment; False: it was refused and another one may do."""
        decision = decide(self.intervention, self.prompt.read, self.say)
        path = session_path(self.session_id, "interventions", self.identity, "resolve")
        try:
            self.client.post(path, decision.to_body())
        except ApiRefusal as error:
            if error.status not in (400, 403, 409):
                raise
            self.say(f"not taken: {error}")
            if error.status == 403:
                self.say_who()
            return error.status != 400
        return True

    def say_who(self) -> None:
        for line in role_lines(self.client, self.invocation, self.session_id, self.intervention):
            self.say(line)

    def say_how(self, title: str) -> None:
        self.say(title)
        for line in deciding_lines(self.invocation, self.session_id, self.intervention):
            self.say(f"  {line}")
