"""A scripted model: it says what a test tells it to, and remembers what it was asked.

A script is a list of replies, one for each time the model is asked:

    [plans("Look the order up"), uses("lookup_order", order_id="7"), completes("Order 7 is on its way.")]
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from acta.engine.log.conversation import ToolEntry, UserEntry
from acta.engine.models.model import ModelReply, ModelRequest, RequestedCall, TokenUsage
from acta.engine.plans.plan import UPDATE_PLAN
from acta.engine.tools.builtin.search import USE_TOOL
from acta.engine.turn.judge import TOOL as VERDICT
from acta.engine.untrusted.validation_messages import did_you_mean

Reply = ModelReply | Exception | Callable[[ModelRequest], ModelReply]
"""What the model says, the error that is raised when it is asked, or a function from the request to what it says."""

USAGE = TokenUsage(input=100, output=20, cached_input=40)
"""The tokens of each reply."""
SHOWN_CHARS = 200


class ScriptError(AssertionError):
    """The script does not fit what happened. The text says where, and what the model was asked."""


def says(text: str, *calls: RequestedCall) -> ModelReply:
    """A reply with this text, and with any number of tool calls."""
    return ModelReply(text=text, calls=calls, stop="tools" if calls else "end", usage=USAGE)


def tool_call(tool: str, /, **arguments: Any) -> RequestedCall:
    """One call, for `says`."""
    return RequestedCall(tool, arguments)


def uses(tool: str, /, **arguments: Any) -> ModelReply:
    """A reply that is one call of a tool."""
    return says("", tool_call(tool, **arguments))


def plans(*steps: str, goal: str = "the goal", **more: Any) -> ModelReply:
    """A reply that makes a plan of these steps. `more`: further fields of `update_plan`."""
    described = [{"description": step} for step in steps]
    return says("", tool_call(UPDATE_PLAN, action="create", goal=goal, steps=described, **more))


def step(number: int, status: str, result: str | None = None) -> RequestedCall:
    """A call, for `says`, that sets a plan step's status: `in_progress`, `completed`, `failed` or `skipped`."""
    told = {"step_result": result} if result is not None else {}
    return tool_call(UPDATE_PLAN, action="update_step", step_number=number, step_status=status, **told)


def asks(question: str) -> ModelReply:
    """A reply that asks the user. The session waits for the answer."""
    return says("", tool_call(UPDATE_PLAN, action="wait_for_user", reason=question))


def completes(answer: Any, reason: str = "done") -> ModelReply:
    """The last reply: the goal is reached, and this is the answer: a text, or what is sent as JSON."""
    said = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return says(f"GOAL_COMPLETE\n{said}", tool_call(UPDATE_PLAN, action="complete", reason=reason))


def fails(reason: str) -> ModelReply:
    """The last reply: the goal cannot be reached."""
    return says("", tool_call(UPDATE_PLAN, action="fail", reason=reason))


def judges(met: bool, reason: str) -> ModelReply:
    """The verdict of the agent's judge, where the script has reached its answer: whether the goal is met, and why."""
    return says("", tool_call(VERDICT.name, met=met, reason=reason))


class ScriptedModel:
    """Answers in order. `forever`: the last reply repeats. `any_tool`: the script may use tools that the agent does not
    have, to see what happens then.
    """

    provider = "scripted"

    def __init__(
        self, script: Iterable[Reply], *, forever: bool = False, any_tool: bool = False, agent: str = ""
    ) -> None:
        """`agent`: whose model it is, for messages."""
        self._of = f" of {agent}" if agent else ""
        self._script = list(script)
        self._forever = forever
        self._any_tool = any_tool
        self.requests: list[ModelRequest] = []
        """What the model was asked, oldest first."""
        self.meanwhile: Callable[[], object] = lambda: None
        """Called while the model thinks."""

    @property
    def left(self) -> Sequence[Reply]:
        """The replies of the script that nobody has asked for yet."""
        return () if self._forever else tuple(self._script)

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        """Raises ScriptError, and the script's exceptions."""
        self.requests.append(request._replace(fallbacks=None))  # only what the model is shown
        self.meanwhile()
        if not self._script:
            raise ScriptError(
                f"The model{self._of} was asked for a reply too many: its script has none left for reply "
                f"{len(self.requests)}. {_asked(request)} Most scripts end with completes(…)."
            )
        turn = self._script[0] if self._forever and len(self._script) == 1 else self._script.pop(0)
        if isinstance(turn, Exception):
            raise turn
        reply = turn(request) if callable(turn) else turn
        if not self._any_tool:
            self._check(reply, request)
        return reply

    def _check(self, reply: ModelReply, request: ModelRequest) -> None:
        """Raises ScriptError for a tool that is not offered."""
        offered = [tool.name for tool in request.tools]
        unknown = next((call.name for call in reply.calls if call.name not in offered), None)
        if unknown is None or USE_TOOL in offered:  # then others that the agent has can be called as well
            return
        if offered == [VERDICT.name]:
            raise ScriptError(
                f"Reply {len(self.requests)} of the script{self._of} is {in_words(reply)}, and here the agent's judge "
                "is asked, who says judges(…)."
            )
        raise ScriptError(
            f"Reply {len(self.requests)} of the script{self._of} uses {unknown}, which this agent does not have. "
            f"{did_you_mean(unknown, offered)}"
        )


def in_words(reply: Reply) -> str:
    """A reply of a script in the words of an error message."""
    if isinstance(reply, Exception):
        return f"the error {type(reply).__name__}"
    if not isinstance(reply, ModelReply):
        return "a function of the request"
    if reply.calls:
        return " and ".join(_call_in_words(call) for call in reply.calls)
    return f"the text “{_beginning(reply.text)}”"


def _call_in_words(call: RequestedCall) -> str:
    if call.name != UPDATE_PLAN:
        return "a verdict" if call.name == VERDICT.name else f"a call of {call.name}"
    action = (call.input or {}).get("action")
    known = {"create": "a plan", "complete": "the final answer", "wait_for_user": "a question"}
    return known.get(str(action), "a change of the plan")


def _asked(request: ModelRequest) -> str:
    """The last entry of the request, in the words of an error message."""
    match request.entries[-1] if request.entries else None:
        case ToolEntry(name=name, content=content, ok=False):
            return f"It had just got the result of {name}, which failed: “{_beginning(content.text or '')}”."
        case ToolEntry(name=name):
            return f"It had just got the result of {name}."
        case UserEntry(content=content):
            return f"It had just got the message “{_beginning(content.text or '')}”."
    return "It had just said something itself."


def _beginning(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
