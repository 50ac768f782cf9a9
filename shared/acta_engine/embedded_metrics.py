"""Metrics that are written as a part of a log line, so that both say the same and neither costs a request (ADR 77).

CloudWatch reads them out of the line (Embedded Metric Format). Each name with each set of values of its dimensions is
one metric on the bill, so dimensions have few values: never a tenant, a session or a person.
"""

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

Unit = Literal["Count", "Seconds", "None"]
Units = Mapping[str, Unit]

RUN_METRICS: Units = MappingProxyType(
    {
        "RunsEnded": "Count",
        "RunTokens": "Count",
        "RunCostUsd": "None",
        "RunSeconds": "Seconds",
        "RunTurns": "Count",
    }
)
"""Of each finished run. `RunsEnded` also by `end`."""
BATCH_METRICS: Units = MappingProxyType(
    {
        "RunsStarted": "Count",
        "PlansCreated": "Count",
        "PlansCompleted": "Count",
        "QuestionsAsked": "Count",
        "QuestionsClosed": "Count",
        "ToolCalls": "Count",
        "ToolsFailed": "Count",
        "ModelCalls": "Count",
        "Tokens": "Count",
        "CostUsd": "None",
        "Unread": "Count",
    }
)
"""Of what all sessions did since they were counted before, a minute or two ago."""
FAILURE_METRICS: Units = MappingProxyType(
    {"Failures": "Count", "Retries": "Count", "ProviderErrors": "Count"}
)
"""Of each failed invocation of the engine: all, those that it tries again, those that a model's provider was in the way
of. `Failures` also by `error`, the name of the class.
"""
SWEEP_METRICS: Units = MappingProxyType({"SessionsRecovered": "Count", "SessionsStuck": "Count"})
"""Of each scan of `recover`: sessions that went on by its doing, and those that stand still and that it cannot help."""
ROUND_METRICS: Units = MappingProxyType({"RecoveryRounds": "Count"})
"""Of each round of `recover` that came to its end, by `round`. An alarm watches each
(`infra/acta_infra/watching/alarms.py`)."""
LINE_METRICS: Units = MappingProxyType({"SessionsInLine": "Count"})
"""Of each minute in which sessions wait for their provider, by `provider`: how many `recover` has seen in its line at
once. Of a long line it looks at no more than it can admit, so there are at least so many.
"""


def embedded(
    namespace: str,
    units: Units,
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
