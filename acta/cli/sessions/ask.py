"""Asking the person at the terminal to decide: one intervention while its session is followed, or several open
yes-or-no questions at once.

If there are several, all of them are on the screen with their whole inputs before the one prompt: nobody approves what
they have not seen.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from acta.cli.connection import Invocation
from acta.cli.sessions.interventions import deciding_lines, lacks_role, needed_limits, role_lines
from acta.cli.terminal.prompt import LinePrompt, PromptCancelled
from acta.cli.terminal.session_lines import event_line
from acta.cli.terminal.text import visible
from acta.client.api import Client
from acta.client.errors import ApiError
from acta.client.following import Feed, Update
from acta.engine.untrusted.exact_json import InvalidJson, parse_object

Read = Callable[[str], str]
"""Shows a prompt and returns the line that was typed. Raises EOFError."""
Echo = Callable[[str], None]


@dataclass
class Question:
    """One open intervention. `echo` prints a line."""

    client: Client
    invocation: Invocation
    intervention: Mapping[str, Any]
    echo: Echo
    why_closed: str = ""
    """Why the prompt was taken away; empty if there is nothing to say."""

    def __post_init__(self) -> None:
        self.session_id = str(self.intervention["session_id"])
        self.intervention_id = str(self.intervention.get("intervention_id"))
        self.prompt = LinePrompt(self.echo)

    def ask(self, feed: Feed) -> None:
        """Asks until it is decided, here or elsewhere, or the person leaves it open. Raises ClientError."""
        if lacks_role(self.client, self.intervention):
            self.show_who_may_decide()
            return
        with self.prompt.interruptible():
            feed.subscribe(self.on_update)
            try:
                while not self.decide():
                    pass
            except PromptCancelled:
                if self.why_closed:
                    self.echo(self.why_closed)
            except EOFError:
                self.show_commands("left open; decide with one of:")
            finally:
                feed.unsubscribe()

    def on_update(self, update: Update | None) -> None:
        """From any thread: takes the prompt away once the intervention is closed, and warns before it expires."""
        if self.prompt.cancelled.is_set():
            return
        if update is None or not update.is_open(self.intervention_id):
            self.why_closed = self.reason_closed(update) if update is not None else ""
            self.prompt.cancel()
        elif self.events(update, "intervention.warned"):
            default = str(self.intervention.get("default_action"))
            until = self.intervention.get("timeout_at")
            self.prompt.notify(f"this is due soon: {default} without an answer until {until}")

    def reason_closed(self, update: Update) -> str:
        for event in self.events(update, "intervention.resolved", "intervention.expired"):
            return f"no longer open: {event_line(event)}"
        if update.has_ended:
            return f"no longer open: the session is {update.session.get('state')}"
        return "no longer open: it was decided elsewhere"

    def events(self, update: Update, *types: str) -> list[Mapping[str, Any]]:
        """The events of these types that are about this intervention."""
        return [
            event
            for event in update.events
            if event.get("type") in types
            and (event.get("data") or {}).get("intervention_id") == self.intervention_id
        ]

    def decide(self) -> bool:
        """Reads one decision and sends it. False if it was refused and another one may be accepted."""
        decision = read_decision(self.intervention, self.prompt.read, self.echo)
        try:
            self.client.decide(
                self.session_id, self.intervention_id, decision.option, input=decision.input or None
            )
        except ApiError as error:
            if error.status not in (400, 403, 409):
                raise
            self.echo(f"not taken: {visible(str(error), keep_newlines=False)}")
            if error.status == 403:
                self.show_who_may_decide()
            return error.status != 400
        return True

    def show_who_may_decide(self) -> None:
        for line in role_lines(self.client, self.invocation, self.session_id, self.intervention):
            self.echo(line)

    def show_commands(self, title: str) -> None:
        self.echo(title)
        for line in deciding_lines(self.invocation, self.session_id, self.intervention):
            self.echo(f"  {line}")


@dataclass(frozen=True)
class ChosenOption:
    """`input`: what the option needs besides its name."""

    option: str
    input: dict[str, Any] = field(default_factory=dict)


def read_decision(intervention: Mapping[str, Any], read: Read, echo: Echo) -> ChosenOption:
    """Asks until the person has named one of the options, and then for its input. Raises EOFError if they leave the
    question open.
    """
    option, said = read_option([str(option) for option in intervention.get("options") or []], read, echo)
    if said:
        return ChosenOption("answer", {"text": said})
    return ChosenOption(option, read_input(option, intervention, read, echo))


YES, NO = ("y", "yes"), ("n", "no")
MEANT = (*((word, ("approve", "continue")) for word in YES), *((word, ("reject", "cancel")) for word in NO))
"""The options that y and n stand for, in this order. `meant` says for which questions they stand for anything."""


def read_option(options: list[str], read: Read, echo: Echo) -> tuple[str, str]:
    """An option; or `answer` with the typed text, if `answer` is an option and the text names no other one.

    The beginning of an option is enough if no other option begins so. y and n do for a yes-or-no question.
    """
    shown = " / ".join(visible(option, keep_newlines=False) for option in options)
    before = "y / n, or " if meant("y", options) else "your answer, or " if "answer" in options else ""
    while True:
        line = read(f"{before}{shown} > ").strip()
        typed = line.lower()
        fitting = [option for option in options if typed and option.startswith(typed)]
        if typed in options:
            return typed, ""
        if len(fitting) == 1:
            return fitting[0], ""
        if option := meant(typed, options):
            return option, ""
        if line and "answer" in options:
            return "answer", line
        echo(f"Please type one of: {shown}")


def meant(typed: str, options: list[str]) -> str:
    """The option that y or n stands for; empty if it stands for none."""
    found = (option for option in dict(MEANT).get(typed, ()) if option in options)
    is_yes_or_no = bool({"approve", "continue"} & set(options))
    return next(found, "") if is_yes_or_no else ""


def read_input(option: str, intervention: Mapping[str, Any], read: Read, echo: Echo) -> dict[str, Any]:
    """The input that the option needs (docs/design/people.md 3); empty if it needs none."""
    if option == "answer":
        return {"text": read_text("your answer > ", read)}
    if option == "record":
        return {"result": read_text("what was the result > ", read)}
    if option == "modify":
        text = (intervention.get("tool_call") or {}).get("input_text")
        if text:
            echo(f"the input as it is: {visible(text, keep_newlines=False)}")
        return {"input": read_object("the tool's new input, as JSON > ", read, echo)}
    if option == "raise":
        return read_budget(intervention, read, echo)
    if option == "retry" and not intervention.get("tool_call"):
        hint = read("a hint for it, if you have one > ").strip()
        return {"hint": hint} if hint else {}
    return {}


def read_budget(intervention: Mapping[str, Any], read: Read, echo: Echo) -> dict[str, Any]:
    """Asks for a new value of each limit that is too low. An empty line takes what the next call needs."""
    needed = needed_limits(intervention)
    given: dict[str, Any] = {}
    if "token_budget" in needed or not needed:
        given["token_budget"] = read_number(
            "new token budget", needed.get("token_budget"), whole_number, read, echo
        )
    if "cost_budget_usd" in needed:
        dollars = needed["cost_budget_usd"]
        given["cost_budget_usd"] = read_number("new budget in US dollars", dollars, amount, read, echo)
    return given


def read_text(prompt: str, read: Read) -> str:
    """Asks until the line is not empty, and strips the spaces around it."""
    while not (text := read(prompt).strip()):
        pass
    return text


def read_object(prompt: str, read: Read, echo: Echo) -> dict[str, Any]:
    """Asks until a JSON object is typed. A number that cannot be taken exactly as it was typed is refused."""
    while True:
        try:
            return parse_object(read(prompt))
        except InvalidJson as error:
            echo(f'That is {visible(str(error))}. Type an object, such as {{"path": "notes.md"}}.')


def read_number(
    prompt: str, needed: float | None, number: Callable[[str], float | None], read: Read, echo: Echo
) -> float:
    """`needed`: the number that an empty line stands for, if any."""
    hint = f" (empty: {needed:,}, which the next call needs)" if needed is not None else ""
    while True:
        typed = read(f"{prompt}{hint} > ").strip().replace(",", "").replace("_", "")
        value = needed if not typed else number(typed)
        if value is not None:
            return value
        echo("Please give a number above 0.")


def whole_number(text: str) -> int | None:
    """The number, if it is above 0; else None."""
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None


def amount(text: str) -> float | None:
    """The number, if it is above 0 and finite; else None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None


