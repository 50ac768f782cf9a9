"""Putting an open intervention before the person at the terminal, and reading the decision."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from infra.cli.text import exact_json, visible

TITLES = {
    "approval_required": "The agent asks for permission.",
    "clarification_needed": "The agent needs to know something.",
    "error_recovery": "The agent is stuck or a call's outcome is unknown.",
    "checkpoint_review": "The session pauses for a review.",
    "budget_exceeded": "The session's budget is used up.",
}

Read = Callable[[str], str]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Decision:
    option: str
    input: dict[str, Any] = field(default_factory=dict)

    def to_body(self) -> dict[str, Any]:
        return {"option": self.option, **({"input": self.input} if self.input else {})}


class NoDecision(Exception):
    """The person left the question open (end of input)."""


def question_lines(intervention: Mapping[str, Any]) -> Iterator[str]:
    """What a person must see to decide: the whole exact input of a tool call, hidden characters shown."""
    kind = str(intervention.get("type", ""))
    yield TITLES.get(kind, f"The session waits: {visible(kind, keep_newlines=False)}")
    for name, value in (intervention.get("context") or {}).items():
        if value is None or value is False:
            continue
        text = visible(value) if isinstance(value, str) else exact_json(value)
        # set off, so that no line of it passes for one of ours
        yield "\n  | ".join([f"{visible(str(name), keep_newlines=False)}:", *text.split("\n")])
    call = intervention.get("tool_call")
    if call:
        yield f"tool: {visible(str(call.get('name')), keep_newlines=False)}"
        yield f"input: {exact_json(call.get('input'))}"
    if intervention.get("timeout_at"):
        default = visible(str(intervention.get("default_action")), keep_newlines=False)
        yield f"without an answer until {intervention['timeout_at']}: {default}"


def decide(intervention: Mapping[str, Any], read: Read, say: Say) -> Decision:
    """Asks until the answer is one of the options; raises NoDecision at the end of input."""
    options = [str(option) for option in intervention.get("options") or []]
    try:
        option = choose(options, read, say)
        return Decision(option, option_input(option, read, say))
    except EOFError:
        raise NoDecision from None


def choose(options: list[str], read: Read, say: Say) -> str:
    """An unambiguous beginning of an option is enough."""
    shown = " / ".join(visible(option, keep_newlines=False) for option in options)
    while True:
        typed = read(f"{shown} > ").strip().lower()
        fitting = [option for option in options if typed and option.startswith(typed)]
        if typed in options:
            return typed
        if len(fitting) == 1:
            return fitting[0]
        say(f"Please type one of: {shown}")


def option_input(option: str, read: Read, say: Say) -> dict[str, Any]:
    """What an option needs besides its name (design §8)."""
    if option == "answer":
        return {"text": non_empty("your answer > ", read)}
    if option == "record":
        return {"result": non_empty("what was the result > ", read)}
    if option == "modify":
        return {"input": json_object("the tool's new input, as JSON > ", read, say)}
    if option == "raise":
        return {"token_budget": positive_number("new token budget > ", read, say)}
    return {}


def non_empty(prompt: str, read: Read) -> str:
    while not (text := read(prompt).strip()):
        pass
    return text


def json_object(prompt: str, read: Read, say: Say) -> dict[str, Any]:
    while True:
        try:
            value = json.loads(read(prompt))
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
        say('That is not a JSON object, such as {"path": "notes.md"}.')


def positive_number(prompt: str, read: Read, say: Say) -> int:
    while True:
        text = read(prompt).strip().replace(",", "").replace("_", "")
        if text.isascii() and text.isdigit() and int(text) > 0:
            return int(text)
        say("That is not a whole number above 0.")
