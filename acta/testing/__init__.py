"""For tests of your own agents and tools: Acta in one process, with a scripted model (docs/own-tools.md)."""

try:
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
    from acta.testing.session import BadAgent, CalledAgent, InProcessSession, ToolUse, run
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] == "acta":
        raise
    raise ModuleNotFoundError(
        f"{error.name} is missing: acta.testing needs pip install 'acta-agents[testing]'", name=error.name
    ) from error

__all__ = [
    "BadAgent",
    "CalledAgent",
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
