"""How a scenario is written: what a model says turn by turn, what people answer, and how it has to end.

Neutral as to how it is played: over the wire against a deployment, or in one process (`make bench` counts there).
"""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple


class Call(NamedTuple):
    name: str
    input: dict[str, Any]


class Say(NamedTuple):
    """One reply of the model."""

    text: str = ""
    calls: tuple[Call, ...] = ()


class Decision(NamedTuple):
    """What a person is asked, and what they choose; `given` is the option's input."""

    type: str
    option: str
    given: Mapping[str, str] = MappingProxyType({})


class Scenario(NamedTuple):
    """`says` is used up when the run has ended. `ends`: state, then whether the goal is met, or a failed run's code."""

    name: str
    goal: str
    says: tuple[Say, ...]
    ends: tuple[str, bool | str] = ("completed", True)
    decisions: tuple[Decision, ...] = ()
    files: Mapping[str, str] = MappingProxyType({})
    limits: Mapping[str, int] = MappingProxyType({})
    protocol: Literal["native", "react"] = "native"


def plan(*steps: str) -> Call:
    described = [{"description": step} for step in steps]
    return Call("update_plan", {"action": "create", "goal": "What was asked for", "steps": described})


def step(number: int, status: str = "completed", result: str | None = "Seen to.") -> Call:
    told = {"step_result": result} if status == "completed" else {}
    update = {"action": "update_step", "step_number": number, "step_status": status, **told}
    return Call("update_plan", update)


def settled(results: Mapping[int, str], **closing: str) -> Call:
    """One update that completes these steps. `closing`: action and reason, if it closes the plan as well."""
    steps = [{"step_number": number, "step_result": result} for number, result in results.items()]
    return Call("update_plan", {"action": "update_step", "steps": steps, **closing})


def question(text: str) -> Call:
    return Call("update_plan", {"action": "wait_for_user", "reason": text})


def do(*calls: Call, text: str = "") -> Say:
    return Say(text, calls)


def end(answer: str, *steps: int) -> Say:
    """Closes these steps and the plan."""
    complete = Call("update_plan", {"action": "complete", "reason": answer})
    return Say(f"GOAL_COMPLETE\n{answer}", (*map(step, steps), complete))


def acts(thought: str, call: Call) -> Say:
    """A reply of a model that knows no tools."""
    return Say(json.dumps({"thought": thought, "action": call.name, "action_input": call.input}))


def concludes(thought: str, answer: str) -> Say:
    return Say(json.dumps({"thought": thought, "final_answer": answer}))


def listing(path: str = "") -> Call:
    return Call("list_files", {"path": path} if path else {})


def read(path: str) -> Call:
    return Call("read_file", {"path": path})


def write(path: str, content: str = "text") -> Call:
    return Call("create_file", {"path": path, "content": content})


def answered(text: str) -> Decision:
    return Decision("clarification_needed", "answer", {"text": text})
