"""Model names and what differs between them, in one place.

Names are those the SDKs list (anthropic 2.12 `types/model.py`, openai 3.54 `types/shared/chat_model.py`).
A name that is not known is treated like the newest ones, which accept least.
"""

import re
from functools import cache
from typing import Any

DEFAULT_MODELS = {
    "anthropic": "claude-sonnet-5-5",
    "bedrock": "global.anthropic.claude-sonnet-5-5",
    "openai": "gpt-6-sol",
    "offline": "offline-rules",
}

_WINDOWS = (
    (r"offline-.*", 1_000_000),
    (r"(.*[./])?claude-.*", 200_000),
    (r"(.*/)?gpt-4\.1.*", 1_000_000),
    (r"(.*/)?gpt-4(o|-turbo).*", 128_000),
    (r"(.*/)?gpt-(4|3\.5)\b.*", 8_000),
    (r"(.*/)?gpt-([5-9]|\d\d).*chat.*", 128_000),
    (r"(.*/)?gpt-([5-9]|\d\d).*", 272_000),
    (r"(.*/)?o\d.*", 200_000),
)
UNKNOWN_WINDOW = 32_000
"""A window taken too small costs a summary now and then; one taken too large ends the run."""

_UP_TO_CLAUDE_4 = r"(.*[./])?claude-(3|[a-z]+-4)(\b.*)?"
_UP_TO_CLAUDE_5 = r"(.*[./])?claude-(3\b.*|[a-z]+-4\b.*|[a-z]+-5(-\d{8})?(-v\d+)?([@:].*)?)"
_SONNET_5_5 = r"(.*[./])?claude-sonnet-5-5([-@:].*)?"
_REASONS_BY_DEFAULT = r"(.*/)?gpt-(5\.[1-9]|[6-9])(?!.*(pro|chat|codex)).*"
_REASONS_ALWAYS = r"(.*/)?gpt-(6-astra|6\.[1-9]|[7-9]|\d\d).*"
_REASONING = r"(.*/)?(gpt-([5-9]|\d\d)|o\d).*"
_ONE_EFFORT = r".*(chat|pro\b|deep-research|o1-(mini|preview)).*"
_CACHES_AT_BREAKPOINTS = r"(.*/)?gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d).*"

LARGE_OUTPUT = 25_000
"""Tokens that OpenAI advises to leave for reasoning and answer together."""


def takes_forced_tool(model: str) -> bool:
    """Claude 5 thinks unless told otherwise and then refuses a forced tool; from 5.1 on always."""
    return re.fullmatch(_UP_TO_CLAUDE_4, model) is not None


def takes_back_thinking(model: str) -> bool:
    """From Claude 5.1 on a thinking block is bound to every byte before it, the volatile suffix included, and a
    request that replays one after a changed suffix may be refused. Leaving the blocks out is allowed."""
    return re.fullmatch(_UP_TO_CLAUDE_5, model) is not None


def thinking_of(model: str) -> dict[str, Any] | None:
    """What to send as `thinking`; None leaves it to the model. `between_tools` is Sonnet 5.5's lowest
    setting: its notes between tool calls stay readable and its answers stay inside a small output limit."""
    return {"type": "between_tools"} if re.fullmatch(_SONNET_5_5, model) else None


def reasoning_effort_with_tools(model: str) -> str | None:
    """Chat Completions refuses function tools on models that reason by default, unless told not to reason;
    those that always reason refuse to be told so."""
    if re.fullmatch(_REASONS_ALWAYS, model):
        return None
    return "none" if re.fullmatch(_REASONS_BY_DEFAULT, model) else None


def takes_tools_in_chat(model: str) -> bool:
    """OpenAI itself serves models that cannot stop reasoning with tools over its Responses API only; other
    servers may have them in Chat Completions too."""
    return re.fullmatch(_REASONS_ALWAYS, model) is None


def counts_reasoning(model: str) -> bool:
    """These take `max_completion_tokens`, and refuse the `max_tokens` that older and compatible servers
    know."""
    return re.fullmatch(_REASONING, model) is not None


def thinks_encrypted(model: str) -> bool:
    """These give their reasoning along encrypted, to be sent back; others refuse to be asked for it."""
    return counts_reasoning(model) and "chat" not in model


def effort_within(model: str, max_tokens: int) -> str | None:
    """The reasoning effort to ask for over the Responses API; None leaves it to the model. Reasoning counts as
    output: at its usual effort a model may use up a small limit before it says anything."""
    if max_tokens >= LARGE_OUTPUT or re.fullmatch(_ONE_EFFORT, model):
        return None
    return "low" if counts_reasoning(model) else None


def takes_breakpoints(model: str) -> bool:
    """GPT from 5.6 on matches a cached prefix at a breakpoint only; earlier ones refuse the parameter."""
    return re.fullmatch(_CACHES_AT_BREAKPOINTS, model) is not None


@cache
def context_window(model: str) -> int:
    """Tokens of a request and its answer together, by the first pattern that fits: what every model of that name has,
    without options that would have to be asked for. Of GPT 5 and later it is what a request alone may have."""
    return next((window for name, window in _WINDOWS if re.fullmatch(name, model)), UNKNOWN_WINDOW)
