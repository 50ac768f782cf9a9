"""Parses a ReAct reply, strictly: one JSON object, bare or in one code block, with nothing before or after it."""

from typing import Any, NamedTuple

from acta_engine.models.common.tool_arguments import InvalidJson, parse_object
from acta_engine.turn.structured_answer import without_code_block

_ACTION_KEYS = {"thought", "action", "action_input"}
_ANSWER_KEYS = {"thought", "final_answer"}
_SHOWN_KEY_CHARS = 40


class Unreadable(Exception):
    """The reply has neither form. The message completes "Your reply could not be read: …", for the model."""


class Action(NamedTuple):
    """`name`: of the tool."""

    thought: str
    name: str
    input: dict[str, Any]


class FinalAnswer(NamedTuple):
    thought: str
    text: str


def parse_reply(text: str) -> Action | FinalAnswer:
    """Raises Unreadable."""
    found = _object(text)
    _check_keys(set(found))
    thought = _string(found, "thought")
    if "final_answer" in found:
        return FinalAnswer(thought, _nonblank(found, "final_answer"))
    arguments = found["action_input"]
    if not isinstance(arguments, dict):
        raise Unreadable("action_input is not a JSON object")
    return Action(thought, _nonblank(found, "action").strip(), arguments)


def _object(text: str) -> dict[str, Any]:
    stripped = text.strip()
    if not stripped:
        raise Unreadable("it is empty")
    try:
        return parse_object(without_code_block(stripped))
    except InvalidJson as error:
        begins = stripped.startswith(("{", "```"))
        hint = "" if begins else "; it has to begin with { and must have no text before that"
        raise Unreadable(f"it is {error}{hint}") from None


def _check_keys(keys: set[str]) -> None:
    if keys in (_ACTION_KEYS, _ANSWER_KEYS):
        return
    unknown = sorted(keys - _ACTION_KEYS - _ANSWER_KEYS)
    if unknown:
        raise Unreadable(f"it has the unknown key {unknown[0][:_SHOWN_KEY_CHARS]!r}")
    if "final_answer" in keys and keys & {"action", "action_input"}:
        raise Unreadable("it has both an action and a final_answer; only one of them is possible")
    wanted = _ANSWER_KEYS if "final_answer" in keys else _ACTION_KEYS
    raise Unreadable(f"it lacks {' and '.join(sorted(wanted - keys))}")


def _string(found: dict[str, Any], key: str) -> str:
    value = found[key]
    if not isinstance(value, str):
        raise Unreadable(f"{key} is not a string")
    return value


def _nonblank(found: dict[str, Any], key: str) -> str:
    value = _string(found, key)
    if not value.strip():
        raise Unreadable(f"{key} is empty")
    return value
