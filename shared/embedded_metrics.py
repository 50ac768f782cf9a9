"""Metrics that are written as a part of a log line, so that both say the same and neither costs a request (ADR 77).

CloudWatch reads them out of the line (Embedded Metric Format). Each name with each set of values of its dimensions is
one metric on the bill, so dimensions have few values: never a tenant, a session or a person.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

Unit = Literal["Count", "Seconds", "None"]


def embedded(
    namespace: str,
    units: Mapping[str, Unit],
    dimensions: Sequence[Sequence[str]] = ((),),
    at: float | None = None,
) -> dict[str, Any]:
    """The member `_aws` of a line whose other members have the values of the metrics and of the dimensions.

    `units`: metric -> its unit. `dimensions`: sets of names of members; the empty one is the sum over everything.
    `at`: seconds since 1970; None: now.
    """
    return {
        "_aws": {
            "Timestamp": round((time.time() if at is None else at) * 1_000),
            "CloudWatchMetrics": [
                {
                    "Namespace": namespace,
                    "Dimensions": [list(names) for names in dimensions],
                    "Metrics": [{"Name": name, "Unit": unit} for name, unit in units.items()],
                }
            ],
        }
    }
