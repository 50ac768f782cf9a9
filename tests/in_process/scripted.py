"""The product's scripted model (`acta.testing`), by the short names of our own tests."""

from collections.abc import Iterable

from acta.testing import script
from acta.testing.script import USAGE as USAGE
from acta.testing.script import Reply as Turn
from acta.testing.script import completes as completes
from acta.testing.script import plans as plans
from acta.testing.script import says as says
from acta.testing.script import step as step
from acta.testing.script import tool_call as call

__all__ = ["USAGE", "ScriptedModel", "Turn", "call", "completes", "plans", "says", "step"]


class ScriptedModel(script.ScriptedModel):
    """One that may use tools that the agent does not have."""

    def __init__(self, turns: Iterable[Turn], *, forever: bool = False) -> None:
        super().__init__(turns, forever=forever, any_tool=True)
