"""A tool call's input as the model wrote it, trusted to be nothing.

A cut-off answer is the dangerous case: what is left of its JSON may parse into something else. The text
counts only if all of it is one JSON object; anything else becomes `malformed`, which goes back to the model.
"""

from shared.adapters.llm.strict_json import NotJson, parse_object
from shared.ports.model import RequestedCall

CUT_OFF = "the input was cut off at the output limit"


def requested(name: str, text: str, *, cut: bool) -> RequestedCall:
    """`cut`: the answer ended at `max_tokens` and this was its last call."""
    name = readable(name)
    if not text.strip():
        # no input at all is how providers write `{}`, unless they were stopped before they could write it
        return RequestedCall(name, None, CUT_OFF) if cut else RequestedCall(name, {})
    try:
        return RequestedCall(name, parse_object(text))
    except NotJson as error:
        return RequestedCall(name, None, CUT_OFF if cut else f"the input is {error}")


def readable(text: str) -> str:
    """The text with halves of surrogate pairs joined, and lone ones replaced: it can be stored as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def storable(text: object) -> str | None:
    """The text as it was meant, halves of surrogate pairs joined; None: it is none, or would have to be altered."""
    if not isinstance(text, str):
        return None
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None
