"""Tools whose process is killed in the middle of a call, the first time that the call is made. And one whose answers
Lambda cannot pass on."""

import os
import signal
import sys
from decimal import Decimal
from typing import Any

from acta import Call, ToolError, tool


def die_unless_repeated(call: Call) -> None:
    if not call.rerun:
        os.kill(os.getpid(), signal.SIGKILL)


@tool(effect="once", high_stakes=False)
def pay_once(order: str, call: Call) -> str:
    """Pays."""
    die_unless_repeated(call)
    return f"Paid {order}."


@tool(effect="idempotent", high_stakes=False)
async def book(order: str, call: Call) -> str:
    """Books, and does nothing the second time."""
    die_unless_repeated(call)
    return f"Booked {order} under {call.effect_id}."


@tool(effect="read")
def look(order: str, call: Call) -> str:
    """Looks."""
    die_unless_repeated(call)
    return f"Seen {order}."


@tool(effect="read")
def divide(order: str) -> str:
    """Divides by zero, which is no answer either."""
    print(f"dividing {order}")
    raise ZeroDivisionError(f"what is nobody's business: {order}")


@tool(effect="read")
def ends_of_the_key(call: Call) -> str:
    """Says how the folder's secret begins and ends."""
    key = call.secret("key")
    return f"{key[:2]}…{key[-2:]}"


NAME = os.fsdecode(b"caf\xe9.txt")


@tool(effect="idempotent", high_stakes=False)
def answer_oddly(how: str) -> Any:
    """Answers with what UTF-8, JSON or Lambda does not have."""
    print(f"answering {NAME}")
    match how:
        case "listing":
            return {NAME: ["ok \ud83d", "\ud83d\ude00", "a\u2028b\x85c\r\n\r\n\r\n\r\nd"]}
        case "error":
            raise ToolError(f"there is no {NAME}")
        case "exception":
            raise ValueError(NAME)
        case "exit":
            sys.exit(NAME)
        case "numbers":
            return [float("nan"), float("-inf"), -0.0, 2**64 + 1, Decimal("12345678901234567890.1234567890")]
        case "endless":
            return 10**5_000
        case "large":
            return "é" * 3_500_000
        case "deep":
            deep: list[Any] = []
            for _ in range(5_000):
                deep = [deep]
            return deep
