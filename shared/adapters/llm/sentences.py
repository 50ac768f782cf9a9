"""Failures that only the provider's sentence tells: an ordinary 400 by name and status.

Sentences change, so a name decides wherever there is one. Nothing of what is read here is repeated.
"""

BALANCE = "credit_balance"
TOO_LONG = "context_length_exceeded"
"""OpenAI's name for a prompt over the window, and that of many compatible servers."""
OVER_THE_SLOT = "exceed_context_size_error"
"""llama.cpp's, which some of its versions answer with 500."""

_READ = 1_000
"""Characters; what comes behind them may quote the request."""
_MEANT = {
    "credit balance": BALANCE,
    "specified api usage limits": BALANCE,
    "prompt is too long": TOO_LONG,
    "input is too long": TOO_LONG,
    "exceed context limit": TOO_LONG,
    "maximum context length": TOO_LONG,
    "maximum model length": TOO_LONG,
    "maximum prompt length": TOO_LONG,
    "the model's context length": TOO_LONG,
    "greater than the context length": TOO_LONG,
    "available context size": OVER_THE_SLOT,
}


def told(message: object) -> str | None:
    """The name for what a sentence says; None: nothing that is known."""
    said = message[:_READ].lower() if isinstance(message, str) else ""
    return next((name for words, name in _MEANT.items() if words in said), None)


def message_of(body: object) -> object:
    """Of an error as its server sent it: an object, or the sentence alone."""
    return body.get("message") if isinstance(body, dict) else body
