"""Tools whose process is killed in the middle of a call, the first time that the call is made."""

import os
import signal

from acta import Call, tool


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