EACH = ("e", "each")


def fit_together(client: Client, interventions: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there are several, and this person may decide each of them with y or n."""
    return len(interventions) > 1 and all(
        meant("y", list(one.get("options") or ())) and not lacks_role(client, one) for one in interventions
    )


@dataclass
class Questions:
    """Several yes-or-no questions with one prompt. `echo` prints a line."""

    client: Client
    interventions: Sequence[Mapping[str, Any]]
    echo: Echo

    def __post_init__(self) -> None:
        self.prompt = LinePrompt(self.echo)

    def ask(self, feed: Feed) -> bool:
        """False if the person wants to be asked one by one, or has left the questions open. Raises ClientError."""
        count = len(self.interventions)
        prompt = f"all {count}: y / n, or each > "
        with self.prompt.interruptible():
            feed.subscribe(self.on_update)
            try:
                while (typed := self.prompt.read(prompt).strip().lower()) not in (*YES, *NO, *EACH):
                    self.echo(f"Please type y for all {count}, n for none of them, or each")
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
        """From any thread: takes the prompt away once none of the questions is open."""
        ids = [str(one.get("intervention_id")) for one in self.interventions]
        if update is None or not any(map(update.is_open, ids)):
            self.prompt.cancel()

    def decide(self, intervention: Mapping[str, Any], option: str) -> None:
        identity = str(intervention.get("intervention_id"))
        try:
            self.client.decide(intervention["session_id"], identity, option)
        except ApiError as error:
            if error.status not in (400, 403, 409):
                raise
            self.echo(f"{identity} not taken: {visible(str(error), keep_newlines=False)}")
        else:
            self.echo(f"{identity}  {option}")
