"""Replies that were cut off at their length limit (design §9).

A call whose JSON is whole was written to its end: it counts like any other, and the model is told so. A call that was
cut off never runs and is asked for again. A text is continued once, in the next reply. After a second cut-off in a row
the model is told to work in smaller pieces.
"""

from collections.abc import Sequence

from acta_engine.log.conversation import AssistantEntry, Entry
from acta_engine.log.head import Head
from acta_engine.models.model import ModelReply
from acta_engine.turn.goal_marker import claims_completion

GO_ON = (
    "Your last reply was cut off at its length limit. Go on exactly where it stopped, with the very next character: "
    "repeat nothing, begin with no preamble. Both parts are read as one."
)
AGAIN = (
    "Your last reply was cut off at its length limit, and a call that was cut off was not run. Make that call again, "
    "whole and with little text before it."
)
NO_CALL = (
    "Your last reply was cut off at its length limit before it called anything. Make the call, with little text before "
    "it."
)
CALLS_STAND = (
    "Your last reply was cut off at its length limit, after its last call. All its calls were taken as they stand and "
    "have their results: repeat none because of the cut, and go on with what is missing."
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
    if is_first_half(reply, cut_offs, planning=planning):
        return GO_ON
    if reply.calls:
        return AGAIN if reply.calls[-1].input is None else CALLS_STAND
    return NO_CALL if reply.text.strip() else SMALLER


def is_first_half(reply: ModelReply, cut_offs: int, *, planning: bool) -> bool:
    """Whether the next reply is asked to be the rest of this one: it is the first cut off in a row, and all text."""
    return cut_offs == 1 and bool(reply.text.strip()) and not reply.calls and not planning


def first_half(head: Head, entries: Sequence[Entry]) -> AssistantEntry | None:
    """The reply that the next one was asked to go on with. `entries`: as the model was shown them, texts loaded."""
    asked_for = head.progress.continues
    if not asked_for:
        return None
    replies = (entry for entry in reversed(entries) if isinstance(entry, AssistantEntry))
    return next((reply for reply in replies if reply.message_id == asked_for), None)


def continued(first: AssistantEntry | None, reply: ModelReply) -> AssistantEntry | None:
    """`first` where the reply is the rest of it: one that claims the goal anew has begun from the start."""
    return None if first is None or not reply.text or claims_completion(reply.text) else first
