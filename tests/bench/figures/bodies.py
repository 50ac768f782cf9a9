"""What each route's worst request costs its function: CPU seconds and memory, at the function's real size (ADR 141).

`bodies_worker.py` measures in a fresh process, over stores in memory. Each request is answered in a fork of its own,
from the event's text on, after the route has answered a small request: a cold start has its own figure. Lambda gives a
function CPU by its memory, so the seconds at its size are its CPU seconds by its share of a core.
"""

import json
import os
import subprocess
import sys
from typing import Any

from acta.infra.environments import ENVIRONMENTS
from acta.infra.packaging.bundle import ROOT
from tests.bench.stand.stand import RunFailed
from tests.bench.table import columns, heading, number

HEADROOM = 1.5
ACCOUNT, SHARE = 1_000, 0.1
"""The concurrent executions of an ordinary account, and the part of them that one tenant's requests may keep busy."""
WORKER = "tests.bench.figures.bodies_worker"

Found = dict[str, Any]


def most_seconds() -> float:
    """What one request may take, so that a tenant that sends as many as it may, all of them the worst, keeps its share
    of the account's workers busy and no more.
    """
    rate = max(each.limits.requests_per_second or 0 for each in ENVIRONMENTS.values())
    return ACCOUNT * SHARE / rate


def measure() -> list[Found]:
    """Raises RunFailed."""
    quiet = os.environ | {"POWERTOOLS_LOG_LEVEL": "CRITICAL"}
    command = [sys.executable, "-m", WORKER]
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFailed(done.stderr.strip().rpartition("\n")[2])
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [line for line in lines if "route" in line]  # the others are metrics


def over(rows: list[Found]) -> list[str]:
    """What costs more than it may."""
    return [
        f"{row['route']}, {row['request']}: {row['seconds']:.2f} s, {row['peak_mb']:.0f} MB"
        for row in rows
        if row["seconds"] > most_seconds() or row["peak_mb"] * HEADROOM > row["memory"]
    ]


def report(rows: list[Found]) -> None:
    heading(
        f"Worst requests: CPU at the function's size, at most {most_seconds():.1f} s; "
        f"memory, at most 1/{HEADROOM} of the function's"
    )
    columns(
        ["answer", "CPU ms", "seconds", "peak MB", "of MB"],
        [
            (
                f"{row['route']}: {row['request']}",
                [
                    str(row["status"]),
                    number(row["cpu_ms"]),
                    f"{row['seconds']:.2f}",
                    number(row["peak_mb"]),
                    number(row["memory"]),
                ],
            )
            for row in rows
        ],
    )
