"""What differs between OpenAI's models, by their names. No SDK is imported here.

The names are those that the SDK lists (openai 3.54, `types/shared/chat_model.py`). A name that no pattern knows is
treated like the newest models, which accept least. Patterns allow for what providers put around a name: `openai/gpt-…`,
a date or a version at the end.
"""

import re

_REASONING = r"(.*[./])?(gpt-([5-9]|\d\d)|o\d).*"
_REASONS_BY_DEFAULT = r"(.*[./])?gpt-(5\.[1-9]|[6-9])(?!.*(pro|chat|codex)).*"
_REASONS_ALWAYS = r"(.*[./])?gpt-(6-astra|6\.[1-9]|[7-9]|\d\d).*"
_ONE_EFFORT = r".*(chat|pro\b|deep-research|o1-(mini|preview)).*"
_CACHES_AT_BREAKPOINTS = r"(.*[./])?gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d).*"


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
