"""A ReAct reply, strictly parsed: one JSON block, perhaps between code fences, and nothing behind it."""

import hashlib
import re
from typing import Any, NamedTuple

from shared.adapters.llm.common.tool_arguments import NotJson, parse_object

_BLOCK = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n(?P<inside>.*)\r?\n[ \t]*```", re.DOTALL)
_ACTING = {"thought", "action", "action_input"}
_ANSWERING = {"thought", "final_answer"}
_SHOWN = 40


class Unreadable(Exception):
    """The reply fits neither form; the message says why, for the model."""


class Action(NamedTuple):
    thought: str
    name: str
    input: dict[str, Any]


class FinalAnswer(NamedTuple):
    thought: str
    text: str


def read_reply(text: str) -> Action | FinalAnswer:
    """Raises Unreadable."""
    found = _object(text)
    _check_keys(set(found))
    thought = _string(found, "thought")
    if "final_answer" in found:
        return FinalAnswer(thought, _filled(found, "final_answer"))
    arguments = found["action_input"]
    if not isinstance(arguments, dict):
        raise Unreadable("action_input is not a JSON object")
    return Action(thought, _filled(found, "action").strip(), arguments)


def _object(text: str) -> dict[str, Any]:
    stripped = text.strip()
    if not stripped:
        raise Unreadable("it is empty")
    block = _BLOCK.fullmatch(stripped)
    try:
        return parse_object(block["inside"] if block is not None else stripped)
    except NotJson as error:
        raise Unreadable(f"it is {error}{_hint(stripped)}") from None


def _hint(text: str) -> str:
    if not text.startswith(("{", "```")):
        return "; it has to begin with { and must have no text before that"
    return ""


def _check_keys(keys: set[str]) -> None:
    if keys in (_ACTING, _ANSWERING):
        return
    unknown = sorted(keys - _ACTING - _ANSWERING)
    if unknown:
        raise Unreadable(f"it has the unknown key {unknown[0][:_SHOWN]!r}")
    if "final_answer" in keys and keys & {"action", "action_input"}:
        raise Unreadable("it has both an action and a final_answer; only one of them is possible")
    wanted = _ANSWERING if "final_answer" in keys else _ACTING
    raise Unreadable(f"it lacks {' and '.join(sorted(wanted - keys))}")


def _string(found: dict[str, Any], key: str) -> str:
    value = found[key]
    if not isinstance(value, str):
        raise Unreadable(f"{key} is not a string")
    return value


def _filled(found: dict[str, Any], key: str) -> str:
    value = _string(found, key)
    if not value.strip():
        raise Unreadable(f"{key} is empty")
    return value


MARK_DIGITS = 8


def quoted(origin: str, text: str) -> str:
    """`origin` is the runtime's word for who speaks, without brackets or line breaks. The text is unchanged."""
    mark = _mark(text)
    return f"[{origin} #{mark}]\n{text}\n[end #{mark}]"


def _mark(text: str) -> str:
    seed, known = text.encode("utf-8", "surrogatepass"), text.lower()
    while True:
        seed = hashlib.sha256(seed).digest()
        mark = seed.hex()[:MARK_DIGITS]
        if mark not in known:
            return mark
