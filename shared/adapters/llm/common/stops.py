"""What a provider's stop means for the run (design §9): the one table for all providers.

    end         the reply is whole
    tools       it is whole and asks for calls
    max_tokens  it was cut off, at the output limit or because the model's window is full: a call that was cut is
                never run, what is whole is kept, and Think goes on, told to take smaller pieces
    pause       the provider wants to be asked again: the reply is kept as it is, nothing in it counts as an answer,
                and Think goes on
    refusal     the model or the provider's filter declined: the run ends with `MODEL_REFUSED`

A word that is not here breaks the answer, which is asked for again: servers that gave up in the middle say so with
words of their own (`abort`, `error`, `insufficient_system_resource`), and half an answer must not pass for a whole one.
A reply without a word is broken too, and never comes this far.
"""

from collections.abc import Mapping

from shared.domain.errors import StreamBroken
from shared.ports.model import StopReason

Stops = Mapping[str, StopReason]

_ANYWHERE: Stops = {
    "stop": "end",
    "end_turn": "end",
    "stop_sequence": "end",
    "eos": "end",
    "eos_token": "end",
    "complete": "end",
    "completed": "end",
    "tool_calls": "tools",
    "tool_call": "tools",
    "tool_use": "tools",
    "function_call": "tools",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "model_length": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
    "content_filter": "refusal",
    "safety": "refusal",
    "recitation": "refusal",
    "blocklist": "refusal",
    "prohibited_content": "refusal",
    "error_toxic": "refusal",
}
"""Compatible servers hand on the words of the engine or the model behind them, in small letters or capitals."""

ANTHROPIC: Stops = {**_ANYWHERE, "pause_turn": "pause"}
"""`stop_reason`, on Bedrock too. Only server tools cause `pause_turn`, and none are offered."""

CHAT: Stops = _ANYWHERE
"""`finish_reason`. A full window is a `length` as well."""

RESPONSES: Stops = {**_ANYWHERE, "incomplete": "max_tokens", "max_messages": "pause", "steered": "pause"}
"""The reason a response is incomplete, else its status."""

POLICY = frozenset({"bio_policy", "misalignment_policy_violation"})
"""Errors of a failed response that say that it was declined."""


def meaning(stops: Stops, word: str, *, calls: bool) -> StopReason:
    """`calls`: whether the reply has some; one that was forced to call ends like any other. Raises StreamBroken."""
    stop = stops.get(str(word).lower())
    if stop is None:
        raise StreamBroken("the answer ended for a reason that is not known")
    return "tools" if calls and stop == "end" else stop
