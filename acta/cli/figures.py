"""Tokens, money and time as a person reads them."""

from collections.abc import Mapping
from typing import Any


def usage_line(session: Mapping[str, Any]) -> str:
    """As in `12,345 tokens in 7 LLM calls, 5 tool calls, $0.0123`; without the money if it is not known."""
    usage = session.get("usage") or {}
    parts = [
        f"{int(usage.get('total_tokens') or 0):,} tokens in {counted(usage.get('llm_calls'), 'LLM call')}",
        counted(usage.get("tool_calls"), "tool call"),
    ]
    cost = usage.get("cost_usd")
    if cost is not None:
        parts.append(f"${float(cost):.4f}")
    return ", ".join(parts)


def counted(number: Any, noun: str) -> str:
    return f"{int(number or 0):,} {noun}{'' if number == 1 else 's'}"


def elapsed(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"
