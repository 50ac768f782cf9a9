"""What a line of the log says, in words. The lines' names are those that the functions write."""

from collections.abc import Callable, Mapping
from typing import Any

from acta.cli.terminal.text import dollars, one_line
from acta.cli.terminal.tool_lines import MESSAGES, first_line

Fields = Mapping[str, Any]

USUAL = frozenset(
    {
        "level",
        "location",
        "message",
        "timestamp",
        "service",
        "sampling_rate",
        "cold_start",
        "function_name",
        "function_memory_size",
        "function_arn",
        "function_request_id",
        "xray_trace_id",
        "session_id",
        "tenant_hash",
        "request_id",
        "_aws",
        "who",
        "tenant",
    }
)
"""What every line has, or what says whose it is."""
WIDTH = 160
OPERATIONS = {
    "plan": "asks for a plan",
    "think": "thinks",
    "tool": "runs a tool",
    "lost_tool": "records that a tool's worker was lost",
    "ask": "waits for a person",
    "handle_error": "records an error and waits",
    "give_up": "gives up",
    "park": "ends an execution that would wait for long",
    "roll_over": "starts the next execution",
}


def happened(fields: Fields) -> str:
    """One line."""
    words = WORDS.get(str(fields.get("message")))
    text = words(fields) if words is not None else _other(fields)
    if fields.get("level") in ("ERROR", "WARNING", "CRITICAL"):
        text = f"{fields['level']} {text}"
    return one_line(text, WIDTH)


def _work(fields: Fields) -> str:
    operation = str(fields.get("op"))
    begun = f"turn {fields.get('turn')}: {OPERATIONS.get(operation, operation)}"
    call = f" {fields['call_id']}" if fields.get("call_id") else ""
    attempt = f", attempt {fields['attempt'] + 1}" if fields.get("attempt") else ""
    generation = f", generation {fields['generation']}" if fields.get("generation", 1) != 1 else ""
    return f"{begun}{call}{attempt}{generation}"


def _made(fields: Fields) -> str:
    made = f"made {_count(fields.get('turns', 0), 'turn')} and {_count(fields.get('calls', 0), 'tool call')} itself"
    return f"{made}, then met {fields['ended_by']}" if fields.get("ended_by") else made


def _answered(fields: Fields) -> str:
    code = f" {fields['code']}" if fields.get("code") else ""
    return f"{fields.get('route')} answered {fields.get('status')}{code}"


def _refused(fields: Fields) -> str:
    return f"{fields.get('route')} refused: {fields.get('code')}"


def _failed(fields: Fields) -> str:
    where = f" at {fields['where']}" if fields.get("where") else ""
    return f"{fields.get('op') or fields.get('route') or 'work'} failed: {fields.get('error')}{where}"


def _finished(fields: Fields) -> str:
    if fields.get("state") == "unread":
        return f"{_count(fields.get('runs', 1), 'run')} ended before it was deleted"
    why = fields.get("code") or fields.get("reason")
    parts = [
        f"run {fields.get('state')}" + (f" ({why})" if why else ""),
        _count(fields.get("turns", 0), "turn"),
        f"{fields.get('tokens', 0):,} tokens",
    ]
    if fields.get("cost_usd") is not None:
        parts.append(dollars(fields["cost_usd"]))
    if fields.get("seconds") is not None:
        parts.append(f"{fields['seconds']} s")
    if fields.get("waits"):
        parts.append(f"{_count(fields['waits'], 'question')}, open for {fields.get('waited_seconds', 0)} s")
    return ", ".join(parts)


def _execution(fields: Fields) -> str:
    return f"its execution ended; what recovery did: {fields.get('outcome')}"


def _repaired(fields: Fields) -> str:
    return f"repaired by an operator: {fields.get('outcome')}"


def _other(fields: Fields) -> str:
    rest = " ".join(f"{name}={value}" for name, value in fields.items() if name not in USUAL)
    return f"{fields.get('message')} {rest}".strip()


def _count(number: Any, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


WORDS: Mapping[str, Callable[[Fields], str]] = {
    "step": _work,
    "tool": _work,
    "engine": _work,
    "step made": _made,
    "answered": _answered,
    "refused": _refused,
    "failed": _failed,
    "run finished": _finished,
    "execution ended": _execution,
    "repaired": _repaired,
    **dict.fromkeys(MESSAGES, first_line),
}
