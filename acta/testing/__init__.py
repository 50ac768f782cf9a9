"""For tests of your own agents and tools: Acta in one process, with a scripted model (docs/own-tools.md)."""

from acta.testing.python_tools import WrongResult, call, load
from acta.testing.script import (
    ScriptedModel,
    ScriptError,
    asks,
    completes,
    fails,
    judges,
    plans,
    says,
    step,
    tool_call,
    uses,
)
from acta.testing.session import BadAgent, InProcessSession, ToolUse, run

__all__ = [
    "BadAgent",
    "InProcessSession",
    "ScriptError",
    "ScriptedModel",
    "ToolUse",
    "WrongResult",
    "asks",
    "call",
    "completes",
    "fails",
    "judges",
    "load",
    "plans",
    "run",
    "says",
    "step",
    "tool_call",
    "uses",
]
