"""Tools for a model that has none: thought, action, observation, in JSON (design §9).

Wraps any model. What it returns is what a model with tools would have: one call, or a text that completes the run.
A reply that cannot be read is a call too, of `UNREADABLE` and malformed, so that it is never run, keeps its place
in the log and in the trace with the reply as its thought, and is answered with what was wrong; the rules against
running in circles (design §5) see it as a call that keeps failing, and so bound it.
"""

from shared.adapters.llm.react.reply import Action, FinalAnswer, Unreadable, read_reply
from shared.adapters.llm.react.request import UNREADABLE, to_inner, what_was_wrong
from shared.domain.definitions.builtins import UPDATE_PLAN
from shared.domain.rules.next_action import GOAL_COMPLETE, claims_completion
from shared.ports.model import Model, ModelReply, ModelRequest, RequestedCall, StopReason


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
            step = _read(reply, request.tool_choice)
        except Unreadable as error:
            return _unreadable(reply, str(error))
        match step:
            case Action():
                return _acting(reply, step)
            case FinalAnswer():
                return reply._replace(text=_completing(step.text), thinking=step.thought, stop="end")


def _read(reply: ModelReply, tool_choice: str) -> Action | FinalAnswer:
    if reply.stop == "max_tokens":
        raise Unreadable("it was cut off at the output limit; be shorter, or do it in smaller pieces")
    if reply.stop == "pause":
        raise Unreadable("it was not finished")
    if reply.calls:
        raise Unreadable("it calls a tool in another way than by the JSON object")
    step = read_reply(reply.text)
    if isinstance(step, FinalAnswer) and tool_choice != "auto":
        raise Unreadable(f"only the action {tool_choice} is possible now, and no final_answer")
    return step


def _unreadable(reply: ModelReply, reason: str) -> ModelReply:
    """The words stay out of `text`: they may begin with the marker, or end with a question, by accident."""
    wrong = RequestedCall(UNREADABLE, None, what_was_wrong(reason))
    said = reply.text or ", ".join(call.name for call in reply.calls)
    stop: StopReason = "max_tokens" if reply.stop == "max_tokens" else "tools"
    return reply._replace(text="", thinking=said, calls=(wrong,), stop=stop)


def _acting(reply: ModelReply, step: Action) -> ModelReply:
    """The thought is what a model with tools says beside its call, except where that would be taken for the
    answer: beside the end of a plan, or when it begins with the marker. Then it is kept as thinking."""
    call = RequestedCall(step.name, step.input)
    ends = step.name == UPDATE_PLAN and step.input.get("action") == "complete"
    if ends or claims_completion(step.thought):
        return reply._replace(text="", thinking=step.thought, calls=(call,), stop="tools")
    thinking = reply.thinking if step.thought.strip() else ""
    return reply._replace(text=step.thought, thinking=thinking, calls=(call,), stop="tools")


def _completing(answer: str) -> str:
    return answer.lstrip() if claims_completion(answer) else f"{GOAL_COMPLETE}\n{answer}"
