"""Putting an open intervention before the person at the terminal, and reading the decision."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from acta.cli.rows import Screen, set_off
from acta.cli.text import exact_json, one_line, visible

TITLES = {
    "approval_required": "The agent asks for permission.",
    "clarification_needed": "The agent needs to know something.",
    "error_recovery": "The agent is stuck or a call's outcome is unknown.",
    "checkpoint_review": "The session pauses for a review.",
    "budget_exceeded": "The session's budget is used up.",
}

SPEAKERS = {"agent": "the agent asks", "acta": "Acta says", "person": "a person says"}

MAX_LABEL = 64
"""A tool's longest name."""
ANY_SCREEN = Screen()

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


def question_lines(intervention: Mapping[str, Any], screen: Screen = ANY_SCREEN) -> Iterator[str]:
    """What a person must see to decide: whose words are whose, the whole exact input of a tool call, hidden
    characters shown. What is foreign is set off, so that no row of it passes for one of ours; and what the decision
    is about is told once more below it all.
    """
    kind = str(intervention.get("type", ""))
    yield TITLES.get(kind, f"The session waits: {visible(kind, keep_newlines=False)}")
    context = dict(intervention.get("context") or {})
    asked_by = SPEAKERS.get(str(context.pop("asked_by", "")), "question")
    labels = {"question": asked_by, "agent_said": "the agent says"}
    calls = context.pop("calls", None) or []
    named = [str(call) for call in calls if not isinstance(call, dict)]
    if named:  # an earlier release told no more of them
        context["calls"] = named
    for name, value in context.items():
        if value is None or value is False:
            continue
        text = visible(value) if isinstance(value, str) else exact_json(value)
        label = labels.get(str(name)) or one_line(str(name), MAX_LABEL)
        yield "\n".join([f"{label}:", *set_off(text, screen)])
    asked = [call for call in [intervention.get("tool_call"), *calls] if isinstance(call, dict)]
    for call in asked:
        yield f"tool: {one_line(call.get('name'), MAX_LABEL)}"
        yield "\n".join(["input:", *set_off(exact_json(call.get("input")), screen)])
    if intervention.get("role"):
        yield f"to decide needs the role: {visible(str(intervention['role']), keep_newlines=False)}"
    if intervention.get("timeout_at"):
        default = visible(str(intervention.get("default_action")), keep_newlines=False)
        yield f"without an answer until {intervention['timeout_at']}: {default}"
    for call in asked:
        bound = f", input {one_line(call['input_hash'], MAX_LABEL)}" if call.get("input_hash") else ""
        yield f"to decide on: {one_line(call.get('name'), MAX_LABEL)}{bound}"


def decide(intervention: Mapping[str, Any], read: Read, say: Say) -> Decision:
    """Asks until the answer is one of the options; raises NoDecision at the end of input."""
    options = [str(option) for option in intervention.get("options") or []]
    try:
        option = choose(options, read, say)
        return Decision(option, option_input(option, intervention, read, say))
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


def option_input(option: str, intervention: Mapping[str, Any], read: Read, say: Say) -> dict[str, Any]:
    """What an option needs besides its name (design §8)."""
    if option == "answer":
        return {"text": non_empty("your answer > ", read)}
    if option == "record":
        return {"result": non_empty("what was the result > ", read)}
    if option == "modify":
        return {"input": json_object("the tool's new input, as JSON > ", read, say)}
    if option == "raise":
        return higher_budget(intervention.get("context") or {}, read, say)
    if option == "retry" and not intervention.get("tool_call"):
        hint = read("a hint for it, if you have one > ").strip()
        return {"hint": hint} if hint else {}
    return {}


def higher_budget(context: Mapping[str, Any], read: Read, say: Say) -> dict[str, Any]:
    """A session without a limit of cost is asked for tokens alone; otherwise either will do."""
    if context.get("cost_budget_usd") is None:
        return {"token_budget": positive_number("new token budget > ", read, say)}
    while True:
        tokens = read("new token budget (empty: as it is) > ").strip().replace(",", "").replace("_", "")
        dollars = read("new cost budget in US dollars (empty: as it is) > ").strip()
        given: dict[str, Any] = {}
        if tokens:
            given["token_budget"] = whole(tokens)
        if dollars:
            given["cost_budget_usd"] = amount(dollars)
        if given and None not in given.values():
            return given
        say("Please give at least one of them, a number above 0.")


def whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None


def amount(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None


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
        value = whole(read(prompt).strip().replace(",", "").replace("_", ""))
        if value is not None:
            return value
        say("That is not a whole number above 0.")
