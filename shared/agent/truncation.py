"""A reply that was cut off at its length limit (design §9): nothing of it is taken for complete. A text is gone on with
once; what was cut off again in a row, and any call, the model is told to do in smaller pieces.
"""

from collections.abc import Sequence

from shared.domain.continuation import claims_completion
from shared.domain.conversation import AssistantEntry, Entry
from shared.domain.session import Head
from shared.ports.model import ModelReply

GO_ON = (
    "Your last reply was cut off at its length limit. Go on exactly where it stopped, with the very next character: "
    "repeat nothing, begin with no preamble. Both parts are read as one."
)
AGAIN = (
    "Your last reply was cut off at its length limit, and a call that was cut off was not run. Make that call again, "
    "whole and with little text before it."
)
SMALLER = (
    "Your replies are cut off at their length limit; what was cut off was not run. Work in smaller pieces: shorter "
    "texts, and large content in several calls."
)


def advice(reply: ModelReply, cut_offs: int, *, planning: bool) -> str:
    """What the next turn tells the model. `cut_offs`: replies cut off in a row, this one included; 0: it is whole."""
    if not cut_offs:
        return ""
    if cut_offs > 1:
        return SMALLER
    if reply.text.strip() and not reply.calls and not planning:
        return GO_ON
    return AGAIN if reply.calls or reply.text.strip() else SMALLER


def beginning(head: Head, entries: Sequence[Entry]) -> AssistantEntry | None:
    """The reply that the next one was asked to go on with. `entries`: as the model was shown them, texts loaded."""
    if GO_ON not in head.progress.hint:
        return None
    last = next((entry for entry in reversed(entries) if isinstance(entry, AssistantEntry)), None)
    return None if last is None or last.calls else last


def goes_on(first: AssistantEntry | None, reply: ModelReply) -> AssistantEntry | None:
    """`first` where the reply is the rest of it: one that claims the goal anew has begun from the start."""
    return None if first is None or not reply.text or claims_completion(reply.text) else first
