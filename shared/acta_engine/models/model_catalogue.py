"""Model names, and what differs between models. No other file decides by a model's name; which names agents may have is
decided in `shared/acta_engine/models/allowed_models.py`.

The names are those that the SDKs list: anthropic 2.12 in `types/model.py`, openai 3.54 in `types/shared/chat_model.py`.
A name that no pattern knows is treated like the newest models, which accept least. Patterns allow for what providers
put around a name: `eu.anthropic.claude-…`, `openai/gpt-…`, a date or a version at the end. The output limit does not
depend on the model: it is the agent's, else the deployment's (`_new_turn` in
`shared/acta_engine/turn/turn.py`).
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
"""By provider."""

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
"""Patterns and tokens. The first pattern that fits counts."""
UNKNOWN_WINDOW = 32_000
"""A window that is assumed too small costs a compaction now and then; one that is assumed too large ends the run."""


@cache
def context_window(model: str) -> int:
    """Tokens of a request and its answer together; from GPT 5 on, of the request alone. It is what every model of that
    name has, without options that a request would have to name. `Settings.context_window_tokens` goes before it
    (`shared/acta_engine/turn/dependencies.py`).
    """
    return next((window for name, window in _WINDOWS if re.fullmatch(name, model)), UNKNOWN_WINDOW)


_UP_TO_CLAUDE_4 = r"(.*[./])?claude-(3|[a-z]+-4)(\b.*)?"
_UP_TO_CLAUDE_5 = r"(.*[./])?claude-(3\b.*|[a-z]+-4\b.*|[a-z]+-5(-\d{8})?(-v\d+)?([@:].*)?)"
_SONNET_5_5 = r"(.*[./])?claude-sonnet-5-5([-@:].*)?"


def takes_forced_tool(model: str) -> bool:
    """Claude refuses a forced tool while it thinks. Claude 5 thinks unless it is told not to, later ones always."""
    return re.fullmatch(_UP_TO_CLAUDE_4, model) is not None


def takes_back_thinking(model: str) -> bool:
    """Whether thinking can go back to Claude. From 5.1 on a thinking block is bound to every byte before it, the suffix
    included. The suffix changes each turn, so the API may refuse the block. A request may leave thinking out.
    """
    return re.fullmatch(_UP_TO_CLAUDE_5, model) is not None


def thinking_of(model: str) -> dict[str, Any] | None:
    """What to send as `thinking`. None: nothing, the model decides. `between_tools` is Sonnet 5.5's lowest setting: the
    model's notes between tool calls stay readable, and its answers stay inside a small output limit.
    """
    return {"type": "between_tools"} if re.fullmatch(_SONNET_5_5, model) else None


_REASONING = r"(.*/)?(gpt-([5-9]|\d\d)|o\d).*"
_REASONS_BY_DEFAULT = r"(.*/)?gpt-(5\.[1-9]|[6-9])(?!.*(pro|chat|codex)).*"
_REASONS_ALWAYS = r"(.*/)?gpt-(6-astra|6\.[1-9]|[7-9]|\d\d).*"
_ONE_EFFORT = r".*(chat|pro\b|deep-research|o1-(mini|preview)).*"
_CACHES_AT_BREAKPOINTS = r"(.*/)?gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d).*"


def takes_tools_in_chat(model: str) -> bool:
    """Whether OpenAI itself takes tools for the model in Chat Completions. For models that always reason it takes them
    over its Responses API only; other servers may take them.
    """
    return re.fullmatch(_REASONS_ALWAYS, model) is None


def reasoning_effort_with_tools(model: str) -> str | None:
    """The effort to ask for in Chat Completions with tools. Models that reason by default take tools only with the
    effort `none`. None: name no effort. Models that always reason refuse `none`, and older ones know no effort.
    """
    if re.fullmatch(_REASONS_ALWAYS, model):
        return None
    return "none" if re.fullmatch(_REASONS_BY_DEFAULT, model) else None


def counts_reasoning(model: str) -> bool:
    """Whether the output limit counts reasoning too. These models take it as `max_completion_tokens` and refuse
    `max_tokens`, which older models and compatible servers know.
    """
    return re.fullmatch(_REASONING, model) is not None


def returns_encrypted_reasoning(model: str) -> bool:
    """Whether the model gives its reasoning encrypted, to be sent back. Others refuse to be asked for it."""
    return counts_reasoning(model) and "chat" not in model


LARGE_OUTPUT = 25_000
"""Tokens. OpenAI advises to leave that many for reasoning and answer together."""


def effort_within(model: str, max_tokens: int) -> str | None:
    """The effort to ask for over the Responses API. None: name none, the model decides. Reasoning counts as output, so
    at its usual effort a model may use up a small limit before it answers. `max_tokens`: the request's.
    """
    if max_tokens >= LARGE_OUTPUT or re.fullmatch(_ONE_EFFORT, model):
        return None
    return "low" if counts_reasoning(model) else None


def takes_breakpoints(model: str) -> bool:
    """GPT from 5.6 on finds a cached prefix only at a breakpoint. Earlier models refuse the parameter."""
    return re.fullmatch(_CACHES_AT_BREAKPOINTS, model) is not None
