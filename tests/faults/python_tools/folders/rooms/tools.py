"""The tools of the short script as Python functions. What they do is counted by a service, `tests/faults/ledger.py`."""

import json
import os
from urllib.request import Request, urlopen

from acta import Call, tool


def ask_ledger(name: str, what: str, call: Call) -> str:
    url = f"{os.environ['LEDGER_URL']}/{call.tenant}/{name}"
    request = Request(url, json.dumps({"what": what}).encode(), {"Idempotency-Key": call.effect_id})
    with urlopen(request) as answer:
        said: bytes = answer.read()
    return said.decode()


@tool(effect="read")
def look_up(what: str, call: Call) -> str:
    """Looks something up."""
    return ask_ledger("look_up", what, call)


@tool(effect="idempotent", high_stakes=False, files="write")
def book(what: str, call: Call) -> str:
    """Books, and writes the receipt into a file."""
    said = ask_ledger("book", what, call)
    call.files.write_text(f"bookings/{what}.md", said, replace=True)
    return said


@tool(effect="once", high_stakes=False)
def charge(what: str, call: Call) -> str:
    """Charges."""
    return ask_ledger("charge", what, call)


@tool(effect="idempotent", high_stakes=True)
def notify(what: str, call: Call) -> str:
    """Tells somebody."""
    return ask_ledger("notify", what, call)
