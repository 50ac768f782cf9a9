"""The printed table: Acta at both caps beside the others, on the same work, from one run."""

from collections.abc import Mapping
from typing import Any

from tests.bench.table import cell, columns, heading, number

COLUMNS = (
    ("requests", "requests"),
    ("write units", "wcu"),
    ("read units", "rru"),
    ("S3 puts", "s3_puts"),
    ("S3 gets", "s3_gets"),
    ("transitions", "transitions"),
    ("invokes", "lambda_invocations"),
    ("bytes written", "bytes_out"),
    ("CPU ms", "cpu_ms"),
)
RESUME = (
    ("requests", "resume_requests"),
    ("read units", "resume_rru"),
    ("S3 gets", "resume_s3_gets"),
    ("bytes read", "resume_bytes_in"),
)
MICRO = 1_000_000


def report(found: Mapping[str, Any]) -> None:
    contenders: Mapping[str, Any] = found["contenders"]
    for size in dict.fromkeys(size for by_size in contenders.values() for size in by_size):
        heading(f"Beside the others: one model call and one read of {size} a turn; whole sessions, per turn")
        rows = [
            (f"{name.replace('_', ' ')} x{count}", row)
            for name, by_size in contenders.items()
            for count, row in by_size.get(size, {}).items()
        ]
        columns(
            [*(title for title, _ in COLUMNS), "USD a million", "ended"],
            [(text, [*(cell(row, name) for _, name in COLUMNS), *_money(row)]) for text, row in rows],
        )
        resumed = [(text, row) for text, row in rows if "resume_requests" in row]
        if resumed:
            print("\nA process that takes the session up at its end reads, once:")
            columns(
                [title for title, _ in RESUME],
                [(text, [cell(row, name) for _, name in RESUME]) for text, row in resumed],
            )
    _notes(found)


def _money(row: Mapping[str, Any]) -> list[str]:
    """Dollars of a million turns, and where a run ended ahead of its last turn."""
    ended = f"at turn {row['turns_done']}" if row.get("ended_by") else ""
    return [number(row["usd"] * MICRO), ended]


def _notes(found: Mapping[str, Any]) -> None:
    waiting, prices, made = found["waiting"], found["prices"], found["made"]
    wait = waiting["model_seconds"] * waiting["gb"] * prices["usd"]["lambda_gb_second"]
    print(
        f"\nMeasured on {made['on']} at {made['commit']}; prices of {prices['region']} as read on "
        f"{prices['read_on']}, without the model.\n"
        f"Not in the dollars, and the same for all that run on Lambda: {waiting['model_seconds']:.0f} s a turn of "
        f"waiting for the model at {waiting['gb']:g} GB, {wait * MICRO:.0f} USD a million turns."
    )
    if "not_measured" in found:
        print(f"The others were not measured here: {found['not_measured']}")
    for name, settings in found["settings"].items():
        print(f"  {name.replace('_', ' ')}: {settings}")
    for name, version in found.get("versions", {}).items():
        print(f"  {name} {version}")
    for name, ends in found.get("ends", {}).items():
        print(f"  {name.replace('_', ' ')} ends: {ends}")
    print("Measured beforehand, given with the goal:")
    for name, row in found["given"].items():
        print(
            f"  {name.replace('_', ' ')}: "
            + ", ".join(f"{key.replace('_', ' ')} {number(value)}" for key, value in row.items())
        )
