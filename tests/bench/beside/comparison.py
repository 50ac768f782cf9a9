"""Acta at both caps beside the others on the same work, in one run: what is measured, with what, and when."""

import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from acta.infra.packaging.bundle import ROOT
from tests.bench.beside import acta, ends, others, prices
from tests.bench.stand.stand import Stand
from tests.bench.stand.work import Run

Runs = Mapping[str, Mapping[int, Run]]
"""Size -> turns."""


GIVEN: dict[str, dict[str, float]] = {
    "messages_in_the_state_of_ones_own_state_machine": {"transitions": 7, "dead_at_turn": 92}
}
"""Measured beforehand on this same work; not repeated here."""


def measure(
    stand: Stand, runs: Mapping[int, Runs], sizes: Sequence[str], counts: Sequence[int]
) -> dict[str, Any]:
    """`runs`: Acta's, by `turns_per_step`."""
    ours = {
        f"acta_{cap}": {
            size: {str(count): acta.figures(run) for count, run in by_count.items()}
            for size, by_count in by_size.items()
        }
        for cap, by_size in runs.items()
    }
    settings: dict[str, str] = {f"acta_{cap}": f"turns_per_step {cap}" for cap in runs}
    found: dict[str, Any] = {
        "made": {"on": datetime.now(UTC).date().isoformat(), "commit": _commit()},
        "prices": {"read_on": prices.READ_ON, "region": prices.REGION, "usd": prices.LIST},
        "waiting": {"model_seconds": prices.MODEL_SECONDS, "gb": prices.WAITING_GB},
        "given": GIVEN,
    }
    try:
        versions = others.versions()
        theirs = others.measure(_aws(stand), sizes, counts)
    except others.Unavailable as why:
        return {**found, "settings": settings, "contenders": ours, "not_measured": str(why)}
    settings |= {one.name: one.settings for one in others.CONTENDERS}
    return {**found, "versions": versions, "settings": settings, "contenders": ours | theirs} | {
        "ends": ends.of_all(theirs)
    }


def _aws(stand: Stand) -> others.Aws:
    return others.Aws(
        proxy=stand.proxy,
        credentials=stand.stack.credentials,
        dynamodb=stand.client("dynamodb"),
        s3=stand.client("s3"),
        dynamodb_counted=stand.client("dynamodb", counted=True),
        s3_counted=stand.client("s3", counted=True),
    )


def _commit() -> str:
    """Of this tree; empty where it is no repository."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()
