"""Several open questions of yes or no, decided in one go by the person at the terminal.

All of them are on the screen, with their whole inputs, before the one prompt: nobody approves what they have not seen.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from acta.cli.interventions.ask import NO, YES, Echo, Read, meant
from acta.cli.interventions.hints import lacks_role
from acta.cli.terminal.prompt import Prompt, PromptCancelled
from acta.cli.terminal.text import visible
from acta.client.api import Client
from acta.client.errors import ApiError
from acta.client.following import Feed, Update

EACH = ("e", "each")


def fit_together(client: Client, interventions: Sequence[Mapping[str, Any]]) -> bool:
    """There are several, each can be decided by y and n, and by this person."""
    return len(interventions) > 1 and all(
        meant("y", list(one.get("options") or ())) and not lacks_role(client, one) for one in interventions
    )


class Questions:
    """`echo` prints a line."""

    def __init__(
        self, client: Client, session_id: str, interventions: Sequence[Mapping[str, Any]], echo: Echo
    ) -> None:
        self.client = client
        self.session_id = session_id
        self.interventions = interventions
        self.echo = echo
        self.prompt = Prompt(echo)

    def ask(self, feed: Feed) -> bool:
        """False: the person wants to be asked one by one, or has left it open. Raises ClientError."""
        with self.prompt.interruptible():
            feed.subscribe(self.on_update)
            try:
                typed = read_for_all(len(self.interventions), self.prompt.read, self.echo)
            except PromptCancelled:
                self.echo("no longer open: all of it was decided elsewhere, or the session has ended")
                return True
            except EOFError:
                return False
            finally:
                feed.unsubscribe()
        if typed in EACH:
            return False
        for one in self.interventions:
            self.decide(one, meant(typed, list(one.get("options") or ())))
        return True

    def on_update(self, update: Update | None) -> None:
        """Takes the prompt away once none of them is open. From any thread."""
        ids = [str(one.get("intervention_id")) for one in self.interventions]
        if update is None or not any(map(update.is_open, ids)):
            self.prompt.cancel()

    def decide(self, intervention: Mapping[str, Any], option: str) -> None:
        identity = str(intervention.get("intervention_id"))
        try:
            self.client.decide(self.session_id, identity, option)
        except ApiError as error:
            if error.status not in (400, 403, 409):
                raise
            self.echo(f"{identity} not taken: {visible(str(error), keep_newlines=False)}")
        else:
            self.echo(f"{identity}  {option}")


def read_for_all(count: int, read: Read, echo: Echo) -> str:
    """One of `YES`, `NO` and `EACH`. Raises EOFError, PromptCancelled."""
    while True:
        typed = read(f"all {count}: y / n, or each > ").strip().lower()
        if typed in (*YES, *NO, *EACH):
            return typed
        echo(f"Please type y for all {count}, n for none of them, or each")
