"""What a provider's stop means for the run (design §9): the one table for all providers.

    end         the reply is whole
    tools       it is whole and asks for calls
    max_tokens  it was cut off, at the output limit or because the model's window is full: a call that was cut is
                never run, what is whole is kept, and Think goes on, told to take smaller pieces
    pause       the provider wants to be asked again: the reply is kept as it is, nothing in it counts as an answer,
                and Think goes on
    refusal     the model or the provider's filter declined: the run ends with `MODEL_REFUSED`

A word that is not here is an end: a reply without one is broken, and never comes this far.
"""

from collections.abc import Mapping

from shared.ports.model import StopReason

Stops = Mapping[str, StopReason]

ANTHROPIC: Stops = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "pause_turn": "pause",
    "refusal": "refusal",
}
"""`stop_reason`, on Bedrock too. Only server tools cause `pause_turn`, and none are offered."""

CHAT: Stops = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "max_tokens",
    "content_filter": "refusal",
}
"""`finish_reason`. A full window is a `length` as well."""

RESPONSES: Stops = {
    "completed": "end",
    "max_output_tokens": "max_tokens",
    "incomplete": "max_tokens",
    "max_messages": "pause",
    "steered": "pause",
    "content_filter": "refusal",
}
"""The reason a response is incomplete, else its status."""

POLICY = frozenset({"bio_policy", "misalignment_policy_violation"})
"""Errors of a failed response that say that it was declined."""


def meaning(stops: Stops, word: str, *, calls: bool) -> StopReason:
    """`calls`: whether the reply has some; one that was forced to call ends like any other."""
    stop = stops.get(word, "end")
    return "tools" if calls and stop == "end" else stop
