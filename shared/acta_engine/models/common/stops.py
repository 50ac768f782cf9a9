"""What a provider's reason to stop means for the run: the one table for all providers.

    end         the reply is complete
    tools       the reply is complete and asks for tool calls
    max_tokens  the reply was cut off, at the output limit or because the model's window is full. A call that was cut
                never runs; one whose JSON is whole does. The rest is kept, and the next turn tells the model what was
                cut
    pause       the provider wants to be asked again. The reply is kept as it is, nothing in it counts as an answer, and
                another turn follows
    refusal     the model or the provider's filter declined: the run ends with `MODEL_REFUSED`

Any other word raises StreamBroken, and the engine asks again. Servers that gave up half-way have words of their own
(`abort`, `error`, `insufficient_system_resource`), and half an answer must not pass for a whole one.
"""

from collections.abc import Mapping

from acta_engine.errors import StreamBroken
from acta_engine.models.model import StopReason

StopTable = Mapping[str, StopReason]
"""By the provider's word, in lower case."""

_COMMON: StopTable = {
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
"""Compatible servers pass on the words of the engine or the model that they run."""

ANTHROPIC_STOPS: StopTable = {**_COMMON, "pause_turn": "pause"}
"""For `stop_reason`, Bedrock's too. Only server tools cause `pause_turn`, and Acta offers none."""

CHAT_STOPS: StopTable = _COMMON
"""For `finish_reason`. A full window is a `length` as well."""

RESPONSES_STOPS: StopTable = {
    **_COMMON,
    "incomplete": "max_tokens",
    "max_messages": "pause",
    "steered": "pause",
}
"""For the reason why a response is incomplete; where there is none, for its status."""

DECLINED_CODES = frozenset({"bio_policy", "misalignment_policy_violation"})
"""Error codes of a failed response that mean: the provider declined to answer."""


def stop_reason(table: StopTable, word: str, *, calls: bool) -> StopReason:
    """`word`: the provider's, in any case. `calls`: whether the reply has tool calls; a reply that was forced to call a
    tool stops with the same word as any other. Raises StreamBroken where the table does not have the word.
    """
    stop = table.get(str(word).lower())
    if stop is None:
        raise StreamBroken("the answer ended for a reason that is not known")
    return "tools" if calls and stop == "end" else stop
