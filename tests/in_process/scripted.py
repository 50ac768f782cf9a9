"""A model that says what a test tells it to, and remembers what it was asked."""

from collections.abc import Callable, Iterable
from typing import Any

from shared.ports.model import ModelReply, ModelRequest, RequestedCall, TokenUsage

Turn = ModelReply | Exception | Callable[[ModelRequest], ModelReply]

USAGE = TokenUsage(input=100, output=20, cached_input=40)


def call(name: str, **arguments: Any) -> RequestedCall:
    return RequestedCall(name, arguments)


def says(text: str, *calls: RequestedCall) -> ModelReply:
    return ModelReply(text=text, calls=calls, stop="tools" if calls else "end", usage=USAGE)


def plans(*steps: str, goal: str = "the goal", **more: Any) -> ModelReply:
    described = [{"description": step} for step in steps]
    return says("", call("update_plan", action="create", goal=goal, steps=described, **more))


def step(number: int, status: str, result: str | None = None) -> RequestedCall:
    told = {"step_result": result} if result is not None else {}
    return call("update_plan", action="update_step", step_number=number, step_status=status, **told)


def completes(answer: str, reason: str = "done") -> ModelReply:
    return says(f"GOAL_COMPLETE\n{answer}", call("update_plan", action="complete", reason=reason))


class ScriptedModel:
    """Answers in order; the last turn repeats when `forever`."""

    provider = "scripted"

    def __init__(self, turns: Iterable[Turn], *, forever: bool = False) -> None:
        self._turns = list(turns)
        self._forever = forever
        self.requests: list[ModelRequest] = []
        self.meanwhile: Callable[[], object] = lambda: None
        """Happens while the model thinks."""

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self.requests.append(request._replace(fallbacks=None))  # what the model is shown
        self.meanwhile()
        if not self._turns:
            raise AssertionError("the script has no more turns")
        turn = self._turns[0] if self._forever and len(self._turns) == 1 else self._turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn(request) if callable(turn) else turn
