"""What the head knows of a call of the last reply, until every call of it has its result (design §6.3)."""

from typing import Any, Literal

from shared.domain.session.conversation import ToolCall
from shared.domain.value import Value


class OpenCall(Value):
    """A call of the last reply. `withheld`: a person has to approve it first, or to say whether it happened;
    `amended`: that person's input, to be run instead of the model's; `tries`: how often a person had it run again;
    `starter`: the attempt that logged the start, so that it knows its own after a lost answer; `approval`: whether a
    person has to let it run, stored with the call itself, so that no way past the question is a way into the tool.
    """

    call_id: str
    name: str
    state: Literal["ready", "withheld", "started", "done"] = "ready"
    amended: dict[str, Any] | None = None
    tries: int = 0
    starter: str = ""
    approval: Literal["", "needed", "given"] = ""

    @property
    def may_act(self) -> bool:
        """Whether it has started and not ended: it runs, or its end is unknown and a person has been asked."""
        return self.state == "started" or (self.state == "withheld" and self.starter != "")


def effective(call: ToolCall, open_call: OpenCall) -> dict[str, Any] | None:
    """The input that runs: a person's amendment, else the model's."""
    return open_call.amended if open_call.amended is not None else call.input
