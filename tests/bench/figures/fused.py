"""Turns that the step function makes one after the other, beside those that each are a state: what each aims at."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.bench.growth import Figures
from tests.bench.table import cell, columns, heading, number

CAP = 8
"""`turns_per_step` in staging and prod."""
LEAST_TURNS = 20
"""In a shorter session its start and its end weigh more than its turns."""
AIMS = (("transitions", 1.0), ("history_events", 5.0), ("lambda_invokes", 1.2))
NO_MORE_THAN_UNFUSED = ("dynamodb_writes", "wcu", "dynamodb_reads", "rru")
TOLERANCE = 0.05
"""Of a mean over the turns; what a session pays once is in none of them."""
ROWS = ("dynamodb_writes", "dynamodb_reads", "wcu", "rru", "s3_requests", "transitions", "history_events",
        "lambda_invokes", "payload_bytes", "bytes_out", "executions")  # fmt: skip

Turns = Mapping[str, Mapping[str, Figures]]
"""Size -> turns in the run -> figures of a turn."""


class Missed(NamedTuple):
    run: str
    figure: str
    found: float
    aim: float


def missed(fused: Turns, unfused: Turns) -> list[Missed]:
    found = []
    for size, by_count in fused.items():
        for count, row in by_count.items():
            plain = unfused[size][count]
            aims = [*AIMS] if int(count) >= LEAST_TURNS else []
            aims += [(name, plain[name] + TOLERANCE) for name in NO_MORE_THAN_UNFUSED]
            found += [
                Missed(f"{size} x{count}", name, row[name], aim) for name, aim in aims if row[name] > aim
            ]
    return found


def judged(fused: Turns, unfused: Turns) -> dict[str, Any]:
    return {
        "turns_per_step": CAP,
        "turns": fused,
        "missed": [one._asdict() for one in missed(fused, unfused)],
    }


def report(found: Mapping[str, Any]) -> None:
    heading(
        f"The same turns where the step function makes up to {found['turns_per_step']} by itself; means a turn"
    )
    runs = {f"{size} x{count}": row for size, rows in found["turns"].items() for count, row in rows.items()}
    aims = {name: f"<= {number(aim)}" for name, aim in AIMS} | {"dynamodb_writes": "as unfused"}
    columns(
        [*runs, "aim"],
        [
            (name.replace("_", " "), [*(cell(row, name) for row in runs.values()), aims.get(name, "")])
            for name in ROWS
        ],
    )
    print(f"Aims met, in runs of {LEAST_TURNS} turns and more: {'no' if found['missed'] else 'yes'}")
    for one in found["missed"]:
        print(
            f"  {one['run']}: {one['figure'].replace('_', ' ')} {number(one['found'])}, aim {number(one['aim'])}"
        )
