"""Where each ends, in words, and whether that was seen or worked out from how its items grew."""

from collections.abc import Mapping
from typing import Any

from tests.bench.beside.others import CONTENDERS, ITEM_LIMIT

OFFLOADS = ("langgraph_packed", "langgraph_delta")
"""Their saver moves an item to S3 before it is too large."""
GROWN = 1.2
"""An item that is so many times as large in the longest run as in the one before grows with the session."""
ACTA = "goes on in the next execution, and makes the conversation shorter; 300 turns are measured by `long`"

Runs = Mapping[str, Mapping[str, Any]]
"""Turns of the run -> figures, of one size."""


def of_all(theirs: Mapping[str, Mapping[str, Runs]]) -> dict[str, str]:
    found = {"acta": ACTA}
    for contender in CONTENDERS:
        by_size = theirs[contender.name]
        found[contender.name] = "; ".join(
            f"{size}: {of(contender.name, runs)}" for size, runs in by_size.items()
        )
    return found


def of(name: str, runs: Runs) -> str:
    *_, last = runs.values()
    if last.get("ended_by"):
        return (
            f"after turn {last['turns_done']}, measured ({last['ended_by']}: {_shortened(last['message'])})"
        )
    if len(runs) == 1:
        return f"not within {last['turns_done']} turns"
    *_, before, last = runs.values()
    if name not in OFFLOADS and last["largest_item_bytes"] > GROWN * before["largest_item_bytes"]:
        a_turn = (last["largest_item_bytes"] - before["largest_item_bytes"]) / (
            last["turns_done"] - before["turns_done"]
        )
        turn = last["turns_done"] + (ITEM_LIMIT - last["largest_item_bytes"]) / a_turn
        return f"turn {turn:.0f}, extrapolated: an item of {ITEM_LIMIT // 1_024} KB"
    return f"not within {last['turns_done']} turns, and none of its items comes to DynamoDB's limit"


def _shortened(message: str) -> str:
    return message.rpartition(": ")[2][:80]
