"""Tools for a model that has none: thought, action, observation, written as JSON (ReAct).

It wraps any model and returns what a model with tools would: one call, or a text that completes the run.

A reply that cannot be read becomes a malformed call of `UNREADABLE`. Such a call never runs, has its place in the log
and in the trace, and its result tells the model what was wrong. Loop detection sees a call that keeps failing, and so
ends a run in which no reply can be read.
"""

from acta_engine.models.model import Model, ModelReply, ModelRequest, RequestedCall, StopReason
from acta_engine.models.react.reply import Action, FinalAnswer, Unreadable, parse_reply
from acta_engine.models.react.request import UNREADABLE, feedback, to_inner
from acta_engine.tools.builtin.specs import UPDATE_PLAN
from acta_engine.turn.goal_marker import GOAL_COMPLETE, claims_completion


class ReActModel:
    def __init__(self, inner: Model) -> None:
        self._inner = inner

    @property
    def provider(self) -> str:
        return self._inner.provider

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        reply = self._inner.complete(to_inner(request), timeout=timeout)._replace(raw=None)
        if reply.stop == "refusal":
            return reply._replace(calls=())
        try:
            step = _parse(reply, request.tool_choice)
        except Unreadable as error:
            return _unreadable(reply, str(error))
        match step:
            case Action():
                return _with_call(reply, step)
            case FinalAnswer():
                return reply._replace(text=_completing(step.text), thinking=step.thought, stop="end")


def _parse(reply: ModelReply, tool_choice: str) -> Action | FinalAnswer:
    if reply.stop == "max_tokens":
        raise Unreadable("it was cut off at the output limit; be shorter, or do it in smaller pieces")
    if reply.stop == "pause":
        raise Unreadable("it was not finished")
    if reply.calls:
        raise Unreadable("it calls a tool in another way than by the JSON object")
    step = parse_reply(reply.text)
    if isinstance(step, FinalAnswer) and tool_choice != "auto":
        raise Unreadable(f"only the action {tool_choice} is possible now, and no final_answer")
    return step


def _unreadable(reply: ModelReply, reason: str) -> ModelReply:
    """The words become `thinking`. As `text` they could by accident complete the run or ask the user a question."""
    call = RequestedCall(UNREADABLE, None, feedback(reason))
    words = reply.text or ", ".join(call.name for call in reply.calls)
    stop: StopReason = "max_tokens" if reply.stop == "max_tokens" else "tools"
    return reply._replace(text="", thinking=words, calls=(call,), stop=stop)


def _with_call(reply: ModelReply, step: Action) -> ModelReply:
    """The thought is the text beside the call. But it becomes `thinking` where it could be taken for the run's answer:
    beside the end of a plan, or where it begins with the marker.
    """
    call = RequestedCall(step.name, step.input)
    ends_plan = step.name == UPDATE_PLAN and step.input.get("action") == "complete"
    if ends_plan or claims_completion(step.thought):
        return reply._replace(text="", thinking=step.thought, calls=(call,), stop="tools")
    thinking = reply.thinking if step.thought.strip() else ""
    return reply._replace(text=step.thought, thinking=thinking, calls=(call,), stop="tools")


def _completing(answer: str) -> str:
    return answer.lstrip() if claims_completion(answer) else f"{GOAL_COMPLETE}\n{answer}"
